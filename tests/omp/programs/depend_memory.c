// A producer of many tasks with dependences that does not wait for them: memory follows the tasks
// that are unfinished. depend_memory TASKS
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long status_kb(const char* name) {
  char line[256];
  long value = -1;
  FILE* file = fopen("/proc/self/status", "r");
  while (fgets(line, sizeof line, file) != NULL)
    if (strncmp(line, name, strlen(name)) == 0) value = atol(line + strlen(name));
  fclose(file);
  return value;
}

static int check(const char* what, long before, long wrong) {
  const long grown = status_kb("VmHWM:") - before;
  if (wrong != 0) printf("%s: %ld tasks have a wrong result\n", what, wrong);
  if (grown > 20000) printf("%s: memory has grown by %ld kB\n", what, grown);
  return wrong != 0 || grown > 20000;
}

int main(int argc, char** argv) {
  const long count = argc > 1 ? atol(argv[1]) : 1000;
  char* values = malloc((size_t)count);
  memset(values, 0, (size_t)count);
  const long before = status_kb("VmRSS:");
  int failed = 0;
  long wrong = 0;

#pragma omp parallel num_threads(2)
#pragma omp single
  for (long i = 0; i < count; i++) {
#pragma omp task depend(out : values[i]) shared(values)
    values[i]++;
  }
  for (long i = 0; i < count; i++)
    wrong += values[i] != 1;
  failed |= check("writers of an address each", before, wrong);

  long read = 0;
  long first = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  {
#pragma omp task depend(out : first) shared(first)
    first = 1;
    for (long i = 0; i < count; i++) {
#pragma omp task depend(in : first) shared(first, read)
      {
#pragma omp atomic
        read += first;
      }
    }
#pragma omp task depend(inout : first) shared(first)
    first = 2;
  }
  failed |= check("readers of one address", before, (read != count) + (first != 2));

  // Chains: each task reads its neighbour's address and writes its own.
  enum { chains = 100 };

  long last[chains] = {0};
  const long length = count / chains;
#pragma omp parallel num_threads(2)
#pragma omp single
  for (long i = 0; i < length; i++)
    for (int j = 0; j < chains; j++) {
#pragma omp task depend(inout : last[j]) depend(in : last[(j + 1) % chains]) shared(last)
      last[j]++;
    }
  wrong = 0;
  for (int j = 0; j < chains; j++)
    wrong += last[j] != length;
  failed |= check("chains", before, wrong);
  if (!failed) printf("memory has not grown\n");
  free(values);
  return failed;
}
