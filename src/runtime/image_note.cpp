#include "runtime/image_note.hpp"

#include <cstdio>

#include "os/clock.hpp"

namespace sorrel::runtime {

bool ImageNote::make(const program::ImageSlab& slab, int index) {
  if (!is_wanted_) return slab.make(index);
  const std::int64_t begin_ns = os::monotonic_ns();
  const bool is_made = slab.make(index);
  total_ns_.fetch_add(os::monotonic_ns() - begin_ns, std::memory_order_relaxed);
  made_count_.fetch_add(1, std::memory_order_relaxed);
  return is_made;
}

void ImageNote::print(const program::ImageSlab& slab) const {
  if (!is_wanted_ || slab.copy(0).is_template()) return;
  const program::Image& image = slab.image();
  std::size_t written_bytes = 0;
  for (const program::ByteRun& run : image.runs)
    written_bytes += run.size;
  const int made_count = made_count_.load(std::memory_order_relaxed);
  const double us_each =
      static_cast<double>(total_ns_.load(std::memory_order_relaxed)) / 1e3 / made_count;
  std::fprintf(stderr,
               "sorrel: note: %d private images of %zu file%s: each made in %.1f us, with %zu KiB "
               "written and %zu memory maps\n",
               made_count, image.modules.size(), image.modules.size() == 1 ? "" : "s", us_each,
               written_bytes / 1024, image.pieces.size());
}

}  // namespace sorrel::runtime
