// What saves and inherits a mask of signals has that of the rank: jumps, contexts, handlers,
// threads, child processes. Each rank blocks another signal, and ranks take turns on a worker.
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static int rank, ranks, faults;
static volatile sig_atomic_t count, step;
static sigjmp_buf place;
static jmp_buf inner;

static void check(int is_right, const char* what) {
  if (is_right) return;
  printf("rank %d: wrong: %s\n", rank, what);
  ++faults;
}

static void barrier(void) {
  MPI_Barrier(MPI_COMM_WORLD);
}

static unsigned long bits_of(const sigset_t* set) {
  unsigned long bits = 0;
  for (int number = 1; number < 32; ++number)
    if (sigismember(set, number) == 1) bits |= 1UL << (number - 1);
  return bits;
}

static unsigned long blocked(void) {
  sigset_t now;
  sigprocmask(SIG_BLOCK, NULL, &now);
  return bits_of(&now);
}

static unsigned long bit(int number) {
  return 1UL << (number - 1);
}

static void change(int how, int number) {
  sigset_t set;
  sigemptyset(&set);
  if (number != 0) sigaddset(&set, number);
  sigprocmask(how, &set, NULL);
}

/// The signal that only this rank of two neighbours blocks.
static int own(void) {
  return rank % 2 == 0 ? SIGUSR1 : SIGTERM;
}

static void set_handler(int number, void (*handler)(int)) {
  struct sigaction action = {.sa_handler = handler};
  sigaction(number, &action, NULL);
}

static void note(int number) {
  (void)number;
  ++count;
}

/// setjmp() of BSD, which saves the mask; the header's does not.
int setjmp_of_bsd(jmp_buf buffer) __asm__("setjmp") __attribute__((returns_twice));

static void jumps(void) {
  change(SIG_SETMASK, own());
  barrier();
  for (volatile int saves = 0; saves < 2; ++saves) {
    if (sigsetjmp(place, saves) == 0) {
      change(SIG_SETMASK, SIGUSR2);
      barrier();
      siglongjmp(place, 1);
    }
    check(blocked() == bit(saves ? own() : SIGUSR2), "mask after siglongjmp");
    change(SIG_SETMASK, own());
    barrier();
  }
  if (setjmp_of_bsd(inner) == 0) {
    change(SIG_SETMASK, SIGUSR2);
    longjmp(inner, 1);
  }
  check(blocked() == bit(own()), "mask after longjmp to setjmp of BSD");
  // A pending signal that the jump unblocks is handled before it.
  change(SIG_SETMASK, 0);
  set_handler(SIGUSR2, note);
  count = 0;
  if (sigsetjmp(place, 1) == 0) {
    change(SIG_SETMASK, SIGUSR2);
    raise(SIGUSR2);
    check(count == 0, "blocked signal");
    siglongjmp(place, 1);
  }
  check(count == 1 && blocked() == 0, "signal that a jump unblocks");
}

static void jump_within(int number) {
  (void)number;
  if (setjmp(inner) == 0) longjmp(inner, 1);
  ++count;
  check((blocked() & bit(SIGALRM)) != 0, "mask in the handler after a jump within it");
}

static void jump_out(int number) {
  siglongjmp(place, number);
}

static void handlers(void) {
  change(SIG_SETMASK, own());
  count = 0;
  set_handler(SIGALRM, jump_within);
  raise(SIGALRM);
  check(count == 1 && blocked() == bit(own()), "jump within a handler");
  // Also while the rank waits in MPI, where the handler must return.
  const struct itimerval soon = {.it_value = {.tv_usec = 20000}};
  if (rank != 0) setitimer(ITIMER_REAL, &soon, NULL);
  while (rank == 0 && step == 0) {
    usleep(100000);
    step = 1;
  }
  barrier();
  while (rank != 0 && count < 2)
    continue;
  check(count == (rank == 0 ? 1 : 2), "jump within a handler that interrupts MPI");
  set_handler(SIGALRM, jump_out);
  for (volatile int saves = 0; saves < 2; ++saves) {
    if (sigsetjmp(place, saves) == 0) {
      change(SIG_BLOCK, SIGUSR2);
      raise(SIGALRM);
    }
    check(blocked() == (bit(own()) | (saves ? 0 : bit(SIGUSR2) | bit(SIGALRM))),
          "mask after a jump out of a handler");
    change(SIG_SETMASK, own());
  }
}

