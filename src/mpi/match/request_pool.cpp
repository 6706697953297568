#include "mpi/match/request_pool.hpp"

namespace sorrel::mpi {

void RequestPool::refill() {
  slabs_.push_back(std::make_unique<Request[]>(slab_request_count));
  for (std::size_t i = 0; i < slab_request_count; ++i)
    give_back(slabs_.back()[i]);
}

void RequestPool::check_invariants() const {
  std::size_t free_count = 0;
  for (const Request* request = free_; request != nullptr; request = request->next_free) {
    SORREL_CHECK(request->header.kind == ObjectKind::freed);
    SORREL_CHECK(++free_count <= slabs_.size() * slab_request_count, "the free list is a circle");
  }
}

}  // namespace sorrel::mpi
