/* A timer that is disarmed about when it is due: its handler has run when setitimer() or alarm()
 * returns, or never runs; and these say that time was left exactly if it never runs. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { round_count = 4000 };

static volatile sig_atomic_t is_armed;
static volatile sig_atomic_t handled_count;
static volatile sig_atomic_t late_count;
static int wrong_count;

static void handle(int number) {
  (void)number;
  ++handled_count;
  if (!is_armed) ++late_count;
}

static long now_us(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000L + time.tv_nsec / 1000;
}

static void spin(long us) {
  const long end = now_us() + us;
  while (now_us() < end) {
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  signal(SIGALRM, handle);
  const struct itimerval none = {{0, 0}, {0, 0}};
  for (int round = 0; round < round_count; ++round) {
    /* Once, and again and again. */
    const struct itimerval soon = {{0, round % 2 * 20}, {0, 20 + round % 50}};
    struct itimerval left = none;
    const int before = handled_count;
    is_armed = 1;
    setitimer(ITIMER_REAL, &soon, NULL);
    spin(round % 130);
    if (round % 3 == 0) {
      left.it_value.tv_sec = alarm(0);
    } else {
      setitimer(ITIMER_REAL, &none, &left);
    }
    is_armed = 0;
    const int was_left = left.it_value.tv_sec != 0 || left.it_value.tv_usec != 0;
    if (round % 2 == 0 && handled_count - before + was_left != 1) ++wrong_count;
    spin(20);
  }
  /* Later than any handler could be. */
  spin(20000);
  MPI_Barrier(MPI_COMM_WORLD);
  if (wrong_count != 0)
    printf("rank %d: %d times an alarm came that was disarmed, or did not\n", rank, wrong_count);
  else if (late_count == 0 && handled_count != 0)
    printf("no alarm of rank %d came after its end\n", rank);
  else
    printf("rank %d: %d of %d alarms came after their end\n", rank, (int)late_count,
           (int)handled_count);
  MPI_Finalize();
  return late_count != 0 || wrong_count != 0;
}
