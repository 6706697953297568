#include "program/state/thread_keys.hpp"

#include <cerrno>
#include <mutex>

#include "os/thread.hpp"
#include "program/base/libc.hpp"
#include "program/base/program_calls.hpp"

namespace sorrel::program {

namespace {

std::mutex shared_keys;

auto* real_get() {
  static auto* const real = next_definition<decltype(::pthread_getspecific)>("pthread_getspecific");
  return real;
}

}  // namespace

/// At the end of a thread that has set a value.
void ThreadKeys::end_cell(void* argument) {
  const std::unique_ptr<Cell> cell(static_cast<Cell*>(argument));
  if (cell->keys == nullptr || cell->value == nullptr || cell->is_stale()) return;
  const Destructor destructor = cell->keys->destructor(cell->slot);
  if (destructor != nullptr) call_program(destructor, cell->value);
}

/// Makes the C library's key for a slot; returns an error if it has no more.
int ThreadKeys::make_shared_key(std::size_t slot, pthread_key_t& key) {
  static auto* const real = next_definition<decltype(::pthread_key_create)>("pthread_key_create");
  const std::lock_guard lock(shared_keys);
  if (key_of_slot_[slot].load() == 0) {
    const int error = real(&key, end_cell);
    if (error != 0) return error;
    slot_of_key_[key].store(slot + 1, std::memory_order_relaxed);
    key_of_slot_[slot].store(key + 1);
  }
  key = key_of_slot_[slot].load() - 1;
  return 0;
}

int ThreadKeys::create(pthread_key_t& key, Destructor at_end) {
  while (is_locked_.test_and_set(std::memory_order_acquire))
    os::yield_core();
  if (entries_ == nullptr)
    entries_.reset(static_cast<Entry*>(std::calloc(key_count_max, sizeof(Entry))));
  int error = entries_ == nullptr ? ENOMEM : EAGAIN;
  for (std::size_t slot = 0; entries_ != nullptr && slot < key_count_max; ++slot) {
    Entry& entry = entries_[slot];
    if (entry.is_in_use()) continue;
    error = make_shared_key(slot, key);
    if (error != 0) break;
    entry.value = nullptr;
    entry.destructor.store(at_end, std::memory_order_relaxed);
    entry.generation.fetch_add(1, std::memory_order_release);
    break;
  }
  is_locked_.clear(std::memory_order_release);
  return error;
}

int ThreadKeys::remove(std::size_t slot) {
  Entry* entry = this->entry(slot);
  if (entry == nullptr || !entry->is_in_use()) return EINVAL;
  entry->generation.fetch_add(1, std::memory_order_release);
  return 0;
}

int ThreadKeys::set_value(std::size_t slot, void* value) {
  Entry* entry = this->entry(slot);
  if (entry == nullptr || !entry->is_in_use()) return EINVAL;
  entry->value = value;
  return 0;
}

unsigned ThreadKeys::generation(std::size_t slot) const {
  const Entry* entry = this->entry(slot);
  return entry == nullptr ? 0 : entry->generation.load(std::memory_order_acquire);
}

ThreadKeys::Destructor ThreadKeys::destructor(std::size_t slot) const {
  const Entry* entry = this->entry(slot);
  return entry == nullptr ? nullptr : entry->destructor.load(std::memory_order_relaxed);
}

void ThreadKeys::run_destructors() {
  bool any = entries_ != nullptr;
  for (int round = 0; any && round < PTHREAD_DESTRUCTOR_ITERATIONS; ++round) {
    any = false;
    for (std::size_t slot = 0; slot < key_count_max; ++slot) {
      // Slots are used in order: the later ones are unused, too.
      if (key_of_slot_[slot].load(std::memory_order_relaxed) == 0) break;
      void* value = this->value(slot);
      const Destructor at_end = destructor(slot);
      if (value == nullptr || at_end == nullptr) continue;
      set_value(slot, nullptr);
      call_program(at_end, value);
      any = true;
    }
  }
}

void* ThreadKeys::value_in_thread(pthread_key_t key) {
  const Cell* cell = static_cast<Cell*>(real_get()(key));
  return cell == nullptr || cell->is_stale() ? nullptr : cell->value;
}

int ThreadKeys::set_value_in_thread(ThreadKeys* keys, pthread_key_t key, void* value) {
  const std::size_t slot = *slot_of(key);
  auto* cell = static_cast<Cell*>(real_get()(key));
  if (cell == nullptr) {
    static auto* const real_set =
        next_definition<decltype(::pthread_setspecific)>("pthread_setspecific");
    auto made = std::make_unique<Cell>();
    const int error = real_set(key, made.get());
    if (error != 0) return error;
    cell = made.release();
  }
  const unsigned generation = keys == nullptr ? 0 : keys->generation(slot);
  *cell = {.keys = keys, .slot = slot, .generation = generation, .value = value};
  return 0;
}

}  // namespace sorrel::program
