#include "mpi/p2p/request_pool.hpp"

#include <new>

#include "mpi/p2p/request.hpp"

namespace sorrel::mpi {

namespace {

constexpr std::size_t slab_request_count = 32;

}  // namespace

RequestPool::RequestPool() = default;
RequestPool::~RequestPool() = default;

Request& RequestPool::take() {
  if (free_ == nullptr) refill();
  Request* request = free_;
  free_ = request->next_free;
  return *new (request) Request;
}

void RequestPool::give_back(Request& request) {
  request.header.kind = ObjectKind::freed;
  request.next_free = free_;
  free_ = &request;
}

void RequestPool::refill() {
  slabs_.push_back(std::make_unique<Request[]>(slab_request_count));
  for (std::size_t i = 0; i < slab_request_count; ++i)
    give_back(slabs_.back()[i]);
}

}  // namespace sorrel::mpi
