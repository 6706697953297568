// Explicit tasks: their results must not depend on which thread runs them, or when.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static int fibonacci(int n) {
  if (n < 2) return n;
  int a, b;
#pragma omp task shared(a) if (n > 5)
  a = fibonacci(n - 1);
#pragma omp task shared(b) final(n < 8)
  b = fibonacci(n - 2);
#pragma omp taskwait
  return a + b;
}

static void recursion(int threads) {
  int result = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  result = fibonacci(20);
  printf("fibonacci %d\n", result);
}

static void chains(int threads) {
  enum { links = 2000, width = 7 };

  static long cells[width + 2];
  for (int i = 0; i < width + 2; ++i)
    cells[i] = i;
#pragma omp parallel num_threads(threads)
#pragma omp single nowait
  for (int step = 0; step < links; ++step) {
    const int at = 1 + step % width;
#pragma omp task depend(in : cells[at - 1], cells[at + 1]) depend(inout : cells[at])
    cells[at] = (cells[at - 1] * 3 + cells[at] + cells[at + 1] * 7) % 1000003;
  }
  long sum = 0;
  for (int i = 0; i < width + 2; ++i)
    sum = sum * 31 % 1000003 + cells[i];
  printf("depend %ld\n", sum);

  int x = 1, order = 1, late = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
#pragma omp task depend(out : x)
    x = 2;
    for (int i = 0; i < 10; ++i) {
#pragma omp task depend(in : x) shared(order)
      {
        if (x != 2)
#pragma omp atomic write
          order = 0;
      }
    }
#pragma omp task depend(mutexinoutset : x)
    x *= 10;
#pragma omp task depend(mutexinoutset : x)
    x *= 3;
#pragma omp taskwait depend(in : x)
    late = x;
#pragma omp task if (0) depend(inout : x)
    x += 1;
    late += x;
  }
  printf("readers %d %d %d\n", order, x, late);
}

static void groups(int threads) {
  int done = 0, at_end = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
#pragma omp taskgroup
    {
      for (int i = 0; i < 20; ++i) {
#pragma omp task shared(done)
        {
#pragma omp task shared(done)
          {
#pragma omp atomic
            done++;
          }
        }
      }
    }
    at_end = done;
  }
  printf("taskgroup %d\n", at_end);
  static int hits[1000];
  for (int i = 0; i < 1000; ++i)
    hits[i] = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
#pragma omp taskloop grainsize(13)
    for (int i = 0; i < 1000; ++i)
      hits[i]++;
#pragma omp taskloop num_tasks(7)
    for (unsigned long long i = 999; i > 0; i -= 3)
      hits[i]++;
  }
  int right = 1;
  for (int i = 0; i < 1000; ++i)
    right &= hits[i] == 1 + (i % 3 == 0 && i > 0);
  printf("taskloop %d\n", right);
}

static void reductions(int threads) {
  long sum = 0, other = 1;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
#pragma omp taskgroup task_reduction(+ : sum)
    {
      for (int i = 1; i <= 100; ++i) {
#pragma omp task in_reduction(+ : sum)
        sum += i;
      }
    }
#pragma omp taskloop reduction(+ : other)
    for (int i = 0; i < 100; ++i)
      other += i;
  }
  printf("task reductions %ld %ld\n", sum, other);
  long all = 0, each = 0;
#pragma omp parallel num_threads(threads) reduction(task, + : each)
  {
#pragma omp task in_reduction(+ : each)
    each += 5;
  }
#pragma omp parallel num_threads(threads)
  {
#pragma omp for reduction(task, + : all)
    for (int i = 0; i < 50; ++i) {
#pragma omp task in_reduction(+ : all)
      all += i;
    }
  }
  all += 1000 * each;
  printf("task modifier %ld\n", all);
}

static void barriers(int threads) {
  int made = 0, right = 1;
#pragma omp parallel num_threads(threads)
  {
    for (int round = 0; round < 20; ++round) {
      for (int i = 0; i < 10; ++i) {
#pragma omp task shared(made)
        {
#pragma omp atomic
          made++;
        }
      }
#pragma omp barrier
#pragma omp single
      right &= made == (round + 1) * 10 * omp_get_num_threads();
    }
  }
  printf("tasks at barriers %d\n", right);
}

static void events(int threads) {
  int done = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
    omp_event_handle_t event;
#pragma omp task detach(event) depend(out : done)
    done = 1;
#pragma omp task depend(inout : done)
    done += 10;
#pragma omp task
    omp_fulfill_event(event);
  }
  printf("detach %d\n", done);
}

int main(int argc, char** argv) {
  const int most = argc > 1 ? atoi(argv[1]) : 5;
  for (int threads = 1; threads <= most; threads += 2) {
    recursion(threads);
    chains(threads);
    groups(threads);
    reductions(threads);
    barriers(threads);
    if (threads > 1) events(threads);
  }
  return 0;
}
