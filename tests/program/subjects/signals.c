// Every rank has its own signals: dispositions, masks, alarms, handlers, and interrupted calls.
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#ifndef OWN
#define OWN
#endif

static OWN int rank;
static int ranks, faults;
static volatile sig_atomic_t count, code, value;
static sigjmp_buf place;

static void check(int is_right, const char* what) {
  if (is_right) return;
  printf("rank %d: wrong: %s\n", rank, what);
  ++faults;
}

static void barrier(void) {
  MPI_Barrier(MPI_COMM_WORLD);
}

static void note(int number) {
  (void)number;
  ++count;
}

static void jump(int number) {
  siglongjmp(place, number);
}

static void set_handler(int number, void (*handler)(int)) {
  struct sigaction action = {.sa_handler = handler};
  sigaction(number, &action, NULL);
}

static void set_alarm(int ms) {
  const struct itimerval time = {.it_value = {.tv_usec = ms * 1000}};
  setitimer(ITIMER_REAL, &time, NULL);
}

/// From here on, again and again: one of them comes during a call, however late the call is.
static void set_alarms(int ms) {
  const struct timeval time = {.tv_usec = ms * 1000};
  const struct itimerval often = {.it_value = time, .it_interval = time};
  setitimer(ITIMER_REAL, &often, NULL);
}

