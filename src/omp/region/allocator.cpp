#include "omp/region/allocator.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <unordered_set>

#include "omp/kernel/spin_lock.hpp"

namespace sorrel::omp {

namespace {

constexpr AllocatorHandle predefined_max = 8;
constexpr std::uintptr_t space_max = 4;
constexpr std::size_t alignment_min = 16;

// The numbers of omp_alloctrait_key_t and omp_alloctrait_value_t.
enum Key : int {
  sync_hint = 1,
  alignment = 2,
  access = 3,
  pool_size = 4,
  fallback = 5,
  fallback_data = 6,
  pinned = 7,
  partition = 8
};

constexpr std::uintptr_t value_default = ~std::uintptr_t{0};
constexpr std::uintptr_t value_false = 0;
constexpr std::uintptr_t sync_hint_first = 3;
constexpr std::uintptr_t sync_hint_last = 6;
constexpr std::uintptr_t access_first = 7;
constexpr std::uintptr_t access_last = 10;
constexpr std::uintptr_t fallback_first = 11;
constexpr std::uintptr_t fallback_last = 14;
constexpr std::uintptr_t partition_first = 15;
constexpr std::uintptr_t partition_last = 18;

enum class Fallback : std::uintptr_t { default_memory = 11, null = 12, abort = 13, other = 14 };

struct Allocator {
  std::size_t alignment = 1;
  std::size_t pool_bytes = std::numeric_limits<std::size_t>::max();
  Fallback fallback = Fallback::default_memory;
  AllocatorHandle other = null_allocator;
  std::atomic<std::size_t> used_bytes{0};

  [[nodiscard]] bool has_pool() const {
    return pool_bytes != std::numeric_limits<std::size_t>::max();
  }

