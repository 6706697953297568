// Constructs keep errno, as with the compiler's library, also where their threads sleep. kept_errno
// THREADS
#include <errno.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { rounds = 200, kinds = 7 };

static omp_lock_t lock;
static int shared_value;

/// Uneven work, so that some threads wait long enough to sleep.
static void work(int thread, int round) {
  if ((thread + round) % 5 == 0) usleep(50);
}

static void construct(int kind) {
  switch (kind) {
    case 0: {
#pragma omp barrier
      break;
    }
    case 1: {
#pragma omp critical
      shared_value++;
      break;
    }
    case 2: {
#pragma omp single
      shared_value++;
      break;
    }
    case 3: {
#pragma omp for schedule(dynamic, 1)
      for (int i = 0; i < 20; i++) {
#pragma omp atomic
        shared_value++;
      }
      break;
    }
    case 4: {
#pragma omp task
      {
#pragma omp atomic
        shared_value++;
      }
#pragma omp taskwait
      break;
    }
    case 5: {
#pragma omp for ordered schedule(static, 1)
      for (int i = 0; i < 20; i++) {
#pragma omp ordered
        shared_value++;
      }
      break;
    }
    default:
      omp_set_lock(&lock);
      shared_value++;
      omp_unset_lock(&lock);
  }
}

int main(int count, char** arguments) {
  const int threads = count > 1 ? atoi(arguments[1]) : 4;
  long lost[kinds] = {0};
  omp_init_lock(&lock);
  for (int round = 0; round < rounds; round++) {
    for (int kind = 0; kind < kinds; kind++) {
      long changed = 0;
#pragma omp parallel num_threads(threads) reduction(+ : changed)
      {
        work(omp_get_thread_num(), round);
        errno = 1000 + round;
        construct(kind);
        changed += errno != 1000 + round;
      }
      lost[kind] += changed;
    }
  }
  for (int kind = 0; kind < kinds; kind++)
    printf("errno changed by construct %d: %ld\n", kind, lost[kind]);
  return 0;
}
