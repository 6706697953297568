#include "mpi/match/request_pool.hpp"

#include <atomic>

#include "mpi/base/request_memory.h"

namespace sorrel::mpi {

namespace {

/// Memory for slabs of all pools; empty if slabs are on the heap.
struct SlabMemory {
  /// Constant once a request has been made.
  std::byte* begin = nullptr;
  std::size_t bytes = 0;
  /// The first place is that of the lasting request.
  std::atomic<std::size_t> used_bytes = sizeof(Request);
};

SlabMemory slab_memory;

/// Null: there is none, or no more of it.
void* take_slab_memory(std::size_t bytes) {
  if (slab_memory.bytes == 0) return nullptr;
  // Relaxed: each caller gets a part of its own.
  const std::size_t at = slab_memory.used_bytes.fetch_add(bytes, std::memory_order_relaxed);
  return at + bytes <= slab_memory.bytes ? slab_memory.begin + at : nullptr;
}

}  // namespace

Request* RequestPool::place_of_lasting() {
  return slab_memory.bytes == 0 ? nullptr : reinterpret_cast<Request*>(slab_memory.begin);
}

void RequestPool::SlabEnd::operator()(Request* slab) const {
  // The memory of slabs lasts as long as the process.
  if (is_on_heap) delete[] slab;
}

void RequestPool::refill() {
  void* memory = take_slab_memory(slab_request_count * sizeof(Request));
  Request* slab =
      memory == nullptr ? new Request[slab_request_count] : static_cast<Request*>(memory);
  for (std::size_t i = 0; i < slab_request_count && memory != nullptr; ++i)
    new (&slab[i]) Request;
  slabs_.push_back({slab, SlabEnd{.is_on_heap = memory == nullptr}});
  for (std::size_t i = 0; i < slab_request_count; ++i)
    give_back(slab[i]);
}

void RequestPool::check_invariants() const {
  std::size_t free_count = 0;
  for (const Request* request = free_; request != nullptr; request = request->next_free) {
    SORREL_CHECK(request->header.kind == ObjectKind::freed);
    SORREL_CHECK(++free_count <= slabs_.size() * slab_request_count, "the free list is a circle");
  }
}

}  // namespace sorrel::mpi

void sorrel_use_request_memory(void* memory, std::size_t bytes) {
  sorrel::mpi::slab_memory.begin = static_cast<std::byte*>(memory);
  sorrel::mpi::slab_memory.bytes = bytes;
}
