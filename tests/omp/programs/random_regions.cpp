// Regions of random constructs, each of which counts what the serial program would: random_regions
// SEED ROUNDS THREADS [ITEM..] A region has a few items, which all its threads execute in the same
// order, as the rules of OpenMP request. Items left behind by one region (tasks, locks, flags) meet
// those of the next. With item numbers, regions consist of these alone.
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <omp.h>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

constexpr int order_max = 64;

struct Item {
  int kind = 0;
  int size = 0;       // iterations, tasks
  int grain = 0;      // chunk, depth
  int lingering = 0;  // one thread in so many sleeps a little before the item; 0: none
  std::int64_t expected = 0;
};

struct Region {
  int threads = 1;
  std::vector<Item> items;
};

std::int64_t got[16];
omp_lock_t lock;
omp_nest_lock_t nest_lock;
std::int64_t plain;    // under locks
std::int64_t reduced;  // of a loop
int seen_order[order_max];

void add(int item, std::int64_t value) {
#pragma omp atomic
  got[item] += value;
}

std::int64_t fibonacci(int n) {
  if (n < 2) return n;
  std::int64_t a = 0;
  std::int64_t b = 0;
#pragma omp task shared(a) firstprivate(n)
  a = fibonacci(n - 1);
#pragma omp task shared(b) firstprivate(n) if (n % 3 != 0)
  b = fibonacci(n - 2);
#pragma omp taskwait
  return a + b;
}

/// The value of fibonacci() without tasks.
std::int64_t fibonacci_value(int n) {
  return n < 2 ? n : fibonacci_value(n - 1) + fibonacci_value(n - 2);
}

enum Kind {
  barrier,
  critical,
  single,
  single_nowait,
  copied,
  loop_static,
  loop_dynamic,
  loop_guided,
  loop_runtime_nowait,
  loop_ordered,
  loop_doacross,
  loop_reduction,
  sections,
  masters,
  locks,
  tasks,
  tasks_of_tasks,
  task_group,
  task_loop,
  dependences,
  recursion,
  task_reduction,
  nested,
  yields,
  untied_tasks,
  kernel_threads,
  flags,
  kind_count
};

/// What all threads together add for the item.
std::int64_t expected_of(const Item& item, int threads) {
  const std::int64_t size = item.size;
  const std::int64_t sum = size * (size - 1) / 2;
  switch (item.kind) {
    case critical:
    case locks:
    case copied:
    case yields:
    case kernel_threads:
    case flags:
      return threads;
    case single:
    case single_nowait:
    case masters:
      return 1;
    case loop_static:
    case loop_dynamic:
    case loop_guided:
    case loop_runtime_nowait:
    case loop_ordered:
    case loop_doacross:
    case task_loop:
      return sum;
    case loop_reduction:
      return sum * threads;
    case sections:
      return 6;
    case tasks:
    case task_group:
      return size * threads;
    case tasks_of_tasks:
    case untied_tasks:
      return size * threads * (1 + item.grain);
    case dependences:
      return size;
    case recursion:
      return fibonacci_value(item.grain + 5) * threads;
    case task_reduction:
      return sum;
    case nested:
      return threads * std::int64_t{item.grain + 1};
    default:
      return 0;
  }
}

void run_loop(int number, const Item& item) {
  const int size = item.size;
  switch (item.kind) {
    case loop_static:
#pragma omp for schedule(static, item.grain)
      for (int i = 0; i < size; ++i)
        add(number, i);
      break;
    case loop_dynamic:
#pragma omp for schedule(dynamic, item.grain)
      for (int i = 0; i < size; ++i)
        add(number, i);
      break;
    case loop_guided:
#pragma omp for schedule(guided, item.grain)
      for (int i = 0; i < size; ++i)
        add(number, i);
      break;
    case loop_runtime_nowait:
#pragma omp for schedule(runtime) nowait
      for (int i = 0; i < size; ++i)
        add(number, i);
      break;
    case loop_ordered: {
#pragma omp single
      plain = 0;
#pragma omp for schedule(dynamic, item.grain) ordered
      for (int i = 0; i < size; ++i) {
#pragma omp ordered
        {
          // Out of order the sum is another one.
          if (plain == i) add(number, i);
          plain = i + 1;
        }
      }
      break;
    }
    case loop_doacross: {
      const int count = size < order_max ? size : order_max;
#pragma omp for schedule(static, 1) ordered(1)
      for (int i = 0; i < count; ++i) {
#pragma omp ordered depend(sink : i - 1)
        seen_order[i] = i == 0 ? 0 : seen_order[i - 1] + 1;
#pragma omp ordered depend(source)
      }
#pragma omp for
      for (int i = 0; i < size; ++i)
        add(number, i < count ? seen_order[i] : i);
      break;
    }
    default:
#pragma omp single
      reduced = 0;
#pragma omp for schedule(static) reduction(+ : reduced)
      for (int i = 0; i < size; ++i)
        reduced += i;
      add(number, reduced);
      // Before a thread clears it for the next item.
#pragma omp barrier
  }
}

