// Loops of many ranks, through both libraries: they share the job's workers. The one additional
// thread is the governor's.
#include <cstdint>
#include <cstdio>
#include <dirent.h>
#include <functional>
#include <mpi.h>
#include <vector>

#include <sorrel/parallel.hpp>

static int thread_count() {
  int count = -2;
  DIR* tasks = opendir("/proc/self/task");
  while (readdir(tasks) != nullptr)
    ++count;
  closedir(tasks);
  return count;
}

static std::vector<double> values(200000);

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int threads_before = thread_count();
  double sum = 0;
  for (int round = 0; round < 20; ++round) {
    sorrel::parallel_for(0, 200000, [&](std::int64_t i) { values[i] = rank + round; });
    sum += sorrel::parallel_reduce(
        0, 200000, 0.0,
        [&](sorrel::Range part, double partial) {
          for (const std::int64_t i : part)
            partial += values[i];
          return partial;
        },
        std::plus<>());
  }
  const bool is_right = sum == 200000.0 * (20 * rank + 190) && thread_count() <= threads_before + 1;
  if (!is_right)
    std::printf("rank %d: sum %g, threads %d, then %d\n", rank, sum, threads_before,
                thread_count());
  MPI_Finalize();
  return !is_right;
}
