// Target constructs, computed by the host: each result is compared with one computed serially.
#include <cstdio>
#include <cstdlib>
#include <omp.h>
#include <vector>

namespace {

int failures = 0;

void check(const char* what, long got, long wanted) {
  if (got == wanted) return;
  std::printf("%s: %ld, not %ld\n", what, got, wanted);
  failures++;
}

constexpr int count = 1000;

constexpr long sum_below(long n) {
  return n * (n - 1) / 2;
}

#pragma omp declare target
int global_array[count];

int twice(int x) {
  return 2 * x;
}

#pragma omp end declare target

struct Pair {
  int first;
  double second;
  int array[4];
};

void maps() {
  int scalar = 1;
  int input = 5;
  int output = 0;
  int array[count];
  Pair pair{1, 2.5, {1, 2, 3, 4}};
  for (int i = 0; i < count; ++i)
    array[i] = i;
#pragma omp target map(tofrom : scalar, array, pair) map(to : input) map(from : output)
  {
    scalar += input;
    output = twice(input);
    for (int i = 0; i < count; ++i)
      array[i] *= 2;
    pair.first += static_cast<int>(pair.second) + pair.array[3];
  }
  long sum = 0;
  for (int value : array)
    sum += value;
  check("scalar", scalar, 6);
  check("output", output, 10);
  check("array", sum, 2 * sum_below(count));
  check("struct", pair.first, 7);
  int* section = array + 100;
#pragma omp target map(tofrom : section[0 : 50])
  for (int i = 0; i < 50; ++i)
    section[i] = -1;
  check("section", array[100] + array[149] + array[150] + array[99], -2 + 300 + 198);
}

void copies() {
  int first = 4;
  int unseen = 9;
  long big[40];
  for (int i = 0; i < 40; ++i)
    big[i] = i;
  long sum = 0;
  // A scalar without a clause is firstprivate, and so are these.
#pragma omp target firstprivate(first, big) private(unseen) map(tofrom : sum)
  {
    unseen = 1;
    first += unseen;
    for (long& value : big)
      value += first;
    for (long value : big)
      sum += value;
  }
  check("firstprivate", sum, sum_below(40) + 40 * 5);
  check("unchanged", first + unseen + big[39], 4 + 9 + 39);
  int implicit = 7;
  int seen = 0;
#pragma omp target map(from : seen)
  {
    implicit++;
    seen = implicit;
  }
  check("implicit firstprivate", seen * 100 + implicit, 807);
  double table[3] = {1, 2, 3};
#pragma omp target defaultmap(firstprivate : aggregate) map(from : seen)
  {
    table[0] = 10;
    seen = static_cast<int>(table[0] + table[2]);
  }
  check("defaultmap", seen * 10 + static_cast<int>(table[0]), 131);
}

void data_regions() {
  std::vector<int> storage(count);
  int* data = storage.data();
#pragma omp target data map(tofrom : data[0 : count])
  {
#pragma omp target
    for (int i = 0; i < count; ++i)
      data[i] = i;
#pragma omp target update from(data[0 : count])
    check("update from", data[count - 1], count - 1);
    data[0] = 17;
#pragma omp target update to(data[0 : 1])
#pragma omp target
    data[1] = data[0] + 1;
#pragma omp target data use_device_ptr(data)
    {
#pragma omp target is_device_ptr(data)
      data[2] = 40;
    }
  }
  check("target data", data[1] + data[2], 58);
#pragma omp target enter data map(to : data[0 : count])
#pragma omp target map(alloc : data[0 : count])
  data[3] = 41;
#pragma omp target exit data map(from : data[0 : count])
  check("enter and exit data", data[3], 41);
  for (int i = 0; i < count; ++i)
    global_array[i] = i;
#pragma omp target update to(global_array)
#pragma omp target
  for (int i = 0; i < count; ++i)
    global_array[i] += 1;
#pragma omp target update from(global_array)
  check("declare target", global_array[0] + global_array[count - 1], count + 1);
}

void teams() {
  long sum = 0;
#pragma omp target teams distribute parallel for reduction(+ : sum) map(tofrom : sum)
  for (int i = 0; i < count; ++i)
    sum += i;
  check("teams distribute parallel for", sum, sum_below(count));
  int made = 0;
  int numbers = 0;
  int largest = 0;
#pragma omp target teams num_teams(3) thread_limit(2) map(tofrom : made, numbers, largest) \
    reduction(+ : made, numbers) reduction(max : largest)
  {
    made += omp_get_num_teams() == 3;
    numbers += omp_get_team_num();
    int threads = 0;
#pragma omp parallel num_threads(8) reduction(+ : threads)
    threads++;
    if (threads > largest) largest = threads;
  }
  check("num_teams", made, 3);
  check("team numbers", numbers, 3);
  check("thread_limit", largest, 2);
  int matrix[20][30];
#pragma omp target teams distribute parallel for collapse(2) map(from : matrix) num_teams(4)
  for (int i = 0; i < 20; ++i)
    for (int j = 0; j < 30; ++j)
      matrix[i][j] = i * j;
  long total = 0;
  for (auto& row : matrix)
    for (int value : row)
      total += value;
  check("collapse", total, sum_below(20) * sum_below(30));
  int last = -1;
#pragma omp target teams distribute parallel for simd lastprivate(last) map(from : last)
  for (int i = 0; i < count; ++i)
    last = i;
  check("lastprivate", last, count - 1);
  int limited = 0;
#pragma omp target parallel thread_limit(3) num_threads(6) map(tofrom : limited)
#pragma omp atomic
  limited++;
  check("thread_limit of target", limited, 3);
}

void parallel() {
  long sum = 0;
  int level = -1;
  int in_order[100];
  int at = 0;
#pragma omp target parallel for map(tofrom : sum) reduction(+ : sum) schedule(dynamic, 3)
  for (int i = 0; i < count; ++i)
    sum += twice(i);
  check("target parallel for", sum, 2 * sum_below(count));
#pragma omp target map(from : in_order) map(tofrom : at)
  {
#pragma omp parallel for ordered num_threads(4)
    for (int i = 0; i < 100; ++i) {
#pragma omp ordered
      in_order[at++] = i;
    }
  }
  check("ordered", in_order[0] + 100 * in_order[99], 9900);
  long hits = 0;
#pragma omp target map(tofrom : hits)
#pragma omp parallel num_threads(5)
  {
#pragma omp critical
    hits++;
#pragma omp barrier
#pragma omp single
    hits += 100;
#pragma omp for
    for (int i = 0; i < 50; ++i) {
#pragma omp atomic
      hits++;
    }
#pragma omp sections
    {
#pragma omp section
      {
#pragma omp atomic
        hits += 1000;
      }
#pragma omp section
      {
#pragma omp atomic
        hits += 2000;
      }
    }
  }
  check("constructs in a target region", hits, 3155);
  // A target region in a parallel region begins on an initial thread of its own.
  int inside = 0;
  int levels = 0;
#pragma omp parallel num_threads(4) reduction(+ : inside, levels)
  {
    int mine = 0;
    int own_level = -1;
#pragma omp target map(tofrom : mine, own_level)
    {
      own_level = omp_get_level() + omp_get_thread_num();
#pragma omp parallel num_threads(3)
#pragma omp atomic
      mine += omp_get_team_num() + 1;
    }
    inside += mine;
    levels += own_level + (omp_get_num_threads() != 4) + (omp_get_level() != 1);
  }
  check("regions in target regions", inside, 12);
  check("levels", levels, 0);
#pragma omp target map(from : level)
  level = omp_get_level() * 100 + omp_get_num_threads() * 10 + omp_in_parallel();
  check("an initial thread", level, 10);
}

void tasks() {
  int a = 0;
  int b = 0;
  int c = 0;
#pragma omp parallel num_threads(4)
#pragma omp single
  {
#pragma omp target nowait depend(out : a) map(tofrom : a)
    a = 3;
#pragma omp task depend(in : a) depend(out : b) shared(a, b)
    b = a * 10;
#pragma omp target depend(in : b) depend(out : c) map(to : a, b) map(from : c)
    c = a + b;
    check("depend", c, 33);
    int copied = 1;
#pragma omp target nowait map(tofrom : a) firstprivate(copied) depend(inout : a)
    a += copied;
    copied = 50;
#pragma omp taskwait
    check("nowait firstprivate", a, 4);
#pragma omp target enter data map(to : a) depend(out : a) nowait
#pragma omp target update to(a) depend(inout : a)
#pragma omp target exit data map(from : a) depend(inout : a) nowait
#pragma omp task depend(in : a) shared(a)
    a = 100;
#pragma omp taskwait
  }
  check("data constructs with depend", a, 100);
  long sum = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
  for (int i = 0; i < 100; ++i) {
#pragma omp target nowait map(tofrom : sum) firstprivate(i)
    {
#pragma omp atomic
      sum += i;
    }
  }
  check("many target tasks", sum, sum_below(100));
  int alone = 0;
#pragma omp target nowait map(tofrom : alone)
  alone = 8;
#pragma omp taskwait
  check("nowait outside of regions", alone, 8);
  long tasks_sum = 0;
#pragma omp target map(tofrom : tasks_sum)
#pragma omp parallel num_threads(4)
#pragma omp single
#pragma omp taskloop num_tasks(7)
  for (int i = 0; i < 200; ++i) {
#pragma omp atomic
    tasks_sum += i;
  }
  check("tasks in a target region", tasks_sum, sum_below(200));
}

void devices() {
  int where = 0;
#pragma omp target if (0) map(from : where)
  where = 1 + omp_is_initial_device();
  check("if", where, 2);
#pragma omp target device(omp_get_initial_device()) map(from : where)
  where = 2 + omp_is_initial_device();
  check("device", where, 3);
  check("devices", omp_get_num_devices(), 0);
  const int host = omp_get_initial_device();
  int* memory = static_cast<int*>(omp_target_alloc(count * sizeof(int), host));
  int sum = 0;
#pragma omp target is_device_ptr(memory) map(tofrom : sum)
  {
    for (int i = 0; i < count; ++i)
      memory[i] = 3;
    for (int i = 0; i < count; ++i)
      sum += memory[i];
  }
  check("allocated", sum, 3 * count);
  int copy = 0;
  check("copy", omp_target_memcpy(&copy, memory, sizeof copy, 0, 4, host, host), 0);
  check("copied", copy, 3);
  omp_target_free(memory, host);
}

/// What omp_set_*() can change, as one number.
long settings() {
  omp_sched_t schedule{};
  int chunk = 0;
  omp_get_schedule(&schedule, &chunk);
  return omp_get_max_threads() + 100L * omp_get_dynamic() + 1000L * omp_get_max_active_levels() +
         1000000L * static_cast<long>(schedule & 7) + 10000000L * chunk;
}

void change_settings(int by) {
  omp_set_num_threads(20 + by);
  omp_set_dynamic(1 - omp_get_dynamic());
  omp_set_max_active_levels(4 + by);
  omp_set_schedule(omp_sched_guided, 6 + by);
}

// A device has settings of its own, which begin as the environment says.
void control_variables() {
  const long before = settings();
  change_settings(0);
  const long changed = settings();
  check("settings changed", changed != before, 1);
  long seen = 0;
  int forked = 0;
#pragma omp target map(tofrom : seen, forked)
  {
    seen = settings();
    change_settings(1);
#pragma omp parallel num_threads(2)
    {
#pragma omp single
      forked = omp_get_max_threads();
    }
  }
  check("settings of a device", seen, before);
  check("settings of its regions", forked, 21);
  check("settings behind a target region", settings(), changed);
#pragma omp target if (0) map(from : seen)
  seen = settings();
  check("settings of the host as a device", seen, before);
}

// With OMP_TARGET_OFFLOAD=mandatory, too, since the host is what these constructs name.
void on_the_host_as_requested() {
  int count_here = 0;
#pragma omp target if (count_here) map(tofrom : count_here)
  count_here++;
#pragma omp target device(omp_get_initial_device()) map(tofrom : count_here)
  count_here++;
  omp_set_default_device(omp_get_initial_device());
#pragma omp target map(tofrom : count_here)
  count_here++;
  std::printf("on the host: %d\n", count_here);
}

}  // namespace

int main(int count_of_arguments, char**) {
  if (count_of_arguments > 1) {
    on_the_host_as_requested();
    return 0;
  }
  maps();
  copies();
  data_regions();
  teams();
  parallel();
  tasks();
  devices();
  control_variables();
  if (failures == 0) std::puts("all target constructs agree");
  return failures == 0 ? 0 : 1;
}
