//! RequestPool - recycled requests for one worker's ranks. Own worker only; grows, never shrinks.
#pragma once

#include <memory>
#include <new>
#include <vector>

#include "mpi/match/request.hpp"

namespace sorrel::mpi {

class RequestPool {
 public:
  RequestPool() = default;
  RequestPool(const RequestPool&) = delete;
  RequestPool& operator=(const RequestPool&) = delete;

  /// A request with every field as constructed.
  Request& take() {
    if (free_ == nullptr) [[unlikely]]
      refill();
    Request* request = free_;
    SORREL_ASSERT(request->header.kind == ObjectKind::freed, "a free request was written to");
    free_ = request->next_free;
    return *new (request) Request;
  }

  void give_back(Request& request) {
    SORREL_ASSERT(request.header.kind == ObjectKind::request, "given back twice");
    request.header.kind = ObjectKind::freed;
    request.next_free = free_;
    free_ = &request;
  }

  /// Where a request of no pool lies that lasts as long as the process, if requests have a memory
  /// (mpi/base/request_memory.h); else null. Any thread.
  [[nodiscard]] static Request* place_of_lasting();

  /// Calls visit(request) for each request that was taken and not given back.
  template <class Visit>
  void for_each_taken(Visit&& visit) const {
    for (const auto& slab : slabs_) {
      for (std::size_t i = 0; i < slab_request_count; ++i) {
        if (slab[i].header.kind == ObjectKind::request) visit(slab[i]);
      }
    }
  }

  /// The free requests are marked as such, and are no more than there are. At audit level.
  void check_invariants() const;

 private:
  static constexpr std::size_t slab_request_count = 32;

  struct SlabEnd {
    bool is_on_heap = true;
    void operator()(Request* slab) const;
  };

  [[gnu::cold]] void refill();

  Request* free_ = nullptr;
  std::vector<std::unique_ptr<Request[], SlabEnd>> slabs_;
};

}  // namespace sorrel::mpi
