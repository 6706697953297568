#include "mpi/datatype/scattered.hpp"

#include <cstddef>

namespace sorrel::mpi {

namespace {

constexpr std::size_t run_bytes_max = 32;

constexpr std::int64_t spread_min = 4;

/// The mean length of the runs at the lower end of one path.
std::size_t run_bytes(const Layout& top) {
  const Layout* layout = &top;
  while (true) {
    switch (layout->kind) {
      case Layout::Kind::block:
        return layout->bytes;
      case Layout::Kind::segments:
        return layout->bytes / layout->count;
      case Layout::Kind::loop:
        layout = layout->child;
        break;
      case Layout::Kind::branches:
        layout = layout->branches[0].child;
        break;
    }
  }
}

}  // namespace

bool is_scattered(const Datatype& type) {
  if (type.is_dense() || type.size() == 0) return false;
  return type.true_extent() / static_cast<std::int64_t>(type.size()) >= spread_min &&
         run_bytes(*type.layout()) <= run_bytes_max;
}

}  // namespace sorrel::mpi
