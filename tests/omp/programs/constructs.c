// The constructs of OpenMP 2.5 to 3.1 without tasks. The output does not depend on the order of
// threads, so two runtimes can be compared line by line.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 1000

static int private_sum = 0;
#pragma omp threadprivate(private_sum)

static int hits[N];

static void clear(void) {
  memset(hits, 0, sizeof hits);
}

static int all_once(void) {
  for (int i = 0; i < N; ++i)
    if (hits[i] != 1) return 0;
  return 1;
}

static void loops(int threads) {
  clear();
#pragma omp parallel for num_threads(threads)
  for (int i = 0; i < N; ++i)
    hits[i]++;
  printf("static %d\n", all_once());
  clear();
#pragma omp parallel for num_threads(threads) schedule(dynamic, 7)
  for (int i = 0; i < N; ++i)
    hits[i]++;
  printf("dynamic %d\n", all_once());
  clear();
#pragma omp parallel for num_threads(threads) schedule(guided)
  for (int i = N - 1; i >= 0; --i)
    hits[i]++;
  printf("guided down %d\n", all_once());
  clear();
#pragma omp parallel for num_threads(threads) schedule(runtime)
  for (int i = 0; i < N; ++i)
    hits[i]++;
  printf("runtime %d\n", all_once());
  clear();
#pragma omp parallel for num_threads(threads) schedule(dynamic, 3)
  for (unsigned long long i = 0; i < N; i += 2)
    hits[i]++, hits[i + 1]++;
  printf("unsigned step 2 %d\n", all_once());
  clear();
  // Many constructs without a barrier between them.
#pragma omp parallel num_threads(threads)
  for (int round = 0; round < 50; ++round) {
#pragma omp for schedule(dynamic, 1) nowait
    for (int i = 0; i < 20; ++i)
#pragma omp atomic
      hits[round * 20 + i]++;
  }
  printf("nowait %d\n", all_once());
}

enum { many = 40000 };

static unsigned char marks[many];

static int marked(void) {
  int right = 1;
  for (int i = 0; i < many; ++i)
    right &= marks[i] == 1;
  memset(marks, 0, sizeof marks);
  return right;
}

/// Loops of so many short chunks that a runtime may take several at a time.
static void short_chunks(int threads) {
  int sum = 0, rising = 1, done = 0;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (int i = 0; i < many; ++i)
    marks[i]++;
  printf("short chunks %d\n", marked());
#pragma omp parallel for num_threads(threads) schedule(dynamic, 3)
  for (long i = 2 * (many - 1); i >= 0; i -= 2)
    marks[i / 2]++;
  printf("down %d\n", marked());
#pragma omp parallel num_threads(threads)
  for (int round = 0; round < 10; ++round) {
#pragma omp for schedule(nonmonotonic : dynamic) nowait
    for (unsigned i = 0; i < many / 10; ++i)
      marks[(unsigned)round * (many / 10) + i]++;
  }
  printf("one after the other %d\n", marked());
  // Short loops of one shape: a runtime may use measurements of one for the next.
#pragma omp parallel num_threads(threads)
  for (int round = 0; round < many / 40; ++round) {
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 40; ++i)
      marks[round * 40 + i]++;
  }
  printf("short loops %d\n", marked());
#pragma omp parallel num_threads(threads) reduction(&& : rising)
  {
    int last = -1;
#pragma omp for schedule(monotonic : dynamic)
    for (int i = 0; i < many; ++i) {
      rising = rising && i > last;
      last = i;
    }
  }
  printf("monotonic %d\n", rising);
  // A loop inside a chunk of another loop.
  omp_set_max_active_levels(2);
#pragma omp parallel for num_threads(threads) schedule(dynamic) reduction(+ : sum)
  for (int i = 0; i < many; ++i) {
    marks[i]++;
    if (i % 4000 != 3999) continue;
#pragma omp parallel for num_threads(2) schedule(dynamic) reduction(+ : sum)
    for (int j = 0; j < 500; ++j)
      sum += j;
  }
  omp_set_max_active_levels(1);
  printf("within %d %d\n", marked(), sum);
  // One chunk waits for all others, so no thread may hold back chunks after it.
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (int i = 0; i < many; ++i) {
    int now = 0;
    while (threads > 1 && i == many / 2 && now < many - 1) {
#pragma omp atomic read
      now = done;
    }
#pragma omp atomic
    done++;
  }
  printf("all but one %d\n", done);
}

static void order(int threads) {
  int next = 0, right = 1;
#pragma omp parallel for ordered schedule(dynamic, 2) num_threads(threads)
  for (int i = 0; i < 200; ++i) {
#pragma omp ordered
    {
      right &= next == i;
      next = i + 1;
    }
  }
  printf("ordered dynamic %d %d\n", right, next);
  next = 0;
#pragma omp parallel for ordered schedule(static) num_threads(threads)
  for (int i = 0; i < 200; ++i) {
#pragma omp ordered
    {
      right &= next == i;
      next = i + 1;
    }
  }
  printf("ordered static %d %d\n", right, next);
  next = 0;
#pragma omp parallel for ordered schedule(static, 3) num_threads(threads)
  for (int i = 0; i < 200; ++i) {
    if (i % 5 == 0) continue;
#pragma omp ordered
    {
      right &= i >= next;
      next = i;
    }
  }
  printf("ordered gaps %d %d\n", right, next);
}

