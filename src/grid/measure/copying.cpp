// Speed of copying faces, by the length and distance of their runs, in and out of caches.
#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "grid/copy/runs.hpp"
#include "grid/measure/large_pages.hpp"
#include "grid/measure/probes.hpp"

namespace sorrel::grid {
namespace {

constexpr std::int64_t run_count_max = 16'384;

/// An array in the role of a block: streamed through before each copy, as by a sweep.
class Streamed {
 public:
  explicit Streamed(std::int64_t bytes)
      : memory_(2 * static_cast<std::size_t>(bytes)),
        data_(memory_.bytes().first(static_cast<std::size_t>(bytes))),
        buffer_(memory_.bytes().last(static_cast<std::size_t>(bytes))) {}

  [[nodiscard]] std::int64_t bytes() const { return static_cast<std::int64_t>(data_.size()); }

  /// Bytes per second of packing and unpacking together.
  [[nodiscard]] double rate(const ProbeContext& context,
                            std::int64_t run_bytes,
                            std::int64_t stride_bytes,
                            Pack how) {
    const std::int64_t count = std::clamp<std::int64_t>(bytes() / stride_bytes, 1, run_count_max);
    // From the end, so that a small cache contains what it would contain for a face after a sweep.
    const Runs runs{.first = data_.data() + (bytes() / stride_bytes - count) * stride_bytes,
                    .run_bytes = run_bytes,
                    .loops = {{{.count = count, .stride_bytes = stride_bytes}}}};
    const int repeats = bytes() > 1 << 22 ? 4 : 15;
    const double pack_s = least_seconds_together(
        context, repeats, [&] { pack(runs, how, buffer_.data()); }, [&] { stream(); });
    const double unpack_s = least_seconds_together(
        context, repeats, [&] { unpack(runs, how, buffer_.data()); }, [&] { stream(); });
    return 2 * static_cast<double>(runs.bytes()) / std::max(pack_s + unpack_s, 1e-9);
  }

 private:
  void stream() {
    for (std::size_t i = 0; i < data_.size(); i += 64)
      data_[i] = static_cast<std::byte>(static_cast<unsigned char>(data_[i]) + 1);
  }

  LargePages memory_;
  std::span<std::byte> data_;
  std::span<std::byte> buffer_;
};

// Rows of arrays of 32, 128 and 512 doubles with their ghosts, for faces across the rows; adjacent
// rows, and rows a plane apart, for the other faces.
std::vector<CopyRate> shapes(std::int64_t set_bytes) {
  std::vector<CopyRate> shapes;
  for (const std::int64_t run : {8, 16, 64})
    for (const std::int64_t stride : {272, 1040, 4112})
      shapes.push_back({.run_bytes = run, .stride_bytes = stride, .set_bytes = set_bytes});
  for (const std::int64_t run : {256, 1024, 4096})
    for (const std::int64_t rows : {1, 64})
      shapes.push_back(
          {.run_bytes = run, .stride_bytes = rows * (run + 16), .set_bytes = set_bytes});
  return shapes;
}

}  // namespace

void probe_copying(const ProbeContext& context, Machine& machine) {
  constexpr std::int64_t short_run_bytes = 64;
  const std::int64_t large = std::min<std::int64_t>(context.large_set_bytes, 1 << 26);
  for (const std::int64_t set :
       {std::int64_t{1} << 19, std::int64_t{1} << 22, std::int64_t{1} << 24, large}) {
    if (set > large) continue;
    Streamed block(context.is_first_of_processor() ? set : 1);
    for (CopyRate shape : shapes(set == large ? 0 : set)) {
      const auto rate = [&](Pack how) {
        const double mine = context.is_first_of_processor()
                                ? 1 / block.rate(context, shape.run_bytes, shape.stride_bytes, how)
                                : 0;
        return 1 / context.largest(mine);
      };
      shape.bytes_per_second = rate(Pack::rows);
      machine.copy.rates.push_back(shape);
      if (shape.run_bytes > short_run_bytes) continue;
      shape.bytes_per_second = rate(Pack::blocked);
      machine.blocked.rates.push_back(shape);
    }
  }
}

}  // namespace sorrel::grid
