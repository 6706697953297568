//! RankLayout - the worker and process that run a rank.
//!
//! A job has P processes of W workers each; an *endpoint* is one of the P x W workers. Endpoints
//! are numbered process by process. Ranks are assigned to them in contiguous blocks whose sizes
//! differ by at most one. Pure; any thread.
#pragma once

#include <cstdint>

#include "base/fast_divisor.hpp"
#include "transport/transport.hpp"

namespace sorrel::mpi {

using transport::Endpoint;

class RankLayout {
 public:
  struct Shape {
    std::int32_t rank_count = 1;
    std::uint32_t process_count = 1;
    /// Of each process.
    std::uint32_t worker_count = 1;
  };

  explicit RankLayout(const Shape& shape)
      : shape_(shape),
        by_rank_count_(static_cast<std::uint32_t>(shape.rank_count)),
        by_worker_count_(shape.worker_count) {}

  [[nodiscard]] std::int32_t rank_count() const { return shape_.rank_count; }

  [[nodiscard]] std::uint32_t process_count() const { return shape_.process_count; }

  [[nodiscard]] std::uint32_t worker_count() const { return shape_.worker_count; }

  [[nodiscard]] std::uint32_t endpoint_count() const {
    return shape_.process_count * shape_.worker_count;
  }

  /// The number of an endpoint among all of the job.
  [[nodiscard]] std::uint32_t index_of(const Endpoint& endpoint) const {
    SORREL_ASSERT(endpoint.process < process_count() && endpoint.worker < worker_count());
    return endpoint.process * shape_.worker_count + endpoint.worker;
  }

  /// The worker that runs a rank.
  [[nodiscard]] Endpoint endpoint_of(std::int32_t rank) const {
    SORREL_ASSERT(rank >= 0 && rank < rank_count(), "rank %d of %d", rank, rank_count());
    // The inverse of first_rank(): the last endpoint whose first rank is not above.
    const std::uint64_t next = static_cast<std::uint32_t>(rank) + std::uint64_t{1};
    const std::uint64_t index = by_rank_count_.quotient_of(next * endpoint_count() - 1);
    const auto process = static_cast<std::uint32_t>(by_worker_count_.quotient_of(index));
    return {.process = process,
            .worker = static_cast<std::uint32_t>(index) - process * shape_.worker_count};
  }

  [[nodiscard]] std::uint32_t process_of(std::int32_t rank) const {
    return endpoint_of(rank).process;
  }

  /// The ranks of an endpoint are [first_rank(endpoint), last_rank(endpoint)).
  [[nodiscard]] std::int32_t first_rank(const Endpoint& endpoint) const {
    return first_of(index_of(endpoint));
  }

  [[nodiscard]] std::int32_t last_rank(const Endpoint& endpoint) const {
    return first_of(index_of(endpoint) + 1);
  }

  /// The ranks of a process are [first_rank_of_process(p), first_rank_of_process(p + 1)).
  [[nodiscard]] std::int32_t first_rank_of_process(std::uint32_t process) const {
    return first_of(process * shape_.worker_count);
  }

 private:
  [[nodiscard]] std::int32_t first_of(std::uint32_t index) const {
    return static_cast<std::int32_t>(std::int64_t{shape_.rank_count} * index / endpoint_count());
  }

  Shape shape_;
  // Every message computes the endpoint of its destination.
  FastDivisor by_rank_count_;
  FastDivisor by_worker_count_;
};

}  // namespace sorrel::mpi
