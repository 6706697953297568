#include "tools/sorrel/machine/machine_probe.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fmt/core.h>
#include <fstream>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "base/copy_bytes.hpp"
#include "base/small_file.hpp"
#include "os/clock.hpp"
#include "os/cpu_set.hpp"
#include "os/machine_name.hpp"
#include "tools/sorrel/common/cache_file.hpp"
#include "tools/sorrel/machine/other_work.hpp"
#include "tools/sorrel/machine/worker_plan.hpp"

namespace sorrel::tool {

namespace {

constexpr std::int64_t handover_budget_ns = 15'000'000;
constexpr std::int64_t wake_budget_ns = 20'000'000;
constexpr std::int64_t copy_budget_ns = 10'000'000;
constexpr std::size_t bytes_copied = 64u << 10;

/// The turn: even numbers belong to the first thread, odd ones to the second.
struct alignas(64) Turn {
  std::atomic<std::uint32_t> number{0};
};

void stay_on(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

/// Passes the turn back and forth until the time is over; returns the ns of one pass, the least
/// over all batches. wait(number, seen) returns when the number differs from `seen`; notify(number)
/// is called after each change.
template <class Wait, class Notify>
double pass_turns(std::int64_t budget_ns,
                  const std::vector<int>& cpus,
                  Wait&& wait,
                  Notify&& notify) {
  // Small, so that some batches are not interrupted on a busy machine.
  constexpr std::uint32_t batch = 20;
  constexpr std::uint32_t over = UINT32_MAX;
  Turn turn;
  std::thread second([&] {
    stay_on(cpus.back());
    for (std::uint32_t seen = 0;;) {
      wait(turn.number, seen);
      // Acquire and release: each turn happens after the previous one.
      seen = turn.number.load(std::memory_order_acquire);
      if (seen == over) return;
      turn.number.store(++seen, std::memory_order_release);
      notify(turn.number);
    }
  });
  double least = 1e9;
  std::uint32_t number = 0;
  const std::int64_t end = os::monotonic_ns() + budget_ns;
  do {
    const std::int64_t start = os::monotonic_ns();
    for (std::uint32_t i = 0; i < batch; ++i) {
      turn.number.store(number + 1, std::memory_order_release);
      notify(turn.number);
      wait(turn.number, number + 1);
      number += 2;
    }
    least = std::min(least, static_cast<double>(os::monotonic_ns() - start) / (2.0 * batch));
  } while (os::monotonic_ns() < end);
  turn.number.store(over, std::memory_order_release);
  notify(turn.number);
  second.join();
  return least;
}

double measure_handover(const std::vector<int>& cpus) {
  return pass_turns(
      handover_budget_ns, cpus,
      [&](const std::atomic<std::uint32_t>& number, std::uint32_t seen) {
        // Acquire: the writes before the change of turn are seen. Both threads may share a cpu:
        // yield it.
        while (number.load(std::memory_order_acquire) == seen)
          if (cpus.size() < 2) sched_yield();
      },
      [](const std::atomic<std::uint32_t>&) {});
}

double measure_wake(const std::vector<int>& cpus) {
  return pass_turns(
      wake_budget_ns, cpus,
      [](std::atomic<std::uint32_t>& number, std::uint32_t seen) {
        // Acquire, as above; the futex checks again before it sleeps.
        while (number.load(std::memory_order_acquire) == seen)
          syscall(SYS_futex, &number, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
      },
      [](std::atomic<std::uint32_t>& number) {
        syscall(SYS_futex, &number, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
      });
}

double measure_copy() {
  std::vector<char> from(bytes_copied, 1);
  std::vector<char> to(bytes_copied, 2);
  double least = 1e9;
  const std::int64_t end = os::monotonic_ns() + copy_budget_ns;
  do {
    const std::int64_t start = os::monotonic_ns();
    copy_bytes(to.data(), from.data(), bytes_copied);
    // Keeps the compiler from removing the copy.
    __asm__ volatile("" : : "r"(to.data()) : "memory");
    least = std::min(least, static_cast<double>(os::monotonic_ns() - start));
  } while (os::monotonic_ns() < end);
  return static_cast<double>(bytes_copied) / least;
}

/// The parameters on which the figures depend, in one line.
std::string machine_key() {
  utsname names{};
  uname(&names);
  return fmt::format("{};{} {};{};{}", os::processor_name(), names.release, names.version,
                     os::format_cpu_ranges(read_machine_limits().allowed_cpus), SORREL_VERSION);
}

// One busy process on two cpus takes a half; 50 ms are only a few ticks of the kernel's clock per
// cpu.
constexpr double other_work_max = 0.25;

}  // namespace

bool MachineProbe::is_of_a_quiet_machine() const {
  return other_work <= other_work_max;
}

MachineProbe measure_machine() {
  std::vector<int> cpus = choose_cpus(2, read_machine_limits(),
                                      [] { return read_topology(TopologyDetail::threads_only); });
  if (cpus.empty()) cpus = {sched_getcpu()};
  MachineProbe probe;
  const OtherWork other_work;
  // On own threads, so that the caller keeps its cpu.
  std::exception_ptr error;
  std::thread([&] {
    try {
      stay_on(cpus.front());
      probe = {.handover_ns = measure_handover(cpus),
               .wake_ns = measure_wake(cpus),
               .copy_bytes_per_ns = measure_copy(),
               .other_work = 0,
               .date = date_now()};
    } catch (...) {
      // The system allows no second thread.
      error = std::current_exception();
    }
  }).join();
  if (error) std::rethrow_exception(error);
  probe.other_work = other_work.share();
  return probe;
}

MachineProbe probe_machine() {
  const std::string key = machine_key();
  const std::string path = cache_path("probe");
  constexpr std::size_t kept_bytes_max = 4096;
  if (std::string text; read_small_file(path, kept_bytes_max, text).empty()) {
    if (const auto kept = read_probe(text, key)) return *kept;
  }
  const MachineProbe probe = measure_machine();
  if (probe.is_of_a_quiet_machine()) keep_file(path, write_probe(probe, key));
  return probe;
}

std::string write_probe(const MachineProbe& probe, std::string_view key) {
  return fmt::format("{}\n{} {} {} {} {}\n", key, probe.handover_ns, probe.wake_ns,
                     probe.copy_bytes_per_ns, probe.other_work, probe.date);
}

std::optional<MachineProbe> read_probe(const std::string& text, std::string_view key) {
  const std::size_t end = text.find('\n');
  if (end == std::string::npos || text.substr(0, end) != key) return std::nullopt;
  MachineProbe probe;
  char date[32] = "";
  // Earlier versions wrote only three numbers.
  if (std::sscanf(text.c_str() + end, "%lf %lf %lf %lf %31[^\n]", &probe.handover_ns,
                  &probe.wake_ns, &probe.copy_bytes_per_ns, &probe.other_work, date) < 3)
    return std::nullopt;
  probe.date = date;
  // Longer than on any machine: other processes had the cores all the time.
  constexpr double handover_ns_believed = 20'000;
  const bool is_sound = probe.handover_ns > 0 && probe.handover_ns < handover_ns_believed &&
                        probe.wake_ns > 0 && probe.copy_bytes_per_ns > 0;
  return is_sound ? std::optional(probe) : std::nullopt;
}

}  // namespace sorrel::tool
