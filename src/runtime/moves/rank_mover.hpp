//! RankMover - ranks change their process, so that all processes of the job have about the same
//! load (src/balance/borders.hpp).
//!
//! The first process measures all of them over windows, and asks for a step when they are uneven.
//! Then all ranks come to a safepoint after the collective of all ranks that they are in
//! (mpi/safepoint). While the job is stopped, the processes plan together, each with the same
//! result; ranks go over with their memory, at the same addresses; and each process makes what
//! depends on the places of ranks anew. README.md has the protocol and the proof.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "balance/borders.hpp"
#include "balance/process_policy.hpp"
#include "base/prng.hpp"
#include "core/cycle_clock.hpp"
#include "core/job_stop.hpp"
#include "mpi/job/process_world.hpp"
#include "mpi/job/window_loads.hpp"
#include "mpi/match/rank_state.hpp"
#include "mpi/safepoint/safepoint.hpp"
#include "runtime/checkpoint/rank_record.hpp"
#include "runtime/config.hpp"
#include "runtime/moves/packed_rank.hpp"
#include "runtime/program_states.hpp"

namespace sorrel::runtime {

/// What the job does for ranks that come and go. While all workers of the job are stopped.
class RankPlaces {
 public:
  virtual ~RankPlaces() = default;

  /// Gives a rank what it has before its first instruction. Returns an error, or "".
  [[nodiscard]] virtual std::string prepare_rank(mpi::RankState& rank, core::Worker& worker) = 0;

  /// The opposite, also after an error: the place is as if no rank had ever been there.
  virtual void clear_rank(mpi::RankState& rank) = 0;

  /// Before ranks come and go, and after.
  virtual void begin_change() = 0;
  virtual void end_change() = 0;
};

/// For the report at the end of the job. The policy's part is that of the first process; the rest
/// is the same in all.
struct MoveReport {
  balance::StepCounts policy;
  std::uint64_t steps = 0;
  std::uint64_t ranks = 0;
  std::uint64_t bytes = 0;
  /// Steps in which no rank moved: something was in progress, or nothing was to be gained.
  std::uint64_t busy_steps = 0;
  std::uint64_t empty_steps = 0;
  /// In which ranks went over, and in which all ranks waited.
  double moving_seconds = 0;
  double waited_seconds = 0;
};

class RankMover final : private mpi::SafepointParticipant {
 public:
  /// All outlive it. Before the workers run.
  RankMover(const Config& config,
            mpi::ProcessWorld& world,
            ProgramStates& states,
            RankPlaces& places);

  /// When no rank runs.
  [[nodiscard]] MoveReport report() const;

 private:
  /// A rank that comes.
  struct Arrival {
    mpi::RankState* rank = nullptr;
    /// From which it comes.
    std::uint32_t process = 0;
    PackedRank packed;
    RestoredRank restored;
  };

  /// What other processes get about a rank of this one.
  struct Offer {
    double load = 0;
    std::uint32_t stays = 0;
    std::uint16_t is_closed = 0;
    /// Its process is to be given up.
    std::uint16_t is_given_up = 0;
  };

  using Begins = std::vector<std::int32_t>;

  [[nodiscard]] Wish wants() override;
  void on_notice() override;
  void begin() override;
  void give_up(std::int32_t threaded_rank) override;
  [[nodiscard]] int run(core::JobStop& stop) override;
  void resume() override;

  [[nodiscard]] bool is_request_open() const;
  void report_request(std::int32_t count_before);
  void observe();
  void measure();
  void count_anew();
  [[nodiscard]] std::optional<double> move_ranks(core::JobStop& stop);
  [[nodiscard]] bool can_ever_move(core::JobStop& stop);
  [[nodiscard]] std::string reason_never() const;
  [[nodiscard]] bool may_regroup(core::JobStop& stop);
  void make_offers();
  [[nodiscard]] bool gather_offers(core::JobStop& stop);
  [[nodiscard]] std::optional<Begins> plan(core::JobStop& stop, double* gain);
  [[nodiscard]] std::vector<std::int32_t> refused_ranks(const Begins& begins);
  [[nodiscard]] std::vector<std::int32_t> leaving_ranks(const Begins& begins) const;
  [[nodiscard]] std::uint64_t weight_of(mpi::RankState& rank);
  [[nodiscard]] std::string reason_not_moved(mpi::RankState& rank);
  [[nodiscard]] bool bring(core::JobStop& stop, const mpi::RankLayout& layout);
  [[nodiscard]] std::string pack(const mpi::RankLayout& layout);
  [[nodiscard]] std::vector<std::uint32_t> senders(const mpi::RankLayout& layout) const;
  [[nodiscard]] std::string receive(std::uint32_t process,
                                    const std::string& package,
                                    const mpi::RankLayout& layout);
  [[nodiscard]] std::string take(Arrival& arrival, const mpi::RankLayout& layout);
  void bring_memory(core::JobStop& stop);
  void drop_arrivals();
  void commit(const mpi::RankLayout& layout);
  void restore_objects();
  void print_once(const std::string& text);

  const Config& config_;
  mpi::ProcessWorld& world_;
  mpi::Safepoint& safepoint_;
  core::JobStop& job_stop_;
  ProgramStates& states_;
  RankPlaces& places_;
  const core::CycleClock clock_;
  const std::uint64_t window_cycles_;
  mpi::WindowLoads window_loads_;

  // On the thread of the root's worker, or while the job is stopped.
  /// A window, and a step, concern every process, so their numbers are the same in all.
  std::uint32_t window_number_ = 0;
  std::uint64_t step_number_ = 0;
  std::uint64_t window_began_ = 0;
  std::uint64_t safepoint_began_ = 0;
  /// By rank: its counter at the begin of the window, and its moving average; less than 0: unknown.
  std::vector<std::uint64_t> counted_;
  std::vector<double> loads_;
  bool is_off_ = false;
  /// By process, as of the last step.
  std::vector<bool> given_up_;
  /// In the present step some process is given up, or takes ranks again.
  bool is_step_requested_ = false;
  /// Before that a request is not tried again.
  std::uint64_t next_request_ = 0;
  MoveReport report_;
  std::set<std::string> printed_;

  // In the first process.
  balance::ProcessPolicy policy_;
  std::uint32_t observed_window_ = 0;
  bool is_step_wanted_ = false;
  std::optional<Prng> random_wishes_;

  // While the job is stopped.
  bool is_checked_ = false;
  /// The system had no memory, or no threads, for a rank that was to come.
  bool is_full_ = false;
  /// By rank; those of this process count.
  std::vector<Offer> offers_;
  balance::Chain chain_;
  /// The weight of all ranks that move in the planned step (balance::move_weight()).
  std::uint64_t moved_weight_ = 0;
  // By the process to which ranks go: what they are, and their memory.
  std::vector<core::JobStop::Parcel> packages_;
  std::vector<core::JobStop::Shipment> leaving_memory_;
  std::vector<mpi::RankState*> leaving_;
  std::vector<Arrival> arrivals_;
  std::uint64_t arrived_bytes_ = 0;
};

}  // namespace sorrel::runtime