void run_tasks(int number, const Item& item) {
  switch (item.kind) {
    case tasks:
      for (int i = 0; i < item.size; ++i) {
#pragma omp task untied
        add(number, 1);
      }
      break;
    case tasks_of_tasks:
      for (int i = 0; i < item.size; ++i) {
#pragma omp task firstprivate(item)
        {
          for (int j = 0; j < item.grain; ++j) {
#pragma omp task
            add(number, 1);
          }
          if (item.grain % 2 != 0) {
#pragma omp taskwait
          }
          add(number, 1);
        }
      }
      if (item.grain % 3 == 0) {
#pragma omp taskwait
      }
      break;
    case task_group: {
      int done = 0;
#pragma omp taskgroup
      {
        for (int i = 0; i < item.size; ++i) {
#pragma omp task shared(done)
          {
#pragma omp task shared(done)
            {
#pragma omp atomic
              ++done;
            }
          }
        }
      }
      add(number, done);
      break;
    }
    case task_loop:
#pragma omp single nowait
    {
#pragma omp taskloop grainsize(1 + item.grain)
      for (int i = 0; i < item.size; ++i)
        add(number, i);
    } break;
    case dependences:
#pragma omp single
    {
      int chain = 0;
      int readers = 0;
      for (int i = 0; i < item.size; ++i) {
#pragma omp task depend(inout : chain) shared(chain) firstprivate(i)
        {
          if (chain == i) add(number, 1);
          ++chain;
        }
#pragma omp task depend(in : chain) shared(readers)
        {
#pragma omp atomic
          ++readers;
        }
      }
#pragma omp taskwait
      if (readers != item.size) add(number, 1000);
    } break;
    case recursion:
      add(number, fibonacci(item.grain + 5));
      break;
    default:
#pragma omp single
    {
      std::int64_t sum = 0;
#pragma omp taskgroup task_reduction(+ : sum)
      for (int i = 0; i < item.size; ++i) {
#pragma omp task in_reduction(+ : sum) firstprivate(i)
        sum += i;
      }
      add(number, sum);
    }
  }
}

void run_other(int number, const Item& item) {
  switch (item.kind) {
    case barrier: {
#pragma omp barrier
      break;
    }
    case critical: {
#pragma omp critical
      got[number] += 1;
      break;
    }
    case single: {
#pragma omp single
      add(number, 1);
      break;
    }
    case single_nowait: {
#pragma omp single nowait
      add(number, 1);
      break;
    }
    case copied: {
      int value = 0;
#pragma omp single copyprivate(value)
      value = 1;
      add(number, value);
      break;
    }
    case sections: {
#pragma omp sections nowait
      {
#pragma omp section
        add(number, 1);
#pragma omp section
        add(number, 2);
#pragma omp section
        add(number, 3);
      }
      break;
    }
    case masters: {
#pragma omp master
      add(number, 1);
      break;
    }
    case locks:
      if (item.grain % 2 != 0) {
        omp_set_lock(&lock);
        got[number] += 1;
        omp_unset_lock(&lock);
        break;
      }
      omp_set_nest_lock(&nest_lock);
      omp_set_nest_lock(&nest_lock);
      got[number] += 1;
      omp_unset_nest_lock(&nest_lock);
      omp_unset_nest_lock(&nest_lock);
      break;
    case nested: {
#pragma omp parallel num_threads(item.grain + 1)
      {
#pragma omp task
        add(number, 1);
#pragma omp barrier
      }
      break;
    }
    case yields: {
#pragma omp task
      {
#pragma omp taskyield
        add(number, 1);
      }
#pragma omp taskyield
      break;
    }
    case untied_tasks:
      // Compilers cut them at the points where they may be suspended.
      for (int i = 0; i < item.size; ++i) {
#pragma omp task untied firstprivate(item, i)
        {
          int done = 0;
          for (int j = 0; j < item.grain; ++j) {
#pragma omp task untied shared(done)
            {
#pragma omp atomic
              ++done;
            }
            if (i % 2 != 0) {
#pragma omp taskyield
            }
          }
#pragma omp taskwait
          add(number, 1 + done);
        }
      }
      break;
    case kernel_threads: {
      // From then on the thread has a kernel thread of its own.
      if (omp_get_thread_num() % (item.grain + 1) == 1 && gettid() <= 0) break;
      add(number, 1);
      break;
    }
    default: {
      // Threads wait for each other in a loop of the program.
      static int arrived;
#pragma omp single
      arrived = 0;
#pragma omp atomic
      ++arrived;
      for (int now = 0; now < omp_get_num_threads();) {
#pragma omp atomic read
        now = arrived;
      }
      add(number, 1);
#pragma omp barrier
    }
  }
}

