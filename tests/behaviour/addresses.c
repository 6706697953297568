// Calls that wait, with addresses that are not valid and counts that are too large: a rank gets the
// system's answer, as a process of its own would.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mpi.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static int failed;

static void expect(const char* what, long result, int error, long right_result, int right_error) {
  if (result == right_result && (result >= 0 || error == right_error)) return;
  failed = 1;
  fprintf(stderr, "%s: %ld, errno %d instead of %ld, errno %d\n", what, result, error, right_result,
          right_error);
}

// -1 and EFAULT, or EINVAL.
#define EXPECT(call, right_error)               \
  do {                                          \
    errno = 0;                                  \
    const long got = (call);                    \
    expect(#call, got, errno, -1, right_error); \
  } while (0)

static pid_t ended_child(void) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t info;
  waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
  return child;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Barrier(MPI_COMM_WORLD);
  const struct timespec no_time = {0};
  struct timeval zero = {0};
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR2);
  struct epoll_event event = {.events = EPOLLOUT};
  int ends[2];
  const int set = epoll_create1(0);
  if (pipe(ends) != 0 || set < 0) return 2;
  epoll_ctl(set, EPOLL_CTL_ADD, ends[1], &event);
  // The second of two pages is not there.
  char* pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(pages + 4096, 4096);
  void* const bad[] = {(void*)8, pages + 4096, (void*)-4096L};
  for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
    void* volatile where = bad[i];
    EXPECT(select(8, where, NULL, NULL, &zero), EFAULT);
    EXPECT(select(8, NULL, where, NULL, &zero), EFAULT);
    EXPECT(pselect(8, where, NULL, NULL, &no_time, NULL), EFAULT);
    EXPECT(pselect(8, NULL, NULL, where, &no_time, NULL), EFAULT);
    EXPECT(poll(where, 1, 0), EFAULT);
    EXPECT(ppoll(where, 1, &no_time, NULL), EFAULT);
    EXPECT(ppoll(NULL, 0, &no_time, where), EFAULT);
    EXPECT(epoll_wait(set, where, 1, 0), EFAULT);
    EXPECT(epoll_pwait(set, &event, 1, 0, where), EFAULT);
    EXPECT(nanosleep(where, NULL), EFAULT);
    const int error = clock_nanosleep(CLOCK_MONOTONIC, 0, where, NULL);
    expect("clock_nanosleep", error, 0, EFAULT, 0);
    expect("thrd_sleep", thrd_sleep(where, NULL) < -1, 0, 1, 0);
    EXPECT(sigtimedwait(where, NULL, &no_time), EFAULT);
    EXPECT(sigtimedwait(&signals, NULL, where), EFAULT);
    EXPECT(sigwaitinfo(where, NULL), EFAULT);
    EXPECT(sigsuspend(where), EFAULT);
    EXPECT(sigpending(where), EFAULT);
    EXPECT(getitimer(ITIMER_REAL, where), EFAULT);
    EXPECT(setitimer(ITIMER_REAL, where, NULL), EFAULT);
    EXPECT(sigaltstack(where, NULL), EFAULT);
    EXPECT(fcntl(ends[0], F_GETLK, where), EFAULT);
    EXPECT(fcntl(ends[0], F_SETLK, where), EFAULT);
    EXPECT(waitpid(ended_child(), where, 0), EFAULT);
    EXPECT(waitid(P_PID, (id_t)ended_child(), where, WEXITED), EFAULT);
  }
  EXPECT(select(-1, NULL, NULL, NULL, &zero), EINVAL);
  EXPECT(pselect(-1, NULL, NULL, NULL, &no_time, NULL), EINVAL);
  EXPECT(poll((void*)pages, INT_MAX, 0), EINVAL);
  EXPECT(epoll_wait(set, &event, 0, 0), EINVAL);
  // The largest count: the system looks at as many descriptors as the process has room for.
  fd_set writable;
  FD_ZERO(&writable);
  FD_SET(ends[1], &writable);
  expect("select", select(INT_MAX, NULL, &writable, NULL, &zero), errno, 1, 0);
  expect("FD_ISSET", FD_ISSET(ends[1], &writable) != 0, 0, 1, 0);
  expect("pselect", pselect(INT_MAX, NULL, &writable, NULL, &no_time, NULL), errno, 1, 0);
  // A short array before the page that is not there.
  unsigned long* last = (unsigned long*)(pages + 4096) - 1;
  *last = 0;
  for (int count = 64; count <= 65; count++) {
    const long right = syscall(SYS_pselect6, count, last, NULL, NULL, &no_time, NULL);
    const int error = errno;
    errno = 0;
    const long got = pselect(count, (fd_set*)last, NULL, NULL, &no_time, NULL);
    expect("pselect of a short array", got, errno, right, error);
  }
  if (failed == 0) printf("as the system answers\n");
  MPI_Finalize();
  return failed;
}
