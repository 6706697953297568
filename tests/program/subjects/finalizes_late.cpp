// MPI_Finalize in the destructor of a static object, after handlers of exit and other destructors
// that communicate.
#include <cstdio>
#include <cstdlib>
#include <mpi.h>

namespace {

int rank = -1;
int sum = 0;

struct Session {
  Session() {
    std::atexit([] { std::printf("handler of a constructor\n"); });
  }

  ~Session() {
    int is_finalized = 1;
    MPI_Finalized(&is_finalized);
    if (is_finalized == 0) MPI_Finalize();
    if (is_finalized == 0 && sum == 6) std::printf("rank %d finalized late\n", rank);
  }
} session;

struct Late {
  ~Late() {
    int all = 0;
    const int one = 1;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    sum += all;
  }
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  static Late late;
  static thread_local Late of_thread;
  static_cast<void>(&of_thread);
  std::atexit([] {
    int all = 0;
    const int one = 1;
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    sum += all;
  });
  std::exit(0);
}
