// The job is saved while a signal comes after each instruction with which a rank goes to the
// safepoint: the handler's frames cover all that lies below the rank's stack pointer. x86-64.
//
// usage: stepped COUNT
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <sorrel.h>

static volatile int signal_count;

static void overwrite_stack(int number) {
  volatile unsigned char frame[2048];
  (void)number;
  for (unsigned i = 0; i < sizeof frame; ++i)
    frame[i] = 0xff;
  ++signal_count;
}

void return_from_handler(void);
__asm__(
    ".globl return_from_handler\n"
    "return_from_handler:\n"
    "  mov $15, %eax\n"
    "  syscall\n");

// The system's own action, which the library does not see: its handler runs on the stack that is
// interrupted.
static void install_handler(void) {
  struct {
    void (*handler)(int);
    unsigned long flags;
    void (*restorer)(void);
    unsigned long mask;
  } action = {overwrite_stack, 0x04000000 /* SA_RESTORER */, return_from_handler, 0};

  if (syscall(SYS_rt_sigaction, SIGTRAP, &action, NULL, sizeof action.mask) != 0) abort();
}

// The trap flag of the processor, which a switch to another rank leaves as it is. Below the red
// zone.
static void begin_signals(void) {
  __asm__ volatile(
      "leaq -128(%%rsp), %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\tleaq 128(%%rsp), "
      "%%rsp" ::
          : "memory", "cc");
}

static void end_signals(void) {
  __asm__ volatile(
      "leaq -128(%%rsp), %%rsp\n\tpushfq\n\tandq $-257, (%%rsp)\n\tpopfq\n\tleaq 128(%%rsp), "
      "%%rsp" ::
          : "memory", "cc");
}

int main(int argc, char** argv) {
  int rank, saved = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) install_handler();
  for (int i = atoi(argv[1]); i > 0; --i) {
    MPI_Barrier(MPI_COMM_WORLD);
    end_signals();
    if (rank == 0) {
      // The first to come. Its worker goes on with the other rank.
      begin_signals();
    } else {
      sched_yield();
      end_signals();
    }
    saved += sorrel_checkpoint() == 0;
    end_signals();
  }
  if (rank == 0) printf("saved %d times, signals: %s\n", saved, signal_count > 100 ? "yes" : "no");
  MPI_Finalize();
  return 0;
}