  /// Whether the pool has room for the block, which is then counted.
  bool charge(std::size_t bytes) {
    if (!has_pool()) return true;
    // Relaxed: a number by itself.
    std::size_t used = used_bytes.load(std::memory_order_relaxed);
    do {
      if (bytes > pool_bytes || used > pool_bytes - bytes) return false;
    } while (!used_bytes.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    return true;
  }

  void refund(std::size_t bytes) {
    if (has_pool()) used_bytes.fetch_sub(bytes, std::memory_order_relaxed);
  }
};

struct Allocatables {
  SpinLock lock;
  std::unordered_set<const void*>* addresses = nullptr;
};

constinit Allocatables allocatables;

/// Lies directly below the memory that the program gets.
struct Header {
  void* block;
  std::size_t bytes;          ///< that the program has requested
  std::size_t charged_bytes;  ///< to the pool: those of the whole block
  AllocatorHandle allocator;
};

Allocator* made_by_program(AllocatorHandle handle) {
  return handle <= predefined_max ? nullptr : reinterpret_cast<Allocator*>(handle);
}

Header& header_of(void* memory) {
  return *reinterpret_cast<Header*>(static_cast<std::byte*>(memory) - sizeof(Header));
}

bool is_within(std::uintptr_t value, std::uintptr_t first, std::uintptr_t last) {
  return value == value_default || (value >= first && value <= last);
}

/// False if the value is invalid, or not supported.
bool apply(const AllocatorTrait& trait, Allocator& allocator) {
  const bool is_default = trait.value == value_default;
  switch (trait.key) {
    case sync_hint:
      return is_within(trait.value, sync_hint_first, sync_hint_last);
    case alignment:
      if (!is_default && !std::has_single_bit(trait.value)) return false;
      allocator.alignment = is_default ? 1 : trait.value;
      return true;
    case access:
      return is_within(trait.value, access_first, access_last);
    case pool_size:
      allocator.pool_bytes = trait.value;
      return true;
    case fallback:
      if (!is_within(trait.value, fallback_first, fallback_last)) return false;
      allocator.fallback =
          is_default ? Fallback::default_memory : static_cast<Fallback>(trait.value);
      return true;
    case fallback_data:
      allocator.other = trait.value;
      return true;
    case pinned:
      return is_default || trait.value == value_false;
    case partition:
      return is_within(trait.value, partition_first, partition_last);
    default:
      return false;
  }
}

std::size_t alignment_of(const MemoryRequest& request) {
  const Allocator* const made = made_by_program(request.allocator);
  const std::size_t least = std::max(request.alignment, alignment_min);
  return made == nullptr ? least : std::max(least, made->alignment);
}

/// Bytes of the block that satisfies the request; the largest number if there can be none.
std::size_t block_bytes(const MemoryRequest& request) {
  const std::size_t extra = alignment_of(request) + sizeof(Header);
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  return request.bytes > most - extra ? most : request.bytes + extra;
}

/// A block with its header, or null. It is counted already.
void* new_block(const MemoryRequest& request, std::size_t bytes) {
  if (bytes == std::numeric_limits<std::size_t>::max()) return nullptr;
  const std::size_t alignment = alignment_of(request);
  void* const block = request.is_zeroed ? std::calloc(1, bytes) : std::malloc(bytes);
  if (block == nullptr) return nullptr;
  const auto least = reinterpret_cast<std::uintptr_t>(block) + sizeof(Header);
  auto* const memory =
      reinterpret_cast<std::byte*>((least + alignment - 1) & ~(std::uintptr_t{alignment} - 1));
  new (memory - sizeof(Header)) Header{block, request.bytes, bytes, request.allocator};
  return memory;
}

[[noreturn]] void abort_without(std::size_t bytes) {
  std::fprintf(stderr, "sorrel: OpenMP: not enough memory for %zu bytes\n", bytes);
  std::exit(EXIT_FAILURE);
}

}  // namespace

AllocatorHandle make_allocator(std::uintptr_t space, std::span<const AllocatorTrait> traits) {
  if (space > space_max) return null_allocator;
  auto* const made = new Allocator;
  const auto is_applied = [&](const AllocatorTrait& trait) { return apply(trait, *made); };
  if (!std::ranges::all_of(traits, is_applied)) {
    delete made;
    return null_allocator;
  }
  return reinterpret_cast<AllocatorHandle>(made);
}

void destroy_allocator(AllocatorHandle allocator) {
  delete made_by_program(allocator);
}

void* allocate(const MemoryRequest& request) {
  if (request.bytes == 0) return nullptr;
  MemoryRequest now = request;
  for (;;) {
    Allocator* const made = made_by_program(now.allocator);
    const std::size_t bytes = block_bytes(now);
    if (made == nullptr || made->charge(bytes)) {
      if (void* const memory = new_block(now, bytes)) return memory;
      if (made != nullptr) made->refund(bytes);
    }
    if (made == nullptr) return nullptr;
    switch (made->fallback) {
      case Fallback::default_memory:
        now.allocator = default_allocator;
        break;
      case Fallback::null:
        return nullptr;
      case Fallback::abort:
        abort_without(now.bytes);
      case Fallback::other:
        if (made->other == null_allocator) return nullptr;
        now.allocator = made->other;
        break;
    }
  }
}

void* reallocate(void* memory, std::size_t bytes, AllocatorHandle allocator) {
  const Header& header = header_of(memory);
  if (allocator == null_allocator) allocator = header.allocator;
  // Within one pool, the old block makes room for the new one.
  Allocator* const pool = allocator == header.allocator ? made_by_program(allocator) : nullptr;
  if (pool != nullptr) pool->refund(header.charged_bytes);
  void* const moved = allocate({.bytes = bytes, .allocator = allocator});
  if (pool != nullptr && pool->has_pool())
    pool->used_bytes.fetch_add(header.charged_bytes, std::memory_order_relaxed);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, memory, std::min(bytes, header.bytes));
  deallocate(memory);
  return moved;
}

void deallocate(void* memory) {
  if (memory == nullptr) return;
  const Header header = header_of(memory);
  if (Allocator* const made = made_by_program(header.allocator)) made->refund(header.charged_bytes);
  std::free(header.block);
}

void add_allocatable(const void* memory) {
  if (memory == nullptr) return;
  allocatables.lock.lock();
  if (allocatables.addresses == nullptr)
    allocatables.addresses = new std::unordered_set<const void*>;
  allocatables.addresses->insert(memory);
  allocatables.lock.unlock();
}

bool take_allocatable(const void* memory) {
  allocatables.lock.lock();
  const bool is_one =
      allocatables.addresses != nullptr && allocatables.addresses->erase(memory) != 0;
  allocatables.lock.unlock();
  return is_one;
}

}  // namespace sorrel::omp
