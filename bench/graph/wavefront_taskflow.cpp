// The wavefront in Taskflow: a Taskflow task for each task.
#include <taskflow/taskflow.hpp>
#include <thread>
#include <vector>

#include "wavefront.hpp"

int main(int argc, char** argv) {
  const Wavefront wave = wavefront_of(argc, argv);
  tf::Executor executor(std::thread::hardware_concurrency());
  tf::Taskflow taskflow;
  time_wavefront(
      wave,
      [&] {
        std::vector<tf::Task> tasks(static_cast<std::size_t>(wave.rows * wave.columns));
        for (long i = 0; i < wave.rows; ++i) {
          for (long j = 0; j < wave.columns; ++j) {
            const auto at = static_cast<std::size_t>(i * wave.columns + j);
            tasks[at] = taskflow.emplace([] {});
            if (i > 0) tasks[at - static_cast<std::size_t>(wave.columns)].precede(tasks[at]);
            if (j > 0) tasks[at - 1].precede(tasks[at]);
          }
        }
      },
      [&] { executor.run(taskflow).wait(); });
}