static void ring(void) {
  for (int i = 0; i < 100; ++i) {
    int to = rank, from = -1;
    MPI_Sendrecv(&to, 1, MPI_INT, (rank + 1) % ranks, 0, &from, 1, MPI_INT,
                 (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(from == (rank + ranks - 1) % ranks, "message");
  }
}

static void dispositions(void) {
  struct sigaction before;
  set_handler(SIGUSR2, rank % 2 == 0 ? note : SIG_IGN);
  barrier();
  sigaction(SIGUSR2, NULL, &before);
  check(before.sa_handler == (rank % 2 == 0 ? note : SIG_IGN), "disposition");
  count = 0;
  raise(SIGUSR2);
  check(count == (rank % 2 == 0), "raise");
  kill(getpid(), SIGUSR2);
  check(count == (rank % 2 == 0 ? 2 : 0), "kill of the own process");
  barrier();
  check(signal(SIGUSR2, SIG_DFL) == (rank % 2 == 0 ? note : SIG_IGN), "signal");
}

static void alarms(void) {
  const unsigned seconds = 100 * (unsigned)(rank + 1);
  check(alarm(seconds) == 0, "first alarm");
  barrier();
  const unsigned left = alarm(0);
  check(left > seconds - 50 && left <= seconds, "alarm left");
  set_handler(SIGALRM, note);
  count = 0;
  set_alarm(100);
  while (count == 0)
    continue;
  barrier();
  check(count == 1, "alarm while the rank computes");
  set_alarms(10);
  while (count < 4)
    continue;
  set_alarm(0);
  struct itimerval now;
  getitimer(ITIMER_REAL, &now);
  check(now.it_value.tv_sec == 0 && now.it_value.tv_usec == 0, "no alarm");
  barrier();
}

static void interrupted_sleeps(void) {
  count = 0;
  set_alarms(100);
  const unsigned slept_left = sleep(100);
  check(slept_left > 0 && slept_left <= 100 && count > 0, "sleep");
  const struct timespec time = {.tv_sec = 100};
  struct timespec left = {0};
  int before = count;
  check(nanosleep(&time, &left) == -1 && errno == EINTR && left.tv_sec > 0 && left.tv_sec < 100 &&
            count > before,
        "nanosleep");
  before = count;
  check(poll(NULL, 0, 100000) == -1 && errno == EINTR && count > before, "poll");
  before = count;
  check(pause() == -1 && errno == EINTR && count > before, "pause");
  set_alarm(0);
  barrier();
}

static void jumps(void) {
  set_handler(SIGALRM, jump);
  for (volatile int i = 0; i < 3; ++i) {
    if (sigsetjmp(place, 1) == 0) {
      set_alarm(20);
      if (i == 1) sleep(10);
      for (volatile double x = 0;; x += 1)
        continue;
    }
    ring();
  }
  set_handler(SIGSEGV, jump);
  set_handler(SIGFPE, jump);
  set_handler(SIGABRT, jump);
  for (volatile int i = 0; i < 20; ++i) {
    volatile int zero = 0;
    int number = sigsetjmp(place, 1);
    if (number == 0) *(volatile int*)(long)zero = 1;
    check(number == SIGSEGV, "SIGSEGV");
    ring();
    number = sigsetjmp(place, 1);
    if (number == 0) zero = 1000 / zero;
    check(number == SIGFPE, "SIGFPE");
  }
  const int number = sigsetjmp(place, 1);
  if (number == 0) abort();
  check(number == SIGABRT, "SIGABRT");
  ring();
}

/// sigpause(), without the mark of the header that it is an old function.
int sigpause_of_header(int number) __asm__("__xpg_sigpause");

static void masks(void) {
  sigset_t set, old;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  set_handler(SIGUSR1, note);
  count = 0;
  if (rank % 2 == 0) sigprocmask(SIG_BLOCK, &set, NULL);
  barrier();
  sigprocmask(SIG_SETMASK, NULL, &old);
  check(sigismember(&old, SIGUSR1) == (rank % 2 == 0), "mask");
  raise(SIGUSR1);
  check(count == (rank % 2 == 0 ? 0 : 1), "blocked signal");
  sigpending(&old);
  check(sigismember(&old, SIGUSR1) == (rank % 2 == 0), "sigpending");
  barrier();
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  check(count == 1, "unblocked signal");
  sigprocmask(SIG_BLOCK, &set, NULL);
  raise(SIGUSR1);
  sigemptyset(&old);
  check(sigsuspend(&old) == -1 && errno == EINTR && count == 2, "sigsuspend");
  raise(SIGUSR1);
  check(sigpause_of_header(SIGUSR1) == -1 && errno == EINTR && count == 3, "sigpause");
  raise(SIGUSR1);
  int number = 0;
  check(sigwait(&set, &number) == 0 && number == SIGUSR1 && count == 3, "sigwait");
  const struct timespec soon = {.tv_nsec = 1000000};
  check(sigtimedwait(&set, NULL, &soon) == -1 && errno == EAGAIN, "sigtimedwait");
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  barrier();
}

// The functions of System V and BSD, without the mark of the header that they are old.
void (*sigset_of_header(int number, void (*action)(int)))(int) __asm__("sigset");
int sighold_of_header(int number) __asm__("sighold");
int sigrelse_of_header(int number) __asm__("sigrelse");
int sigignore_of_header(int number) __asm__("sigignore");
int siginterrupt_of_header(int number, int interrupts) __asm__("siginterrupt");
int sigblock_of_header(int mask) __asm__("sigblock");
int sigsetmask_of_header(int mask) __asm__("sigsetmask");
int siggetmask_of_header(void) __asm__("siggetmask");
void (*bsd_signal_of_header(int number, void (*handler)(int)))(int) __asm__("bsd_signal");

static int is_blocked(int number) {
  sigset_t now;
  sigprocmask(SIG_BLOCK, NULL, &now);
  return sigismember(&now, number);
}

static void old_functions(void) {
  struct sigaction action;
  const int even = rank % 2 == 0;
  count = 0;
  signal(SIGUSR1, SIG_DFL);
  // Each pair of ranks has different actions and masks.
  check(sigset_of_header(SIGUSR1, even ? note : SIG_IGN) == SIG_DFL, "sigset");
  check(even ? sighold_of_header(SIGUSR1) == 0 : 1, "sighold");
  barrier();
  check(is_blocked(SIGUSR1) == even, "mask after sighold");
  raise(SIGUSR1);
  check(count == 0, "held signal");
  check(sigset_of_header(SIGUSR1, SIG_HOLD) == (even ? SIG_HOLD : SIG_IGN), "SIG_HOLD");
  barrier();
  check(is_blocked(SIGUSR1) && sigrelse_of_header(SIGUSR1) == 0, "sigrelse");
  check(!is_blocked(SIGUSR1) && count == even, "released signal");
  check(bsd_signal_of_header(SIGUSR1, note) == (even ? note : SIG_IGN), "bsd_signal");
  check(siginterrupt_of_header(SIGUSR1, even) == 0, "siginterrupt");
  barrier();
  sigaction(SIGUSR1, NULL, &action);
  check(((action.sa_flags & SA_RESTART) == 0) == even, "flags after siginterrupt");
  check(!even || sigignore_of_header(SIGUSR1) == 0, "sigignore");
  barrier();
  raise(SIGUSR1);
  check(count == 1, "ignored signal");
  const int bit = 1 << (SIGUSR2 - 1);
  check((sigblock_of_header(even ? bit : 0) & bit) == 0, "sigblock");
  barrier();
  check(is_blocked(SIGUSR2) == even && ((siggetmask_of_header() & bit) != 0) == even, "siggetmask");
  check(((sigsetmask_of_header(0) & bit) != 0) == even && !is_blocked(SIGUSR2), "sigsetmask");
  check(sighold_of_header(100) == -1 && errno == EINVAL, "sighold of no signal");
  check(sigset_of_header(SIGKILL, note) == SIG_ERR && errno == EINVAL, "sigset of SIGKILL");
  signal(SIGUSR1, SIG_DFL);
  barrier();
}

enum { wait_count = 6 };

/// One of the calls that wait with a mask of their own, for 10 s at most.
static int wait_with_mask(int which, const sigset_t* mask, int descriptor) {
  const struct timespec time = {.tv_sec = 10};
  struct pollfd one = {.fd = descriptor, .events = POLLIN};
  struct epoll_event event;
  fd_set set;
  FD_ZERO(&set);
  FD_SET(descriptor, &set);
  const int epoll = epoll_create1(0);
  int answer = 0;
  if (which == 0) answer = ppoll(NULL, 0, &time, mask);
  if (which == 1) answer = ppoll(&one, 1, &time, mask);
  if (which == 2) answer = pselect(0, NULL, NULL, NULL, &time, mask);
  if (which == 3) answer = pselect(descriptor + 1, &set, NULL, NULL, &time, mask);
  if (which == 4) answer = epoll_pwait(epoll, &event, 1, 10000, mask);
  if (which == 5) answer = epoll_pwait2(epoll, &event, 1, &time, mask);
  const int error = errno;
  close(epoll);
  errno = error;
  return answer;
}

static void waits_with_masks(void) {
  sigset_t set, none, now;
  int ends[2];
  sigemptyset(&none);
  sigemptyset(&set);
  sigaddset(&set, SIGALRM);
  set_handler(SIGALRM, note);
  sigprocmask(SIG_BLOCK, &set, NULL);
  check(pipe(ends) == 0, "pipe");
  count = 0;
  for (int i = 0; i < 2 * wait_count; ++i) {
    // Pending before the call, or while it waits.
    if (i % 2 == 0) raise(SIGALRM);
    if (i % 2 == 1) set_alarm(30);
    check(wait_with_mask(i / 2, &none, ends[0]) == -1 && errno == EINTR && count == i + 1,
          "wait with a mask");
    sigprocmask(SIG_BLOCK, NULL, &now);
    check(sigismember(&now, SIGALRM), "mask after a wait");
  }
  raise(SIGALRM);
  const struct timespec no_time = {0};
  check(ppoll(NULL, 0, &no_time, &set) == 0 && count == 2 * wait_count, "blocked in a poll");
  check(ppoll(NULL, 0, &no_time, &none) == -1 && errno == EINTR && count == 2 * wait_count + 1,
        "poll without time");
  close(ends[0]);
  close(ends[1]);
  sigprocmask(SIG_UNBLOCK, &set, NULL);
  barrier();
}

static void note_info(int number, siginfo_t* info, void* context) {
  (void)context;
  ++count;
  code = info->si_code;
  value = info->si_value.sival_int;
  check(info->si_signo == number && info->si_pid == getpid(), "sender");
}

/// The mask of the system's thread, which the library does not see.
static void change_thread_mask(int how, int number) {
  const unsigned long long mask = 1ULL << (number - 1);
  syscall(SYS_rt_sigprocmask, how, &mask, NULL, sizeof mask);
}

// The system has a signal pending for the worker's thread, as when it is interrupted for another
// rank. It would merge the rank's own signals with that.
static void own_signals(void) {
  struct sigaction action = {.sa_sigaction = note_info, .sa_flags = SA_SIGINFO};
  const int number = SIGUSR2;
  sigaction(number, &action, NULL);
  barrier();
  count = 0;
  change_thread_mask(SIG_BLOCK, number);
  syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), number);
  check(raise(number) == 0 && count == 1 && code == SI_TKILL, "raise");
  check(kill(getpid(), number) == 0 && count == 2 && code == SI_USER, "kill");
  check(pthread_kill(pthread_self(), number) == 0 && count == 3, "pthread_kill");
  check(tgkill(getpid(), gettid(), number) == 0 && count == 4, "tgkill");
  check(sigqueue(getpid(), number, (union sigval){.sival_int = rank + 7}) == 0 && count == 5 &&
            code == SI_QUEUE && value == rank + 7,
        "sigqueue");
  check(gsignal(number) == 0 && count == 6, "gsignal");
  change_thread_mask(SIG_UNBLOCK, number);
  check(count == 7, "signal of the system");
  barrier();
  check(count == 7, "signals of other ranks");
  check(raise(0) == 0 && kill(getpid(), 0) == 0 && raise(65) == -1 && errno == EINVAL, "no signal");
  signal(number, SIG_DFL);
}

