#include "program/rank/device_settings.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "core/scheduler.hpp"
#include "core/worker.hpp"

namespace sorrel::program {

namespace {

struct DeviceSettings {
  const ThreadSettings* settings;
  void* context;
};

// Release and acquire: the contexts of threads are made before.
std::atomic<void (*)(void*)> set_context{nullptr};

/// The contexts that the threads of workers have. Each worker uses its own element alone.
std::vector<void*>& thread_contexts(const core::Worker& worker) {
  static auto& contexts = *new std::vector<void*>(worker.scheduler().worker_count());
  return contexts;
}

/// A pair differs from ThreadSettings, which are aligned, in the lowest bit of its address.
constexpr std::uintptr_t pair_bit = 1;

const DeviceSettings* pair_of(const void* settings) {
  const auto address = reinterpret_cast<std::uintptr_t>(settings);
  return (address & pair_bit) == 0 ? nullptr
                                   : reinterpret_cast<const DeviceSettings*>(address - pair_bit);
}

/// The pair that all ranks with these values share. Pairs stay: there are few.
const void* pair_address(const ThreadSettings* settings, void* context) {
  using Key = std::pair<const ThreadSettings*, void*>;
  static std::mutex& mutex = *new std::mutex;
  static auto& pairs = *new std::map<Key, DeviceSettings>;
  const std::scoped_lock lock(mutex);
  const DeviceSettings& pair =
      pairs.try_emplace(Key(settings, context), DeviceSettings{settings, context}).first->second;
  return reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(&pair) + pair_bit);
}

void* context_of(const void* settings) {
  const DeviceSettings* pair = pair_of(settings);
  return pair != nullptr ? pair->context : nullptr;
}

const void* joined(const ThreadSettings* settings, void* context) {
  return context != nullptr ? pair_address(settings, context) : settings;
}

}  // namespace

void set_device_context_setter(void (*setter)(void* context)) {
  set_context.store(setter, std::memory_order_release);
}

const ThreadSettings* thread_settings_of(const void* settings) {
  const DeviceSettings* pair = pair_of(settings);
  return pair != nullptr ? pair->settings : static_cast<const ThreadSettings*>(settings);
}

const void* with_device_context(const core::Fiber& fiber, const ThreadSettings* settings) {
  return joined(settings, context_of(fiber.settings));
}

void use_device_context(core::Fiber& fiber, void* context) {
  fiber.settings = joined(thread_settings_of(fiber.settings), context);
  apply_device_context(*fiber.worker, fiber.settings);
}

void apply_device_context(const core::Worker& worker, const void* settings) {
  auto* setter = set_context.load(std::memory_order_acquire);
  if (setter == nullptr) return;
  void*& now = thread_contexts(worker)[worker.index()];
  void* next = context_of(settings);
  if (next == now) return;
  setter(next);
  now = next;
}

}  // namespace sorrel::program
