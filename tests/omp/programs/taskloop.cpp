// Taskloops whose tasks copy objects: every iteration runs once, with an object of its own task.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <omp.h>
#include <vector>

namespace {

std::atomic<int> live_objects{0};

struct Object {
  explicit Object(int number) : values(16, number) { ++live_objects; }

  Object(const Object& other) : values(other.values) { ++live_objects; }

  Object& operator=(const Object&) = delete;

  ~Object() {
    values[0] = -1;
    --live_objects;
  }

  std::vector<int> values;
};

/// How often each iteration ran, and with which object.
struct Hits {
  explicit Hits(int count) : of(static_cast<std::size_t>(count)) {}

  void add(long i, int number) {
    if (number != 7) wrong_objects = true;
    ++of[static_cast<std::size_t>(i)];
  }

  /// The number of iterations that differ from `expected(i)`.
  template <class Expected>
  long wrong(Expected expected) const {
    long count = wrong_objects ? 1000000 : 0;
    for (std::size_t i = 0; i < of.size(); ++i)
      count += of[i].load() != expected(static_cast<long>(i)) ? 1 : 0;
    return count;
  }

  std::vector<std::atomic<int>> of;
  std::atomic<bool> wrong_objects{false};
};

int once(long) {
  return 1;
}

void cuts(int threads) {
  Hits by_default(100), grains(100), numbers(100), steps(100), backwards(100), one(1), none(1);
  const Object object(7);
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
#pragma omp taskloop firstprivate(object)
    for (int i = 0; i < 100; ++i)
      by_default.add(i, object.values[0]);
#pragma omp taskloop firstprivate(object) grainsize(7)
    for (long i = 0; i < 100; ++i)
      grains.add(i, object.values[15]);
#pragma omp taskloop firstprivate(object) num_tasks(9) nogroup
    for (int i = 0; i < 100; ++i)
      numbers.add(i, object.values[0]);
#pragma omp taskwait
#pragma omp taskloop firstprivate(object) num_tasks(13) untied
    for (int i = 1; i < 100; i += 4)
      steps.add(i, object.values[0]);
#pragma omp taskloop firstprivate(object) grainsize(3)
    for (int i = 99; i >= 0; i -= 2)
      backwards.add(i, object.values[0]);
#pragma omp taskloop firstprivate(object)
    for (int i = 0; i < 1; ++i)
      one.add(i, object.values[0]);
#pragma omp taskloop firstprivate(object)
    for (int i = 0; i < 0; ++i)
      none.add(i, object.values[0]);
  }
  std::printf("cuts %ld %ld %ld %ld %ld %ld %ld\n", by_default.wrong(once), grains.wrong(once),
              numbers.wrong(once), steps.wrong([](long i) { return i % 4 == 1 ? 1 : 0; }),
              backwards.wrong([](long i) { return i % 2 == 1 ? 1 : 0; }), one.wrong(once),
              none.wrong([](long) { return 0; }));
}

void unsigned_ranges(int threads) {
  using Ull = unsigned long long;
  constexpr Ull high = ~0ULL - 200;
  Hits up(100), down(100);
  const Object object(7);
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
#pragma omp taskloop firstprivate(object) num_tasks(6)
    for (Ull i = high; i < high + 100; ++i)
      up.add(static_cast<long>(i - high), object.values[0]);
#pragma omp taskloop firstprivate(object) grainsize(11)
    for (Ull i = high + 99; i > high; i -= 3)
      down.add(static_cast<long>(i - high), object.values[0]);
  }
  std::printf("unsigned %ld %ld\n", up.wrong(once),
              down.wrong([](long i) { return i > 0 && i % 3 == 0 ? 1 : 0; }));
}

void iterators(int threads) {
  std::vector<int> vector(500, 0);
  std::deque<int> deque(300, 0);
  const Object object(7);
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
#pragma omp taskloop
    for (auto it = vector.begin(); it < vector.end(); ++it)
      *it += 1;
#pragma omp taskloop num_tasks(17) firstprivate(object)
    for (auto it = deque.begin(); it < deque.end(); it += 2)
      *it += object.values[0];
  }
  long sum = 0;
  for (const int value : vector)
    sum += value;
  for (const int value : deque)
    sum += value;
  std::printf("iterators %ld\n", sum);
}

void collapsed_and_nested(int threads) {
  Hits collapsed(600), nested(400);
  const Object object(7);
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
#pragma omp taskloop collapse(3) firstprivate(object) num_tasks(11)
    for (int i = 0; i < 10; ++i)
      for (int j = 0; j < 6; ++j)
        for (int k = 0; k < 10; ++k)
          collapsed.add((i * 6 + j) * 10 + k, object.values[0]);
#pragma omp taskloop firstprivate(object) num_tasks(5)
    for (int i = 0; i < 20; ++i) {
#pragma omp taskloop firstprivate(object) grainsize(4)
      for (int j = 0; j < 20; ++j)
        nested.add(i * 20 + j, object.values[0]);
    }
  }
  std::printf("collapsed and nested %ld %ld\n", collapsed.wrong(once), nested.wrong(once));
}

void clauses(int threads) {
  long sum = 0, inner_sum = 0;
  int last = -1;
  Hits undeferred(50), final_ones(50);
  const Object object(7);
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
#pragma omp taskloop firstprivate(object) reduction(+ : sum) num_tasks(8)
    for (int i = 0; i < 100; ++i)
      sum += i * object.values[0];
#pragma omp taskgroup task_reduction(+ : inner_sum)
    {
#pragma omp taskloop firstprivate(object) in_reduction(+ : inner_sum) nogroup grainsize(9)
      for (int i = 0; i < 100; ++i)
        inner_sum += i * object.values[0];
    }
#pragma omp taskloop firstprivate(object) lastprivate(last) num_tasks(7)
    for (int i = 0; i < 100; ++i)
      last = i * object.values[0];
#pragma omp taskloop firstprivate(object) if (0)
    for (int i = 0; i < 50; ++i)
      undeferred.add(i, object.values[0]);
#pragma omp taskloop firstprivate(object) final(1) num_tasks(4)
    for (int i = 0; i < 50; ++i)
      final_ones.add(i, object.values[0]);
  }
  std::printf("clauses %ld %ld %d %ld %ld\n", sum, inner_sum, last, undeferred.wrong(once),
              final_ones.wrong(once));
}

// Cancelled tasks must destroy their objects.
void cancelled(int threads) {
  const Object object(7);
  std::atomic<long> ran{0};
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
#pragma omp taskloop firstprivate(object) num_tasks(64)
    for (int i = 0; i < 10000; ++i) {
      ran += object.values[0] == 7 ? 1 : 20000;
#pragma omp cancel taskgroup if (i == 5)
#pragma omp cancellation point taskgroup
    }
  }
  std::printf("cancelled %d\n", ran >= 1 && ran <= 10000 ? 0 : 1);
}

}  // namespace

int main(int argc, char** argv) {
  const int most = argc > 1 ? std::atoi(argv[1]) : 5;
  for (int threads = 1; threads <= most; threads += 2) {
    cuts(threads);
    unsigned_ranges(threads);
    iterators(threads);
    collapsed_and_nested(threads);
    clauses(threads);
    cancelled(threads);
    std::printf("objects left %d\n", live_objects.load());
  }
  return 0;
}
