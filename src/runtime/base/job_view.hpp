//! JobView - what reports read of this process's part of a job: its ranks, where each is, and what
//! its program says of it.
//!
//! Any thread, and signal handlers, while the ranks may be read (report_window.hpp). A rank's
//! *index* is its number among those for which the process has addresses: stacks, heaps, images.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/check.hpp"
#include "core/scheduler.hpp"
#include "mpi/job/process_world.hpp"
#include "mpi/match/rank_state.hpp"
#include "os/stack_slab.hpp"
#include "runtime/base/body_view.hpp"

namespace sorrel::runtime {

class JobView {
 public:
  /// One world, or one for each simulated node. Ranks are numbered consecutively across them.
  using Worlds = std::vector<std::unique_ptr<mpi::ProcessWorld>>;

  /// The ranks for which the process has addresses.
  struct Places {
    /// The number of the first one.
    std::int32_t first = 0;
    std::int32_t count = 1;
    /// The process is the only one of them: its stack is not the job's.
    bool is_process_mode = false;
  };

  /// All arguments outlive it; the stacks and at least one world exist before it is used.
  JobView(const Worlds& worlds, const BodyView& body, const os::StackSlab& stacks, Places places)
      : worlds_(worlds), body_(body), stacks_(stacks), places_(places) {
    SORREL_CHECK(places.first >= 0 && places.count >= 1, "%d ranks from %d on", places.count,
                 places.first);
    SORREL_CHECK(!places.is_process_mode || places.count == 1, "%d ranks of a process that is one",
                 places.count);
  }

  [[nodiscard]] const Worlds& worlds() const { return worlds_; }

  [[nodiscard]] core::Scheduler& scheduler() const { return worlds_.front()->scheduler(); }

  /// The number of ranks of the whole job.
  [[nodiscard]] std::int32_t rank_count() const { return worlds_.front()->size(); }

  /// How many ranks the process has addresses for. Constant.
  [[nodiscard]] std::int32_t place_count() const { return places_.count; }

  /// The number of the job's ranks that are in this process now.
  [[nodiscard]] std::int32_t own_rank_count() const {
    return worlds_.back()->last_own_rank() - worlds_.front()->first_own_rank();
  }

  [[nodiscard]] std::size_t index_of(std::int32_t world_rank) const {
    return static_cast<std::size_t>(world_rank - places_.first);
  }

  [[nodiscard]] std::size_t index_of(const mpi::RankState& rank) const {
    return static_cast<std::size_t>(rank.place);
  }

  /// The index of the first rank that is in this process.
  [[nodiscard]] std::size_t first_index() const {
    return index_of(worlds_.front()->first_own_rank());
  }

  /// The number of the rank with that index.
  [[nodiscard]] std::int32_t number_at(std::size_t index) const;

  /// The rank whose state lies at an address; nothing if there is none.
  [[nodiscard]] std::optional<std::int32_t> rank_at(std::uintptr_t address) const;

  /// The rank whose code holds an address; nothing if it is not known.
  [[nodiscard]] std::optional<std::int32_t> rank_of_code(const void* address) const;

  [[nodiscard]] const BodyView& body() const { return body_; }

  /// By index.
  [[nodiscard]] const os::StackSlab& stacks() const { return stacks_; }

  /// Whether the process is a rank, and the attached thread runs it.
  [[nodiscard]] bool is_process_mode() const { return places_.is_process_mode; }

 private:
  const Worlds& worlds_;
  const BodyView& body_;
  const os::StackSlab& stacks_;
  const Places places_;
};

}  // namespace sorrel::runtime
