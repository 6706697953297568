#include "tools/sorrel/checkpoint/newest_checkpoint.hpp"

#include <fmt/core.h>
#include <string>

#include "tools/sorrel/common/diagnostic.hpp"

namespace sorrel::tool {

Result<std::uint64_t> newest_checkpoint(const checkpoint::GenerationStore& store) {
  const checkpoint::GenerationStore::Found found = store.find_newest();
  for (const auto& damaged : found.passed_over) {
    print_diagnostic(fmt::format("note: checkpoint {} is damaged and left out: {}",
                                 damaged.generation, damaged.reason));
    if (std::string error = store.set_aside(damaged.generation); !error.empty())
      return Error{std::move(error)};
  }
  return found.generation;
}

}  // namespace sorrel::tool
