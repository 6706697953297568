#include "program/state/thread_keys.hpp"

#include <cerrno>
#include <mutex>

#include "base/check.hpp"
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

/// Made at the first call; nothing: the C library has no more.
std::optional<pthread_key_t> ThreadKeys::shared_key(std::size_t slot) {
  static auto* const real = next_definition<decltype(::pthread_key_create)>("pthread_key_create");
  std::atomic<pthread_key_t>& known = key_of_slot_[slot];
  if (known.load() == 0) {
    const std::lock_guard lock(shared_keys);
    pthread_key_t made{};
    if (known.load() == 0 && real(&made, end_cell) != 0) return std::nullopt;
    if (known.load() == 0) known.store(made + 1);
  }
  return known.load() - 1;
}

int ThreadKeys::create(pthread_key_t& key, Destructor at_end) {
  while (is_locked_.test_and_set(std::memory_order_acquire))
    os::yield_core();
  if (entries_ == nullptr) entries_ = make_entries();
  int error = entries_ == nullptr ? ENOMEM : EAGAIN;
  for (std::size_t slot = 0; entries_ != nullptr && slot < key_count_max; ++slot) {
    Entry& entry = entries_[slot];
    if (entry.is_in_use()) continue;
    // Needed by threads only, but a program expects here that there are no more.
    if (!shared_key(slot)) break;
    error = 0;
    key = first_number + static_cast<pthread_key_t>(slot);
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

void ThreadKeys::check_invariants() const {
  const std::size_t used = used_count();
  for (std::size_t slot = used; entries_ != nullptr && slot < key_count_max; ++slot) {
    const Entry& entry = entries_[slot];
    SORREL_CHECK(generation(slot) == 0 && entry.value == nullptr,
                 "key %zu behind the %zu that were made has a value", slot, used);
  }
}

unsigned ThreadKeys::generation(std::size_t slot) const {
  SORREL_ASSERT(slot < key_count_max, "key %zu", slot);
  const Entry* entry = this->entry(slot);
  return entry == nullptr ? 0 : entry->generation.load(std::memory_order_acquire);
}

ThreadKeys::Destructor ThreadKeys::destructor(std::size_t slot) const {
  const Entry* entry = this->entry(slot);
  return entry == nullptr ? nullptr : entry->destructor.load(std::memory_order_relaxed);
}

std::size_t ThreadKeys::used_count() const {
  std::size_t count = 0;
  // The first free one is used next.
  while (entries_ != nullptr && count < key_count_max && generation(count) != 0)
    ++count;
  return count;
}

void ThreadKeys::run_destructors() {
  bool any = true;
  for (int round = 0; any && round < PTHREAD_DESTRUCTOR_ITERATIONS; ++round) {
    any = false;
    for (std::size_t slot = 0; slot < used_count(); ++slot) {
      void* value = this->value(slot);
      const Destructor at_end = destructor(slot);
      if (value == nullptr || at_end == nullptr) continue;
      set_value(slot, nullptr);
      call_program(at_end, value);
      any = true;
    }
  }
}

void ThreadKeys::save(ByteWriter& to) const {
  to.add(used_count());
  for (std::size_t slot = 0; slot < used_count(); ++slot) {
    to.add(generation(slot));
    to.add(destructor(slot));
    to.add(entries_[slot].value);
  }
}

void ThreadKeys::restore(ByteCursor& from) {
  SORREL_ASSERT(entries_ == nullptr, "a rank with %zu keys is restored", used_count());
  const auto count = from.take<std::size_t>();
  if (count == 0 || count > key_count_max) return;
  entries_ = make_entries();
  SORREL_CHECK(entries_ != nullptr, "no memory for keys of thread-specific values");
  for (std::size_t slot = 0; slot < count && from.is_good(); ++slot) {
    Entry& entry = entries_[slot];
    entry.generation.store(from.take<unsigned>(), std::memory_order_relaxed);
    entry.destructor.store(from.take<Destructor>(), std::memory_order_relaxed);
    entry.value = from.take<void*>();
  }
}

void* ThreadKeys::value_in_thread(std::size_t slot) {
  const pthread_key_t key = key_of_slot_[slot].load();
  if (key == 0) return nullptr;
  const Cell* cell = static_cast<Cell*>(real_get()(key - 1));
  return cell == nullptr || cell->is_stale() ? nullptr : cell->value;
}

int ThreadKeys::set_value_in_thread(ThreadKeys* keys, std::size_t slot, void* value) {
  // The rank may have made its key in another process.
  const std::optional<pthread_key_t> key = shared_key(slot);
  if (!key) return ENOMEM;
  auto* cell = static_cast<Cell*>(real_get()(*key));
  if (cell == nullptr) {
    static auto* const real_set =
        next_definition<decltype(::pthread_setspecific)>("pthread_setspecific");
    auto made = std::make_unique<Cell>();
    const int error = real_set(*key, made.get());
    if (error != 0) return error;
    cell = made.release();
  }
  const unsigned generation = keys == nullptr ? 0 : keys->generation(slot);
  *cell = {.keys = keys, .slot = slot, .generation = generation, .value = value};
  return 0;
}

}  // namespace sorrel::program
