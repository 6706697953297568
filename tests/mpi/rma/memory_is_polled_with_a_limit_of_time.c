// A flag in a shared window is polled with a limit of time, by any clock, or beside calls of MPI
// that have nothing to wait for, as programs do that will not wait for ever: the rank that sets it
// runs meanwhile, also on the same worker. A chain of eight ranks: each rank that polls takes its
// worker for a millisecond.
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "../check.h"

enum { chain_length = 8 };

static void by_wtime(void) {
  CHECK(MPI_Wtime() > 0);
}

static void by_clock_gettime(void) {
  struct timespec now;
  CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
}

static void by_gettimeofday(void) {
  struct timeval now;
  CHECK(gettimeofday(&now, NULL) == 0);
}

static void by_timespec_get(void) {
  struct timespec now;
  CHECK(timespec_get(&now, TIME_UTC) == TIME_UTC);
}

static void by_wtick(void) {
  CHECK(MPI_Wtick() > 0);
}

static void by_test(void) {
  MPI_Request request = MPI_REQUEST_NULL;
  int flag;
  MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  CHECK(flag);
}

static void by_testall(void) {
  int flag;
  MPI_Testall(0, NULL, &flag, MPI_STATUSES_IGNORE);
  CHECK(flag);
}

static void by_testany(void) {
  MPI_Request request = MPI_REQUEST_NULL;
  int flag, which;
  MPI_Testany(1, &request, &which, &flag, MPI_STATUS_IGNORE);
  CHECK(flag);
}

static void by_testsome(void) {
  MPI_Request request = MPI_REQUEST_NULL;
  int count, which;
  MPI_Testsome(1, &request, &count, &which, MPI_STATUSES_IGNORE);
  CHECK_EQUAL(count, MPI_UNDEFINED);
}

static void by_get_status(void) {
  int flag;
  MPI_Request_get_status(MPI_REQUEST_NULL, &flag, MPI_STATUS_IGNORE);
  CHECK(flag);
}

static void by_iprobe(void) {
  int flag;
  MPI_Iprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  CHECK(flag);
}

static void (*const ways[])(void) = {
    by_wtime,   by_clock_gettime, by_gettimeofday, by_timespec_get, by_wtick, by_test,
    by_testall, by_testany,       by_testsome,     by_get_status,   by_iprobe};

enum { way_count = sizeof ways / sizeof *ways };

// By the system, which lets no other rank run.
static long seconds(void) {
  struct timespec now;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  return now.tv_sec;
}

int main(int argc, char** argv) {
  int unit, *own = NULL, *last = NULL;
  MPI_Aint bytes;
  MPI_Comm node;
  MPI_Win window;
  MPI_Init(&argc, &argv);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  const int me = rank_in(node);
  MPI_Win_allocate_shared(sizeof *own, sizeof *own, MPI_INFO_NULL, node, (void*)&own, &window);
  *own = 0;
  MPI_Win_lock_all(0, window);
  MPI_Win_sync(window);
  MPI_Barrier(node);
  MPI_Win_sync(window);
  MPI_Win_shared_query(window, me == 0 ? 0 : me - 1, &bytes, &unit, (void*)&last);
  for (int way = 0; way < way_count; way++) {
    // The last rank's flag is set after each other rank has seen the one before.
    const long began = seconds();
    unsigned turns = 0;
    while (me != 0 && me < chain_length && *(volatile int*)last <= way) {
      ways[way]();
      if (++turns % 4096 == 0) CHECK(seconds() - began < 60);
    }
    MPI_Win_sync(window);
    *(volatile int*)own = way + 1;
    MPI_Win_sync(window);
    MPI_Barrier(node);
  }
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
  MPI_Comm_free(&node);
  MPI_Finalize();
  return 0;
}
