// An undeferred task with a detach clause: its creator goes on when the event has been fulfilled,
// by another thread. undeferred_event THREADS
#include <omp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int result;

static void* compute(void* event) {
  usleep(20000);
  result = 7;
  omp_fulfill_event((omp_event_handle_t)(uintptr_t)event);
  return NULL;
}

int main(int count, char** arguments) {
  const int threads = count > 1 ? atoi(arguments[1]) : 4;
  int right = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  for (int i = 0; i < 5; i++) {
    omp_event_handle_t event;
    pthread_t other;
    result = 0;
#pragma omp task detach(event) if (0)
    pthread_create(&other, NULL, compute, (void*)(uintptr_t)event);
    right += result == 7;
    pthread_join(other, NULL);
  }
  printf("right %d of 5\n", right);
  return 0;
}
