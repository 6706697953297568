// The main thread of every rank leaves by pthread_exit: the objects on the stack are destroyed,
// threads continue, then the rank ends.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

static int rank_of_program;
static std::atomic<int> steps;

struct OnStack {
  ~OnStack() { ++steps; }
};

static void* work(void*) {
  usleep(100000);
  steps += 10;
  return nullptr;
}

static void* leave_thread(void*) {
  usleep(100000);
  steps += 100;
  pthread_exit(nullptr);
}

static void check_at_exit() {
  if (steps == 111) std::printf("rank %d left\n", rank_of_program);
}

static void leave() {
  OnStack object;
  pthread_exit(nullptr);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_of_program);
  std::atexit(check_at_exit);
  for (void* (*const routine)(void*) : {work, leave_thread}) {
    pthread_t thread;
    pthread_create(&thread, nullptr, routine, nullptr);
    pthread_detach(thread);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  leave();
  std::printf("not reached\n");
}
