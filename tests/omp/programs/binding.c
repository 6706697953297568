// The places of threads, what they are bound to, and policies: of a team, and of a team inside it.
// binding THREADS
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { threads_max = 64, text_bytes = 400 };

static char texts[threads_max][text_bytes];
static char inner_texts[threads_max][2][text_bytes];

static void describe(char* text) {
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  int length =
      snprintf(text, text_bytes, "bind %d place %d of", omp_get_proc_bind(), omp_get_place_num());
  const int count = omp_get_partition_num_places();
  int* numbers = calloc((size_t)count + 1, sizeof *numbers);
  omp_get_partition_place_nums(numbers);
  for (int i = 0; i < count; i++)
    length += snprintf(text + length, text_bytes - (size_t)length, " %d", numbers[i]);
  free(numbers);
  length += snprintf(text + length, text_bytes - (size_t)length, ", on");
  for (int i = 0; i < CPU_SETSIZE; i++)
    if (CPU_ISSET(i, &set))
      length += snprintf(text + length, text_bytes - (size_t)length, " %d", i);
}

int main(int count, char** arguments) {
  const int threads = count > 1 ? atoi(arguments[1]) : 4;
  for (int i = 0; i < omp_get_num_places(); i++) {
    const int cpus = omp_get_place_num_procs(i);
    int* numbers = calloc((size_t)cpus + 1, sizeof *numbers);
    omp_get_place_proc_ids(i, numbers);
    printf("place %d:", i);
    for (int j = 0; j < cpus; j++)
      printf(" %d", numbers[j]);
    puts("");
    free(numbers);
  }
  for (int round = 0; round < 3; round++) {
    memset(texts, 0, sizeof texts);
    memset(inner_texts, 0, sizeof inner_texts);
#pragma omp parallel num_threads(threads)
    {
      describe(texts[omp_get_thread_num()]);
      const int outer = omp_get_thread_num();
#pragma omp parallel num_threads(2)
      describe(inner_texts[outer][omp_get_thread_num()]);
    }
    for (int i = 0; i < threads; i++)
      printf("thread %d: %s\n    inner: %s; %s\n", i, texts[i], inner_texts[i][0],
             inner_texts[i][1]);
#pragma omp parallel num_threads(threads) proc_bind(spread)
    describe(texts[omp_get_thread_num()]);
    for (int i = 0; i < threads; i++)
      printf("spread %d: %s\n", i, texts[i]);
  }
  char text[text_bytes];
  describe(text);
  printf("afterwards: %s\n", text);
  return 0;
}
