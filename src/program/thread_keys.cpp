#include "program/thread_keys.hpp"

#include <array>
#include <cerrno>
#include <climits>
#include <memory>
#include <mutex>

#include "os/thread.hpp"
#include "program/libc.hpp"
#include "program/rank_process.hpp"

namespace sorrel::program {

namespace {

constexpr std::size_t key_count_max = PTHREAD_KEYS_MAX;

/// The value of a key in a thread that a rank has started.
struct Cell {
  RankProcess* process;
  std::size_t slot;
  unsigned generation;
  void* value;
};

// For all ranks: the C library's key of each slot, and the inverse; 0: none, else one more.
std::array<std::atomic<pthread_key_t>, key_count_max> key_of_slot;
std::array<std::atomic<std::size_t>, key_count_max> slot_of_key;
std::mutex shared_keys;

auto* real_get() {
  static auto* const real = next_definition<decltype(::pthread_getspecific)>("pthread_getspecific");
  return real;
}

auto* real_set() {
  static auto* const real = next_definition<decltype(::pthread_setspecific)>("pthread_setspecific");
  return real;
}

auto* real_create() {
  static auto* const real = next_definition<decltype(::pthread_key_create)>("pthread_key_create");
  return real;
}

/// At the end of a thread that has set a value.
void end_cell(void* argument) {
  const std::unique_ptr<Cell> cell(static_cast<Cell*>(argument));
  if (cell->process == nullptr || cell->value == nullptr) return;
  const ThreadKeys& keys = cell->process->thread_keys();
  if (keys.generation(cell->slot) != cell->generation) return;
  const ThreadKeys::Destructor destructor = keys.destructor(cell->slot);
  if (destructor != nullptr) destructor(cell->value);
}

/// Makes the C library's key for a slot; returns an error if it has no more.
int make_shared_key(std::size_t slot, pthread_key_t& key) {
  const std::lock_guard lock(shared_keys);
  if (key_of_slot[slot].load() == 0) {
    const int error = real_create()(&key, end_cell);
    if (error != 0) return error;
    slot_of_key[key].store(slot + 1, std::memory_order_relaxed);
    key_of_slot[slot].store(key + 1);
  }
  key = key_of_slot[slot].load() - 1;
  return 0;
}

/// The slot of a key that belongs to a rank; none for the C library's own.
constexpr std::size_t no_slot = key_count_max;

std::size_t slot_of(pthread_key_t key) {
  if (key >= key_count_max) return no_slot;
  const std::size_t slot = slot_of_key[key].load(std::memory_order_relaxed);
  return slot == 0 ? no_slot : slot - 1;
}

bool is_in_use(unsigned generation) {
  return generation % 2 != 0;
}

}  // namespace

ThreadKeys::Entry* ThreadKeys::entry(std::size_t slot) const {
  return entries_ == nullptr ? nullptr : &entries_[slot];
}

int ThreadKeys::create(pthread_key_t& key, Destructor at_end) {
  while (is_locked_.test_and_set(std::memory_order_acquire))
    os::yield_core();
  if (entries_ == nullptr)
    entries_.reset(static_cast<Entry*>(std::calloc(key_count_max, sizeof(Entry))));
  int error = entries_ == nullptr ? ENOMEM : EAGAIN;
  for (std::size_t slot = 0; entries_ != nullptr && slot < key_count_max; ++slot) {
    Entry& entry = entries_[slot];
    if (is_in_use(entry.generation.load(std::memory_order_relaxed))) continue;
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
  if (entry == nullptr || !is_in_use(entry->generation)) return EINVAL;
  entry->generation.fetch_add(1, std::memory_order_release);
  return 0;
}

void* ThreadKeys::value(std::size_t slot) const {
  const Entry* entry = this->entry(slot);
  return entry == nullptr || !is_in_use(entry->generation.load(std::memory_order_relaxed))
             ? nullptr
             : entry->value;
}

int ThreadKeys::set_value(std::size_t slot, void* value) {
  Entry* entry = this->entry(slot);
  if (entry == nullptr || !is_in_use(entry->generation.load(std::memory_order_relaxed)))
    return EINVAL;
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
      if (key_of_slot[slot].load(std::memory_order_relaxed) == 0) break;
      void* value = this->value(slot);
      const Destructor at_end = destructor(slot);
      if (value == nullptr || at_end == nullptr) continue;
      set_value(slot, nullptr);
      at_end(value);
      any = true;
    }
  }
}

}  // namespace sorrel::program

using namespace sorrel::program;

SORREL_INTERPOSED int pthread_key_create(pthread_key_t* key, void (*destructor)(void*)) noexcept {
  RankProcess* process = current_rank_process();
  if (process == nullptr && !is_of_this_library(__builtin_return_address(0)))
    process = starter_of_thread();
  const auto caller = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  if (process == nullptr || !process->copy().contains(caller))
    return real_create()(key, destructor);
  return process->thread_keys().create(*key, destructor);
}

SORREL_INTERPOSED int pthread_key_delete(pthread_key_t key) noexcept {
  static auto* const real = next_definition<decltype(::pthread_key_delete)>("pthread_key_delete");
  const std::size_t slot = slot_of(key);
  if (slot == no_slot) return real(key);
  RankProcess* process = current_rank_process();
  if (process == nullptr) process = starter_of_thread();
  return process == nullptr ? EINVAL : process->thread_keys().remove(slot);
}

SORREL_INTERPOSED void* pthread_getspecific(pthread_key_t key) noexcept {
  const std::size_t slot = slot_of(key);
  if (slot == no_slot) return real_get()(key);
  if (RankProcess* process = current_rank_process()) return process->thread_keys().value(slot);
  const Cell* cell = static_cast<Cell*>(real_get()(key));
  if (cell == nullptr) return nullptr;
  const bool is_stale =
      cell->process != nullptr && cell->process->thread_keys().generation(slot) != cell->generation;
  return is_stale ? nullptr : cell->value;
}

SORREL_INTERPOSED int pthread_setspecific(pthread_key_t key, const void* value) noexcept {
  const std::size_t slot = slot_of(key);
  if (slot == no_slot) return real_set()(key, value);
  auto* const own = const_cast<void*>(value);
  if (RankProcess* process = current_rank_process())
    return process->thread_keys().set_value(slot, own);
  RankProcess* starter = starter_of_thread();
  const unsigned generation = starter == nullptr ? 0 : starter->thread_keys().generation(slot);
  auto* cell = static_cast<Cell*>(real_get()(key));
  if (cell == nullptr) {
    auto made = std::make_unique<Cell>();
    const int error = real_set()(key, made.get());
    if (error != 0) return error;
    cell = made.release();
  }
  *cell = {.process = starter, .slot = slot, .generation = generation, .value = own};
  return 0;
}
