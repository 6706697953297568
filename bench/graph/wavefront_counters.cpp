// The wavefront by hand: a counter for each task, on oneTBB's task_group. The thread whose
// increment satisfies the last dependency runs the task next.
#include <atomic>
#include <memory>
#include <tbb/task_group.h>

#include "wavefront.hpp"

namespace {

struct Tiles {
  Wavefront wave;
  std::unique_ptr<std::atomic<int>[]> missing;
  tbb::task_group group;

  bool arrive(long i, long j) {
    std::atomic<int>& count = missing[static_cast<std::size_t>(i * wave.columns + j)];
    if (count.fetch_sub(1, std::memory_order_acq_rel) != 1) return false;
    count.store((i > 0) + (j > 0), std::memory_order_relaxed);
    return true;
  }

  void run(long i, long j) {
    for (;;) {
      const bool below = i + 1 < wave.rows && arrive(i + 1, j);
      const bool right = j + 1 < wave.columns && arrive(i, j + 1);
      if (below && right) group.run([this, i, j] { run(i + 1, j); });
      if (right) {
        ++j;
      } else if (below) {
        ++i;
      } else {
        return;
      }
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  Tiles tiles{wavefront_of(argc, argv), nullptr, {}};
  time_wavefront(
      tiles.wave,
      [&] {
        const auto count = static_cast<std::size_t>(tiles.wave.rows * tiles.wave.columns);
        tiles.missing = std::make_unique<std::atomic<int>[]>(count);
        for (std::size_t t = 0; t < count; ++t)
          tiles.missing[t] = (static_cast<long>(t) / tiles.wave.columns > 0) +
                             (static_cast<long>(t) % tiles.wave.columns > 0);
      },
      [&] { tiles.group.run_and_wait([&] { tiles.run(0, 0); }); });
}
