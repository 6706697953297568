// distances - speed of loops over two or three arrays by the distance of the arrays modulo 4096; no
// MPI. A load whose address agrees in 12 bits with that of an earlier store waits for it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { distance_count = 9, loop_count = 5 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

typedef void (*loop)(double* a, const double* b, const double* c, int n);

__attribute__((noinline)) static void copy(double* a, const double* b, const double* c, int n) {
  (void)c;
  memcpy(a, b, (size_t)n * sizeof *a);
}

__attribute__((noinline)) static void scale(double* a, const double* b, const double* c, int n) {
  (void)c;
  for (int i = 0; i < n; i++)
    a[i] = 3 * b[i];
}

__attribute__((noinline)) static void axpy(double* a, const double* b, const double* c, int n) {
  (void)c;
  for (int i = 0; i < n; i++)
    a[i] += 3 * b[i];
}

__attribute__((noinline)) static void triad(double* a, const double* b, const double* c, int n) {
  for (int i = 0; i < n; i++)
    a[i] = b[i] + 3 * c[i];
}

__attribute__((noinline)) static void stencil(double* a, const double* b, const double* c, int n) {
  (void)c;
  for (int i = 1; i < n - 1; i++)
    a[i] = b[i - 1] + b[i + 1] - 2 * b[i];
}

int main(void) {
  static const int distances[distance_count] = {0, 16, 48, 64, 256, 1024, 2048, 3072, 4032};
  static const int sizes[] = {1024, 8192, 131072};

  static const struct {
    const char* name;
    loop run;
  } loops[loop_count] = {
      {"copy", copy}, {"scale", scale}, {"axpy", axpy}, {"triad", triad}, {"stencil", stencil}};

  char* memory = aligned_alloc(4096, 1 << 24);
  if (memory == NULL) return 1;
  memset(memory, 0, 1 << 24);
  printf("%-8s %8s", "GB/s", "bytes");
  for (int i = 0; i < distance_count; i++)
    printf("%7d", distances[i]);
  puts("  distance mod 4096 of each array from the one before");
  for (int k = 0; k < loop_count; k++) {
    for (int s = 0; s < 3; s++) {
      const int n = sizes[s], repeats = n > 10000 ? 1 : 10;
      printf("%-8s %8zu", loops[k].name, (size_t)n * sizeof(double));
      for (int i = 0; i < distance_count; i++) {
        char* b = memory + 64;
        char* c = b + (1 << 22) + distances[i];
        char* a = c + (1 << 22) + distances[i];
        double floor = 1e18;
        for (int round = 0; round < 50; round++) {
          const double start = now();
          for (int q = 0; q < repeats; q++)
            loops[k].run((double*)a, (double*)c, (double*)b, n);
          const double ns = (now() - start) / repeats;
          if (ns < floor) floor = ns;
        }
        printf("%7.1f", (double)n * sizeof(double) / floor);
      }
      puts("");
    }
  }
  free(memory);
  return 0;
}
