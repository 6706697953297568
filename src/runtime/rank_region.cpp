#include "runtime/rank_region.hpp"

#include <cstdio>

#include "base/fixed_text.hpp"
#include "runtime/job.hpp"

namespace sorrel::runtime {

namespace {

constexpr std::size_t tib = std::size_t{1} << 40;

// In 47 bits of addresses the kernel gives out the upper ones first, from the initial stack
// downwards, and has an executable at 85 TiB. The C library's heap follows that.
constexpr std::uintptr_t stacks_begin = 16 * tib;
constexpr std::uintptr_t thread_blocks_begin = 17 * tib;
constexpr std::uintptr_t images_begin = 18 * tib;
constexpr std::uintptr_t heaps_begin = 20 * tib;
constexpr std::uintptr_t heaps_end = 85 * tib;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool has_bands = false;
#else
constexpr bool has_bands = true;
#endif

}  // namespace

RankRegion rank_region(const Config& config) {
  if (!has_bands || config.process_mode) return {};
  const auto first = static_cast<std::size_t>(first_place(config));
  const auto band = [first](std::uintptr_t begin, std::uintptr_t end) {
    return os::AddressBand{.begin = begin, .bytes = end - begin, .first = first};
  };
  return {.stacks = band(stacks_begin, thread_blocks_begin),
          .thread_blocks = band(thread_blocks_begin, images_begin),
          .images = band(images_begin, heaps_begin),
          .heaps = band(heaps_begin, heaps_end)};
}

void print_region_note(const RegionUse& is_in_band) {
  FixedText<120> kinds;
  const auto add = [&kinds](bool is_placed, const char* kind) {
    if (is_placed) return;
    if (!kinds.text().empty()) kinds.add(", ");
    kinds.add(kind);
  };
  add(is_in_band.stacks, "stacks");
  add(is_in_band.thread_blocks, "thread-locals");
  add(is_in_band.images, "globals");
  add(is_in_band.heaps, "heaps");
  if (kinds.text().empty()) return;
  std::fprintf(stderr,
               "sorrel: note: of ranks' memory these have other addresses than in the other "
               "processes of the job, because theirs are in use: %s\n",
               kinds.c_str());
}

}  // namespace sorrel::runtime
