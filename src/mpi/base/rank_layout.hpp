//! RankLayout - the worker and process that run a rank.
//!
//! A job has P processes of W workers each; an *endpoint* is one of the P x W workers. Endpoints
//! are numbered process by process. Ranks are assigned to them in contiguous blocks whose sizes
//! differ by at most one, or, in a job of several programs, process by process as the caller says.
//! Where ranks move between processes, the block of each process is contiguous, too.
//!
//! In a job of several processes, the number of a rank that is spawned says where it lives: numbers
//! from rank_count() on go round the endpoints.
//! Pure; any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/fast_divisor.hpp"
#include "transport/transport.hpp"

namespace sorrel::mpi {

using transport::Endpoint;

class RankLayout {
 public:
  struct Shape {
    std::int32_t rank_count = 1;
    std::uint32_t process_count = 1;
    /// Workers of each process.
    std::uint32_t worker_count = 1;
  };

  /// The ranks of a process, and how many of its workers run them, in even blocks.
  struct Block {
    std::int32_t rank_count = 1;
    std::uint32_t worker_count = 1;
  };

  explicit RankLayout(const Shape& shape)
      : shape_(shape),
        by_rank_count_(static_cast<std::uint32_t>(shape.rank_count)),
        by_worker_count_(shape.worker_count) {}

  /// `shape.process_count` blocks with `shape.rank_count` ranks in all; `shape.worker_count` is the
  /// largest of their worker counts.
  RankLayout(const Shape& shape, std::span<const Block> blocks) : RankLayout(shape) {
    auto table = std::make_shared<Table>();
    std::int32_t first = 0;
    for (const Block& block : blocks) {
      for (std::uint32_t worker = 0; worker < shape.worker_count; ++worker) {
        const std::int64_t part = std::min(worker, block.worker_count);
        table->first_ranks.push_back(
            first + static_cast<std::int32_t>(block.rank_count * part / block.worker_count));
      }
      first += block.rank_count;
    }
    table->first_ranks.push_back(first);
    SORREL_CHECK(first == shape.rank_count && table->first_ranks.size() == endpoint_count() + 1);
    for (std::uint32_t index = 0; index < endpoint_count(); ++index)
      table->endpoints.resize(static_cast<std::size_t>(table->first_ranks[index + 1]), index);
    table_ = std::move(table);
  }

  /// The layout when the borders between processes have moved: process p has the ranks from
  /// first_ranks[p] on. A rank that stays in its process keeps its endpoint; one that comes gets
  /// the nearest one, or if all have changed, that of an even block.
  [[nodiscard]] RankLayout with_borders(std::span<const std::int32_t> first_ranks) const {
    SORREL_CHECK(first_ranks.size() == process_count() && first_ranks.front() == 0);
    auto table = std::make_shared<Table>();
    for (std::uint32_t process = 0; process < process_count(); ++process) {
      const std::int32_t begin = first_ranks[process];
      const std::int32_t end =
          process + 1 < process_count() ? first_ranks[process + 1] : rank_count();
      SORREL_CHECK(begin < end, "process %u has no ranks", process);
      const bool is_new =
          end <= first_rank_of_process(process) || begin >= first_rank_of_process(process + 1);
      for (std::uint32_t worker = 0; worker < worker_count(); ++worker) {
        const std::int64_t even = std::int64_t{end - begin} * worker / worker_count();
        const std::int32_t first =
            is_new ? begin + static_cast<std::int32_t>(even)
                   : std::clamp(first_rank({.process = process, .worker = worker}), begin, end);
        table->first_ranks.push_back(worker == 0 ? begin : first);
      }
    }
    table->first_ranks.push_back(rank_count());
    for (std::uint32_t index = 0; index < endpoint_count(); ++index)
      table->endpoints.resize(static_cast<std::size_t>(table->first_ranks[index + 1]), index);
    RankLayout layout(shape_);
    layout.table_ = std::move(table);
    return layout;
  }

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
    SORREL_ASSERT(rank >= 0);
    if (rank >= rank_count()) [[unlikely]]
      return endpoint_at(static_cast<std::uint32_t>(rank - rank_count()) % endpoint_count());
    // The inverse of first_rank(): the last endpoint whose first rank is not above.
    const std::uint64_t next = static_cast<std::uint32_t>(rank) + std::uint64_t{1};
    const std::uint64_t index = table_ == nullptr
                                    ? by_rank_count_.quotient_of(next * endpoint_count() - 1)
                                    : table_->endpoints[static_cast<std::size_t>(rank)];
    return endpoint_at(static_cast<std::uint32_t>(index));
  }

  /// The number of the rank that is spawned on an endpoint as its `sequence`-th, from 0 on.
  [[nodiscard]] std::int32_t spawned_number(const Endpoint& endpoint, std::int32_t sequence) const {
    return rank_count() + sequence * static_cast<std::int32_t>(endpoint_count()) +
           static_cast<std::int32_t>(index_of(endpoint));
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
  /// Where ranks are in a job whose blocks are not even.
  struct Table {
    std::vector<std::int32_t> first_ranks;  ///< by endpoint, and the number of ranks
    std::vector<std::uint32_t> endpoints;   ///< by rank
  };

  [[nodiscard]] Endpoint endpoint_at(std::uint32_t index) const {
    const auto process = static_cast<std::uint32_t>(by_worker_count_.quotient_of(index));
    return {.process = process, .worker = index - process * shape_.worker_count};
  }

  [[nodiscard]] std::int32_t first_of(std::uint32_t index) const {
    if (table_ != nullptr) return table_->first_ranks[index];
    return static_cast<std::int32_t>(std::int64_t{shape_.rank_count} * index / endpoint_count());
  }

  Shape shape_;
  // Every message computes the endpoint of its destination.
  FastDivisor by_rank_count_;
  FastDivisor by_worker_count_;
  /// Null if the blocks are even.
  std::shared_ptr<const Table> table_;
};

}  // namespace sorrel::mpi