static void synchronisation(int threads) {
  long sum = 0, product = 0;
  double ratio = 0;
  int singles = 0, masters = 0, a = 0, b = 0, c = 0, copied = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
  {
    const int me = omp_get_thread_num();
    for (int round = 0; round < 100; ++round) {
#pragma omp critical
      product += me;
#pragma omp critical(named)
      ratio += 0.5;
#pragma omp barrier
#pragma omp single
      singles++;
#pragma omp master
      masters++;
#pragma omp barrier
    }
    int value = 0;
#pragma omp single copyprivate(value)
    value = 42;
#pragma omp atomic
    copied += value;
    sum += me;
#pragma omp sections
    {
#pragma omp section
      a = 1;
#pragma omp section
      b = 2;
#pragma omp section
      c = 3;
    }
  }
  printf("sum %ld product %ld ratio %g singles %d masters %d copied %d sections %d\n", sum, product,
         ratio, singles, masters, copied, a + b + c);
#pragma omp parallel sections num_threads(threads)
  {
#pragma omp section
    a = 10;
#pragma omp section
    b = 20;
  }
  printf("parallel sections %d\n", a + b);
}

static void locks(int threads) {
  omp_lock_t lock;
  omp_nest_lock_t nest;
  omp_init_lock(&lock);
  omp_init_nest_lock(&nest);
  long count = 0, nested = 0;
#pragma omp parallel num_threads(threads)
  for (int i = 0; i < 1000; ++i) {
    omp_set_lock(&lock);
    count++;
    omp_unset_lock(&lock);
    omp_set_nest_lock(&nest);
    omp_set_nest_lock(&nest);
    nested++;
    omp_unset_nest_lock(&nest);
    omp_unset_nest_lock(&nest);
    while (!omp_test_lock(&lock)) {
    }
    count++;
    omp_unset_lock(&lock);
  }
  printf("locks %ld %ld\n", count, nested);
  omp_destroy_lock(&lock);
  omp_destroy_nest_lock(&nest);
}

static void private_data(int threads) {
  private_sum = 5;
#pragma omp parallel num_threads(threads) copyin(private_sum)
  {
    private_sum += omp_get_thread_num();
#pragma omp barrier
  }
  int right = 1;
#pragma omp parallel num_threads(threads) reduction(& : right)
  right &= private_sum == 5 + omp_get_thread_num();
  printf("threadprivate %d\n", right);
}

static void nested(void) {
  omp_set_max_active_levels(3);
  int inner = 0, right = 1, level = 0;
#pragma omp parallel num_threads(3) reduction(+ : inner) reduction(& : right)
  {
    const int outer = omp_get_thread_num();
#pragma omp parallel num_threads(2) reduction(+ : inner) reduction(& : right)
    {
      inner++;
      right &= omp_get_level() == 2 && omp_get_active_level() == 2 &&
               omp_get_ancestor_thread_num(1) == outer && omp_get_team_size(1) == 3 &&
               omp_get_team_size(2) == 2 && omp_get_num_threads() == 2;
#pragma omp barrier
#pragma omp master
      {
#pragma omp critical
        level = omp_get_level();
      }
    }
    right &= omp_get_thread_num() == outer && omp_get_num_threads() == 3;
  }
  printf("nested %d %d %d\n", inner, right, level);
  omp_set_max_active_levels(1);
#pragma omp parallel num_threads(2)
  {
#pragma omp parallel num_threads(4)
#pragma omp critical
    inner += omp_get_num_threads();
  }
  printf("not nested %d\n", inner);
}

static void queries(void) {
  printf("outside %d %d %d %d %d\n", omp_get_thread_num(), omp_get_num_threads(), omp_in_parallel(),
         omp_get_level(), omp_get_max_threads());
  omp_set_num_threads(5);
  int five = 0;
#pragma omp parallel
#pragma omp single
  five = omp_get_num_threads();
  printf("five %d %d\n", five, omp_get_max_threads());
  omp_set_schedule(omp_sched_guided, 4);
  omp_sched_t kind;
  int chunk;
  omp_get_schedule(&kind, &chunk);
  printf("schedule %d %d\n", (int)kind, chunk);
  printf("wtime %d\n", omp_get_wtime() > 0 && omp_get_wtick() < 1e-3);
}

static void doacross(int threads) {
  static int grid[32][32];
  for (int i = 0; i < 32; ++i)
    for (int j = 0; j < 32; ++j)
      grid[i][j] = 1;
#pragma omp parallel for ordered(2) num_threads(threads) schedule(dynamic, 1)
  for (int i = 1; i < 32; ++i)
    for (int j = 1; j < 32; ++j) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
      grid[i][j] = (grid[i - 1][j] + grid[i][j - 1]) % 1000;
#pragma omp ordered depend(source)
    }
  printf("doacross %d\n", grid[31][31]);
}

int main(int argc, char** argv) {
  const int most = argc > 1 ? atoi(argv[1]) : 5;
  for (int threads = 1; threads <= most; threads += 2) {
    loops(threads);
    short_chunks(threads);
    order(threads);
    synchronisation(threads);
    locks(threads);
    private_data(threads);
    doacross(threads);
  }
  nested();
  queries();
  return 0;
}
