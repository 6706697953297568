#include "program/rank/device_states.hpp"

#include <atomic>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace sorrel::program {

namespace {

// Relaxed: a rank reads what it has set itself, and reports may be early.
std::atomic<bool> has_any{false};

std::mutex& states_mutex() {
  static std::mutex& mutex = *new std::mutex;
  return mutex;
}

std::unordered_map<const RankProcess*, std::unique_ptr<DeviceState>>& states() {
  static auto& all = *new std::unordered_map<const RankProcess*, std::unique_ptr<DeviceState>>;
  return all;
}

}  // namespace

DeviceState* device_state_of(const RankProcess& process) {
  if (!has_any.load(std::memory_order_relaxed)) return nullptr;
  const std::scoped_lock lock(states_mutex());
  const auto found = states().find(&process);
  return found != states().end() ? found->second.get() : nullptr;
}

DeviceState& set_device_state(const RankProcess& process, std::unique_ptr<DeviceState> state) {
  const std::scoped_lock lock(states_mutex());
  has_any.store(true, std::memory_order_relaxed);
  return *states().try_emplace(&process, std::move(state)).first->second;
}

void end_device_state(const RankProcess& process) {
  if (DeviceState* state = device_state_of(process); state != nullptr) state->end();
}

void remove_device_state(const RankProcess& process) {
  if (!has_any.load(std::memory_order_relaxed)) return;
  const std::scoped_lock lock(states_mutex());
  states().erase(&process);
}

}  // namespace sorrel::program