static void raise_blocked(int number) {
  (void)number;
  raise(SIGUSR2);
  check(count == 0, "signal that a handler blocks");
}

static void change_context(int number, siginfo_t* info, void* context) {
  (void)number;
  (void)info;
  ucontext_t* interrupted = context;
  check(bits_of(&interrupted->uc_sigmask) == bit(own()), "mask that a handler is shown");
  sigaddset(&interrupted->uc_sigmask, SIGHUP);
}

static void masks_of_handlers(void) {
  change(SIG_SETMASK, own());
  struct sigaction action = {.sa_handler = raise_blocked};
  sigaddset(&action.sa_mask, SIGUSR2);
  set_handler(SIGUSR2, note);
  sigaction(SIGALRM, &action, NULL);
  count = 0;
  raise(SIGALRM);
  check(count == 1, "signal after the handler that has blocked it");
  action = (struct sigaction){.sa_sigaction = change_context, .sa_flags = SA_SIGINFO};
  sigaction(SIGALRM, &action, NULL);
  raise(SIGALRM);
  check(blocked() == (bit(own()) | bit(SIGHUP)), "mask that a handler has changed");
}

static ucontext_t before, made;

static void in_context(void) {
  check(blocked() == bit(own()), "mask in a made context");
  change(SIG_SETMASK, SIGHUP);
  barrier();
  swapcontext(&made, &before);
}

static void contexts(void) {
  static char stack[1 << 16];
  change(SIG_SETMASK, own());
  volatile int round = 0;
  getcontext(&before);
  check(blocked() == bit(own()), "mask of a context");
  if (round++ == 0) {
    change(SIG_SETMASK, SIGUSR2);
    barrier();
    setcontext(&before);
  }
  check(round == 2, "setcontext");
  getcontext(&made);
  made.uc_stack = (stack_t){.ss_sp = stack, .ss_size = sizeof stack};
  makecontext(&made, in_context, 0);
  change(SIG_SETMASK, SIGUSR2);
  check(swapcontext(&before, &made) == 0, "swapcontext");
  check(blocked() == bit(SIGUSR2), "mask after swapcontext");
}

static void* mask_of_thread(void* mask) {
  pthread_sigmask(SIG_BLOCK, NULL, mask);
  return NULL;
}

static void inherited(void) {
  change(SIG_SETMASK, own());
  set_handler(SIGUSR1, note);
  set_handler(SIGTERM, note);
  set_handler(SIGHUP, rank % 2 == 0 ? SIG_IGN : note);
  barrier();
  pthread_t thread;
  sigset_t mask;
  pthread_create(&thread, NULL, mask_of_thread, &mask);
  pthread_join(thread, NULL);
  check(bits_of(&mask) == bit(own()), "mask of a thread");
  int status = -1;
  count = 0;
  const pid_t child = fork();
  if (child == 0) {
    raise(own());
    if (blocked() != bit(own()) || count != 0) _exit(1);
    change(SIG_SETMASK, 0);
    if (count != 1) _exit(2);
    execlp("sh", "sh", "-c", "kill -HUP $$; sleep 0; exit 3", NULL);
  }
  waitpid(child, &status, 0);
  check(rank % 2 == 0 ? WIFEXITED(status) && WEXITSTATUS(status) == 3
                      : WIFSIGNALED(status) && WTERMSIG(status) == SIGHUP,
        "signals of a child process");
  char line[256];
  unsigned long of_child = 0;
  FILE* status_of_child = popen("exec cat /proc/self/status", "r");
  while (status_of_child != NULL && fgets(line, sizeof line, status_of_child))
    if (strncmp(line, "SigBlk:", 7) == 0) of_child = strtoul(line + 7, NULL, 16);
  if (status_of_child != NULL) pclose(status_of_child);
  check(of_child == bit(own()), "mask of a child of popen");
  barrier();
  check(blocked() == bit(own()), "mask after threads and children");
  change(SIG_SETMASK, 0);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  jumps();
  handlers();
  masks_of_handlers();
  contexts();
  inherited();
  barrier();
  if (faults == 0) printf("masks of rank %d are its own\n", rank);
  MPI_Finalize();
  return faults != 0;
}
