#include "core/binding.hpp"

#include <optional>
#include <utility>

#include "os/clock.hpp"
#include "os/cpu_set.hpp"

namespace sorrel::core {

void Binding::begin(int cpu, std::vector<int> allowed) {
  cpu_ = cpu;
  own_thread_ = os::thread_number();
  allowed_ = std::move(allowed);
  bind();
}

void Binding::bind() {
  // Fails if the administrator has changed the allowed set since: then the worker is not bound.
  if (!os::set_allowed_cpus(own_thread_, {&cpu_, 1})) return;
  is_released_ = false;
  if (allowed_.size() > 1) thread_.store(own_thread_, std::memory_order_relaxed);
}

void Binding::release() {
  const int thread = thread_.exchange(0, std::memory_order_relaxed);
  if (thread != 0 && os::allowed_cpus(thread) == std::vector{cpu_})
    os::set_allowed_cpus(thread, allowed_);
}

void Binding::update(std::int64_t now_ns) {
  if (allowed_.size() < 2 || bound_thread() != 0) return;
  if (!std::exchange(is_released_, true)) {
    pause_.record_release(now_ns);
    return;
  }
  // The program may have changed the cpus.
  if (!pause_.is_over(now_ns) || os::allowed_cpus(own_thread_) != allowed_) return;
  bind();
  pause_.record_bound(now_ns);
}

void BindingWatch::observe(std::uint32_t worker, Binding& binding) {
  const int thread = binding.bound_thread();
  if (thread == 0) return;
  const std::optional<os::RunTimes> times = os::SchedStat(thread).read();
  if (!times) return;
  Reading& reading = readings_[worker];
  const Reading before = std::exchange(reading, {.thread = thread, .times = *times});
  if (before.thread == thread && is_starved(before.times, *times)) binding.release();
}

}  // namespace sorrel::core
