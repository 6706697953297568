//! RequestPool - the requests of one worker's ranks, kept for reuse. Own worker only; grows, never
//! shrinks.
#pragma once

#include <memory>
#include <vector>

namespace sorrel::mpi {

struct Request;

class RequestPool {
 public:
  RequestPool();
  ~RequestPool();
  RequestPool(const RequestPool&) = delete;
  RequestPool& operator=(const RequestPool&) = delete;

  /// A request with every field as constructed.
  Request& take();
  void give_back(Request& request);

 private:
  void refill();

  Request* free_ = nullptr;
  std::vector<std::unique_ptr<Request[]>> slabs_;
};

}  // namespace sorrel::mpi