/// How many ranks have run a handler, in memory of the first rank.
static _Atomic int* interrupted_ranks;

/// Collective.
static void begin_counting_interrupted_ranks(void) {
  static _Atomic int interrupted;
  interrupted = 0;
  interrupted_ranks = &interrupted;
  MPI_Bcast(&interrupted_ranks, sizeof interrupted_ranks, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void note_rank(int number) {
  note(number);
  ++*interrupted_ranks;
}

// From another process, as by kill(1): each rank that has a handler gets it, in whatever state it
// is.
static void from_outside(void) {
  sigset_t set, none;
  sigemptyset(&none);
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  begin_counting_interrupted_ranks();
  set_handler(SIGUSR1, rank == 1 ? SIG_IGN : note_rank);
  count = 0;
  if (rank == 2) sigprocmask(SIG_BLOCK, &set, NULL);
  barrier();
  if (rank == 0 && fork() == 0) {
    usleep(100000);
    kill(getppid(), SIGUSR1);
    _exit(0);
  }
  if (rank == 0) {
    while (count == 0)
      continue;
    // The other ranks wait for this one until each has had its signal, but for the one that ignores
    // it.
    while (*interrupted_ranks < ranks - 1)
      usleep(10000);
  }
  // The worker may be running rank 0 when the signal arrives.
  if (rank == 2) sigsuspend(&none);
  barrier();
  check(count == (rank != 1), "signal from outside");
}

// A rank that waits in MPI gets its signal there, with its own globals.
static void in_mpi(void) {
  begin_counting_interrupted_ranks();
  set_handler(SIGALRM, note_rank);
  count = 0;
  int seen = 0;
  barrier();
  if (rank != 0) set_alarm(50);
  // The other ranks wait for this one until each has had its signal.
  while (rank == 0 && *interrupted_ranks < ranks - 1)
    usleep(10000);
  MPI_Bcast(&seen, 1, MPI_INT, 0, MPI_COMM_WORLD);
  check(count == (rank != 0), "signal in a collective");
  barrier();
}

static void* in_thread(void* argument) {
  sigset_t* set = argument;
  int number = 0;
  sigwait(set, &number);
  count += number == SIGUSR2 ? 10 : 100;
  return NULL;
}

static void threads(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  count = 0;
  pthread_t thread;
  pthread_create(&thread, NULL, in_thread, &set);
  kill(getpid(), SIGUSR2);
  while (count == 0)
    sched_yield();
  check(count == 10, "sigwait of a thread");
  pthread_join(thread, NULL);
  barrier();
}

static void* nothing(void* unused) {
  return unused;
}

/// With the argument "thread" the rank has had a thread, after which it goes on outside of its
/// worker.
int main(int argc, char** argv) {
  int level;
  const int has_thread = argc > 1 && strcmp(argv[1], "thread") == 0;
  MPI_Init_thread(&argc, &argv, has_thread ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  if (has_thread) {
    pthread_t thread;
    pthread_create(&thread, NULL, nothing, NULL);
    pthread_join(thread, NULL);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  dispositions();
  alarms();
  interrupted_sleeps();
  jumps();
  masks();
  old_functions();
  waits_with_masks();
  own_signals();
  from_outside();
  in_mpi();
  threads();
  MPI_Finalize();
  if (faults == 0) printf("signals of rank %d are its own\n", rank);
  return faults;
}