void run_item(int number, const Item& item) {
  if (item.lingering != 0 && omp_get_thread_num() % item.lingering == 0) usleep(30);
  if (item.kind >= loop_static && item.kind <= loop_reduction) return run_loop(number, item);
  if (item.kind >= tasks && item.kind <= task_reduction) return run_tasks(number, item);
  run_other(number, item);
}

/// Threads that wait for each other cost a time slice each where cores are few, and a thread that
/// has a kernel thread keeps it: both are rare.
Region random_region(std::mt19937& random, int threads_max, const std::vector<int>& kinds) {
  const auto below = [&](int limit) {
    return static_cast<int>(random() % static_cast<unsigned>(limit));
  };
  Region region;
  region.threads = 1 + below(threads_max);
  const int count = 1 + below(6);
  for (int i = 0; i < count; ++i) {
    Item item;
    item.kind = kinds.empty()
                    ? below(kind_count)
                    : kinds[static_cast<std::size_t>(below(static_cast<int>(kinds.size())))];
    if ((item.kind == flags || item.kind == kernel_threads) && kinds.empty() && below(20) != 0)
      item.kind = barrier;
    item.size = below(3) == 0 ? below(300) : below(12);
    item.grain = 1 + below(4);
    item.lingering = below(3) == 0 ? 1 + below(4) : 0;
    item.expected = expected_of(item, region.threads);
    region.items.push_back(item);
  }
  return region;
}

/// Returns the number of items that did not count what they should, and says which.
int run_region(const Region& region, unsigned seed, int round) {
  for (std::int64_t& value : got)
    value = 0;
  int lost_errno = 0;
#pragma omp parallel num_threads(region.threads) reduction(+ : lost_errno)
  {
    for (std::size_t i = 0; i < region.items.size(); ++i) {
      errno = 1000 + round;
      run_item(static_cast<int>(i), region.items[i]);
      if (errno == 1000 + round) continue;
      std::printf("seed %u round %d: an item of kind %d sets errno to %d\n", seed, round,
                  region.items[i].kind, errno);
      ++lost_errno;
    }
  }
  int wrong = 0;
  for (std::size_t i = 0; i < region.items.size(); ++i) {
    const Item& item = region.items[i];
    if (got[i] == item.expected) continue;
    std::printf(
        "seed %u round %d: item %zu of kind %d (size %d, grain %d), %d threads: %lld, not %lld\n",
        seed, round, i, item.kind, item.size, item.grain, region.threads,
        static_cast<long long>(got[i]), static_cast<long long>(item.expected));
    ++wrong;
  }
  return wrong + lost_errno;
}

}  // namespace

int main(int count, char** arguments) {
  const auto seed = static_cast<unsigned>(count > 1 ? std::atoi(arguments[1]) : 1);
  const int rounds = count > 2 ? std::atoi(arguments[2]) : 100;
  const int threads = count > 3 ? std::atoi(arguments[3]) : 4;
  std::vector<int> kinds;
  for (int i = 4; i < count; ++i)
    kinds.push_back(std::atoi(arguments[i]));
  std::mt19937 random(seed);
  omp_init_lock(&lock);
  omp_init_nest_lock(&nest_lock);
  omp_set_dynamic(0);
  omp_set_max_active_levels(2);
  int wrong = 0;
  for (int round = 0; round < rounds; ++round)
    wrong += run_region(random_region(random, threads, kinds), seed, round);
  if (wrong == 0) std::printf("all regions counted right\n");
  return wrong != 0 ? 1 : 0;
}
