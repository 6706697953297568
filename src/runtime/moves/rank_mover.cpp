#include "runtime/moves/rank_mover.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

#include "arch/cpu.hpp"
#include "base/byte_cursor.hpp"
#include "base/byte_writer.hpp"
#include "base/check.hpp"
#include "base/hash.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "core/scheduler.hpp"
#include "mpi/match/unexpected.hpp"
#include "mpi/saved/left_rank.hpp"
#include "mpi/saved/refusal.hpp"
#include "mpi/saved/saved_rank.hpp"
#include "os/clock.hpp"
#include "os/page_bytes.hpp"
#include "os/page_nodes.hpp"
#include "os/random_addresses.hpp"
#include "os/write_all.hpp"
#include "runtime/moves/give_up.hpp"

namespace sorrel::runtime {

namespace {

/// As those of moves between workers: shorter windows measure the order of arrival.
constexpr std::int64_t window_ns_min = 10'000'000;
constexpr std::int64_t window_ns_per_rank = 20'000;
/// Each may send its load in a packet.
constexpr std::int64_t window_ns_per_process = 50'000;
/// A stop of all processes, with their plans.
constexpr std::int64_t stop_ns = 500'000;
/// A rank with up to 1 MiB of touched memory; each further MiB counts as another one.
constexpr std::int64_t move_ns = 1'000'000;

/// Time between two steps for one request, of which the first one found something in progress.
constexpr std::int64_t request_retry_ns = 100'000'000;

/// A launcher ends the job sooner when a process has ended.
constexpr std::int64_t launcher_patience_ns = 1'000'000'000;

/// With a seed, of so many collectives one begins a step.
constexpr std::uint64_t collectives_per_step = 3;

std::int64_t window_ns(std::int32_t rank_count, std::uint32_t process_count) {
  return std::max(
      {window_ns_min, window_ns_per_rank * rank_count, window_ns_per_process * process_count});
}

/// The borders that the loads suggest. `gain`: by how much the most loaded process has less to do,
/// for each worker. `is_requested`: a step is taken even if nothing is known about the ranks yet.
std::vector<std::int32_t> cut_by_loads(balance::Chain& chain,
                                       bool is_requested,
                                       std::uint32_t worker_count,
                                       double& gain) {
  SORREL_ASSERT(!chain.loads.empty() && worker_count != 0, "%zu ranks on %u workers",
                chain.loads.size(), worker_count);
  if (is_requested && std::ranges::max(chain.loads) <= 0) std::ranges::fill(chain.loads, 1);
  balance::Chain after = chain;
  after.begins = balance::plan_borders(chain);
  gain = (std::ranges::max(balance::part_loads(chain)) -
          std::ranges::max(balance::part_loads(after))) /
         worker_count;
  return after.begins;
}

balance::Costs costs_of(const core::CycleClock& clock) {
  return {.stop = static_cast<double>(clock.cycles_in(stop_ns)),
          .move = static_cast<double>(clock.cycles_in(move_ns))};
}

/// While it exists, this thread acts for a worker, which is stopped.
class ActingFor {
 public:
  explicit ActingFor(core::Worker& worker) : before_(core::Worker::current()) {
    core::Worker::set_current(&worker);
  }

  ~ActingFor() { core::Worker::set_current(before_); }

  ActingFor(const ActingFor&) = delete;
  ActingFor& operator=(const ActingFor&) = delete;

 private:
  core::Worker* const before_;
};

/// Pages that are about to be written, in one call: a fault each takes longer. Kernels before 5.14
/// have no such call.
void populate(const os::MemoryRange& range) {
  const std::uintptr_t begin = range.begin / os::page_bytes() * os::page_bytes();
  ::madvise(reinterpret_cast<void*>(begin), range.end - begin, MADV_POPULATE_WRITE);
}

}  // namespace

RankMover::RankMover(const Config& config,
                     mpi::ProcessWorld& world,
                     ProgramStates& states,
                     RankPlaces& places)
    : config_(config),
      world_(world),
      safepoint_(*world.safepoint()),
      job_stop_(*world.job_stop()),
      states_(states),
      places_(places),
      window_cycles_(clock_.cycles_in(
          window_ns(world.last_own_rank() - world.first_own_rank(), config.process_count))),
      window_loads_(world, config.is_all_near() ? config.memory : nullptr),
      counted_(static_cast<std::size_t>(world.size())),
      loads_(static_cast<std::size_t>(world.size()), -1),
      given_up_(config.process_count),
      policy_(config.process_count, costs_of(clock_)),
      offers_(static_cast<std::size_t>(world.size())) {
  if (config.move_seed) random_wishes_.emplace(*config.move_seed);
  safepoint_.add(*this);
}

MoveReport RankMover::report() const {
  MoveReport report = report_;
  report.policy = policy_.counts();
  return report;
}

/// Lines that differ in an address are one.
void RankMover::print_once(const std::string& text) {
  if (printed_.insert(text.substr(0, text.find("0x"))).second)
    os::write_all(STDERR_FILENO, "sorrel: note: " + printable(text) + "\n");
}

// Windows.

void RankMover::observe() {
  observed_window_ = window_number_;
  // The first one has the begin of the program.
  if (window_number_ == 1) return;
  std::vector<double> loads = window_loads_.loads();
  // Processes that are given up tell nothing: as if they had what the others have.
  double sum = 0;
  SORREL_ASSERT(loads.size() == given_up_.size(), "loads of %zu processes, of %zu", loads.size(),
                given_up_.size());
  for (std::size_t i = 0; i < loads.size(); ++i)
    sum += given_up_[i] ? 0 : loads[i];
  const auto count = static_cast<double>(std::ranges::count(given_up_, false));
  for (std::size_t i = 0; i < loads.size(); ++i) {
    if (given_up_[i]) loads[i] = count == 0 ? 0 : sum / count;
  }
  is_step_wanted_ = policy_.observe(loads);
}

bool RankMover::is_request_open() const {
  return is_give_up_wanted() != given_up_[config_.own_process];
}

/// Also in the processes that have no window to end. The notice is that one is over.
mpi::SafepointParticipant::Wish RankMover::wants() {
  if (is_request_open()) {
    if (is_off_) {
      print_once(text_of("process %u keeps its ranks: no rank of this job changes its process",
                         config_.own_process));
    } else if (arch::cycles() >= next_request_) {
      return Wish::safepoint;
    }
  }
  if (is_off_ || config_.own_process != 0) return Wish::nothing;
  if (random_wishes_)
    return random_wishes_->below(collectives_per_step) == 0 ? Wish::safepoint : Wish::nothing;
  if (observed_window_ != window_number_ && window_loads_.are_of(window_number_)) observe();
  if (is_step_wanted_) return Wish::safepoint;
  const bool is_over =
      observed_window_ == window_number_ && arch::cycles() - window_began_ >= window_cycles_;
  return is_over ? Wish::notice : Wish::nothing;
}

void RankMover::on_notice() {
  window_began_ = arch::cycles();
  ++window_number_;
  measure();
}

/// The cycles of each rank since the last time. Other workers may be about to add the end of a
/// burst: it counts in the next window.
void RankMover::measure() {
  double sum = 0;
  for (std::int32_t i = world_.first_own_rank(); i < world_.last_own_rank(); ++i) {
    const auto index = static_cast<std::size_t>(i);
    const std::uint64_t busy = core::Worker::busy_cycles_of(world_.rank(i).fiber);
    const auto load = static_cast<double>(busy - std::exchange(counted_[index], busy));
    sum += load;
    double& average = loads_[index];
    if (window_number_ > 1) average = average < 0 ? load : (average + load) / 2;
  }
  window_loads_.publish(window_number_, sum / world_.layout().worker_count());
}

/// The safepoint is in no window.
void RankMover::count_anew() {
  window_began_ = arch::cycles();
  for (std::int32_t i = world_.first_own_rank(); i < world_.last_own_rank(); ++i)
    counted_[static_cast<std::size_t>(i)] = core::Worker::busy_cycles_of(world_.rank(i).fiber);
}

// The safepoint.

void RankMover::begin() {
  is_step_wanted_ = false;
  safepoint_began_ = arch::cycles();
  next_request_ = safepoint_began_ + clock_.cycles_in(request_retry_ns);
}

void RankMover::give_up(std::int32_t threaded_rank) {
  is_off_ = true;
  is_step_wanted_ = false;
  if (threaded_rank < 0) return;
  print_once(
      text_of("no rank changes its process, since rank %d has MPI_THREAD_SERIALIZED or "
              "MPI_THREAD_MULTIPLE",
              threaded_rank));
}

int RankMover::run(core::JobStop& stop) {
  ++step_number_;
  const std::int32_t count_before = world_.last_own_rank() - world_.first_own_rank();
  const bool was_open = is_request_open();
  is_step_requested_ = false;
  const std::optional<double> gain = move_ranks(stop);
  if (gain) ++report_.steps;
  if (is_step_requested_) {
    policy_.begin_anew();
  } else if (gain) {
    policy_.record_step(*gain);
  } else {
    policy_.record_nothing();
  }
  if (was_open && !is_request_open()) report_request(count_before);
  count_anew();
  return 0;
}

void RankMover::resume() {
  for (const Arrival& arrival : arrivals_)
    arrival.rank->worker->make_ready(arrival.rank->fiber);
  arrivals_.clear();
  report_.waited_seconds += clock_.ns_in(arch::cycles() - safepoint_began_) / 1e9;
}

void RankMover::report_request(std::int32_t count_before) {
  const std::uint32_t own = config_.own_process;
  const std::int32_t count = world_.last_own_rank() - world_.first_own_rank();
  os::write_all(STDERR_FILENO,
                given_up_[own]
                    ? text_of("sorrel: note: process %u is given up; ranks gone: %d, left: %d\n",
                              own, count_before - count, count)
                    : text_of("sorrel: note: process %u has ranks again; now: %d, before: %d\n",
                              own, count, count_before));
}

// While the job is stopped. All processes take the same way, since they exchange what decides.

/// Returns the expected gain; nothing: no rank has moved.
std::optional<double> RankMover::move_ranks(core::JobStop& stop) {
  if (!can_ever_move(stop)) {
    is_off_ = true;
    return std::nullopt;
  }
  if (!may_regroup(stop)) {
    ++report_.busy_steps;
    return std::nullopt;
  }
  double gain = 0;
  const std::optional<Begins> begins = plan(stop, &gain);
  if (!begins) {
    ++report_.empty_steps;
    return std::nullopt;
  }
  const std::uint64_t began = arch::cycles();
  const mpi::RankLayout layout = world_.layout().with_borders(*begins);
  const std::int32_t moved = balance::moved_count(chain_.begins, *begins, world_.size());
  states_.begin_moves();
  const bool have_come = bring(stop, layout);
  if (have_come) commit(layout);
  states_.end_moves();
  if (!have_come) {
    ++report_.empty_steps;
    return std::nullopt;
  }
  report_.ranks += static_cast<std::uint64_t>(moved);
  report_.bytes += stop.sum(std::exchange(arrived_bytes_, 0));
  const std::uint64_t cycles = arch::cycles() - began;
  policy_.record_move_time(static_cast<double>(cycles) / static_cast<double>(moved_weight_));
  report_.moving_seconds += clock_.ns_in(cycles) / 1e9;
  return gain;
}

/// Why no rank of this process can ever come or go, for a user; "": it can.
std::string RankMover::reason_never() const {
  if (os::has_random_addresses())
    return "the system does not let `sorrel run` make addresses equal";
  for (std::uint32_t i = 0; i < config_.process_count && !job_stop_.sends_memory(); ++i) {
    if (i != config_.own_process && !world_.transport()->can_pull(i))
      return "the system does not let processes read each other's memory";
  }
  return "";
}

/// Whether all processes are equal, and can give each other memory.
bool RankMover::can_ever_move(core::JobStop& stop) {
  if (is_checked_) return true;
  std::string reason = reason_never();
  const auto hashes = stop.exchange(hash_of(states_.layout()));
  const bool are_equal = std::ranges::adjacent_find(hashes, std::not_equal_to()) == hashes.end();
  if (reason.empty() && !are_equal)
    reason = "their programs, libraries or processors differ, or lie at different addresses";
  is_checked_ = stop.agree(reason.empty());
  if (!reason.empty() && (config_.own_process == 0 || are_equal))
    print_once("ranks stay in their processes: " + reason);
  return is_checked_;
}

/// Whether the communicators of all ranks may begin anew.
bool RankMover::may_regroup(core::JobStop& stop) {
  mpi::MemberCounts counts;
  bool may = world_.has_idle_operations();
  for (std::int32_t i = world_.first_own_rank(); i < world_.last_own_rank(); ++i)
    may = may && mpi::reason_not_regrouped(world_.rank(i), counts) == nullptr;
  may = stop.agree(may);
  return stop.sum(counts.difference()) == 0 && may;
}

void RankMover::make_offers() {
  const std::uint16_t is_closed = is_full_ || states_.is_closed_to_moves() ? 1 : 0;
  const std::uint16_t is_given_up = is_give_up_wanted() ? 1 : 0;
  for (std::int32_t i = world_.first_own_rank(); i < world_.last_own_rank(); ++i) {
    const auto index = static_cast<std::size_t>(i);
    const double load = config_.move_seed ? 1 : std::max(loads_[index], 0.0);
    offers_[index] = {.load = load, .stays = 0, .is_closed = is_closed, .is_given_up = is_given_up};
  }
}

/// Gathers the offers of all processes into `chain_`.
bool RankMover::gather_offers(core::JobStop& stop) {
  const mpi::RankLayout& layout = world_.layout();
  const auto count_of = [&](std::uint32_t process) {
    return static_cast<std::size_t>(layout.first_rank_of_process(process + 1) -
                                    layout.first_rank_of_process(process));
  };
  std::size_t count_max = 0;
  for (std::uint32_t process = 0; process < config_.process_count; ++process)
    count_max = std::max(count_max, count_of(process));
  std::vector<Offer> own(count_max);
  std::copy_n(offers_.begin() + world_.first_own_rank(), count_of(config_.own_process),
              own.begin());
  std::vector<Offer> all(count_max * config_.process_count);
  if (!stop.gather(own.data(), all.data(), count_max * sizeof(Offer))) return false;
  chain_ = {};
  for (std::uint32_t process = 0; process < config_.process_count; ++process) {
    const auto offers = std::span(all).subspan(process * count_max, count_of(process));
    SORREL_CHECK(!offers.empty(), "process %u has no rank", process);
    chain_.begins.push_back(layout.first_rank_of_process(process));
    chain_.is_closed.push_back(offers.front().is_closed != 0);
    chain_.is_given_up.push_back(offers.front().is_given_up != 0);
    for (const Offer& offer : offers) {
      chain_.loads.push_back(offer.load);
      chain_.stays.push_back(offer.stays != 0);
    }
  }
  return true;
}

/// The new begins of the processes' ranks; nothing: no rank moves.
std::optional<RankMover::Begins> RankMover::plan(core::JobStop& stop, double* gain) {
  const balance::Costs own = policy_.gain_needed();
  // The first process knows them.
  const auto of_first = [&](double number) {
    return std::bit_cast<double>(stop.exchange(std::bit_cast<std::uint64_t>(number))[0]);
  };
  balance::Costs needed;
  needed.stop = of_first(own.stop);
  needed.move = of_first(own.move);
  make_offers();
  const std::vector<bool> given_up_before = given_up_;
  for (;;) {
    if (!gather_offers(stop)) return std::nullopt;
    given_up_ = chain_.is_given_up;
    is_step_requested_ = given_up_ != given_up_before;
    Begins begins;
    if (config_.move_seed) {
      Prng random(*config_.move_seed + step_number_);
      begins = balance::shuffle_borders(chain_, random);
      *gain = 1;
    } else {
      begins = cut_by_loads(chain_, is_step_requested_, world_.layout().worker_count(), *gain);
    }
    SORREL_ASSERT(begins.size() == chain_.begins.size(), "a plan for %zu processes of %zu",
                  begins.size(), chain_.begins.size());
    const std::int32_t moved = balance::moved_count(chain_.begins, begins, world_.size());
    const bool is_forced = config_.move_seed || is_step_requested_;
    // Each counts at least once.
    if (moved == 0 ||
        (!is_forced && !balance::is_worth(*gain, needed, static_cast<std::uint64_t>(moved))))
      return std::nullopt;
    const std::vector<std::int32_t> refused = refused_ranks(begins);
    for (const std::int32_t rank : refused)
      offers_[static_cast<std::size_t>(rank)].stays = 1;
    if (stop.sum(refused.size()) != 0) continue;
    std::uint64_t weight = 0;
    std::uint64_t heavy_count = 0;
    for (const std::int32_t rank : leaving_ranks(begins)) {
      const std::uint64_t own_weight = weight_of(world_.rank(rank));
      weight += own_weight;
      const bool is_heavy = !balance::is_worth(*gain, needed, own_weight);
      offers_[static_cast<std::size_t>(rank)].stays = static_cast<std::uint32_t>(is_heavy);
      heavy_count += static_cast<std::uint64_t>(is_heavy);
    }
    moved_weight_ = stop.sum(weight);
    if (is_forced || balance::is_worth(*gain, needed, moved_weight_)) return begins;
    // Others may be worth it.
    if (stop.sum(heavy_count) == 0) return std::nullopt;
  }
}

/// The ranks that leave this process.
std::vector<std::int32_t> RankMover::leaving_ranks(const Begins& begins) const {
  const std::uint32_t own = config_.own_process;
  SORREL_CHECK(begins.size() == config_.process_count, "begins of %zu processes, of %u",
               begins.size(), config_.process_count);
  const std::int32_t begin = begins[own];
  const std::int32_t end = own + 1 < begins.size() ? begins[own + 1] : world_.size();
  std::vector<std::int32_t> leaving;
  for (std::int32_t i = world_.first_own_rank(); i < world_.last_own_rank(); ++i) {
    if (i < begin || i >= end) leaving.push_back(i);
  }
  return leaving;
}

/// What moving the rank counts as. Where the system does not tell, the step fails later.
std::uint64_t RankMover::weight_of(mpi::RankState& rank) {
  std::vector<os::MemoryRange> memory;
  std::uint64_t bytes = 0;
  if (add_memory_of(rank, safepoint_.stack_of(rank), states_, memory).empty()) {
    for (const os::MemoryRange& run : memory)
      bytes += run.end - run.begin;
  }
  return balance::move_weight(bytes);
}

/// The ranks that were to leave this process, and stay.
std::vector<std::int32_t> RankMover::refused_ranks(const Begins& begins) {
  const std::uint32_t own = config_.own_process;
  std::vector<std::int32_t> leaving = leaving_ranks(begins);
  if (leaving.empty()) return {};
  if (const std::string reason = states_.reason_none_leaves(); !reason.empty()) {
    print_once(text_of("ranks stay in process %u: %s", own, reason.c_str()));
    leaving.resize(static_cast<std::size_t>(world_.last_own_rank() - world_.first_own_rank()));
    std::iota(leaving.begin(), leaving.end(), world_.first_own_rank());
    return leaving;
  }
  std::erase_if(leaving, [&](std::int32_t number) {
    const std::string reason = reason_not_moved(world_.rank(number));
    if (!reason.empty())
      print_once(text_of("rank %d stays in process %u: %s", number, own, reason.c_str()));
    return reason.empty();
  });
  return leaving;
}

std::string RankMover::reason_not_moved(mpi::RankState& rank) {
  const mpi::WaitingRank& waiting = safepoint_.waiting(rank);
  const char* reason = waiting.reason;
  if (reason == nullptr && waiting.handles_exception) reason = "it handles a C++ exception";
  if (reason == nullptr) reason = mpi::reason_not_moved(rank, states_.memory(rank));
  if (reason != nullptr) return reason;
  if (std::string own = states_.reason_not_saved(rank); !own.empty()) return own;
  if (job_stop_.sends_memory() && states_.has_files(rank))
    return "it has open files, and the other processes may be on other nodes";
  if (!world_.job().may_move(rank)) return "its program uses OpenMP";
  return states_.reason_referred_to(rank, safepoint_.stack_of(rank));
}

/// Ranks come to this process, but are not of it yet. False: they are gone again, in all processes.
bool RankMover::bring(core::JobStop& stop, const mpi::RankLayout& layout) {
  std::string error = pack(layout);
  if (!stop.agree(error.empty())) {
    if (!error.empty()) print_once("no rank changes its process: " + error);
    return false;
  }
  const std::vector<std::uint32_t> senders = this->senders(layout);
  const auto packages = stop.exchange_parcels(packages_, senders);
  if (!packages) return false;
  for (std::size_t i = 0; i < senders.size() && error.empty(); ++i)
    error = receive(senders[i], (*packages)[i], layout);
  const bool are_prepared = stop.agree(error.empty());
  if (!error.empty()) {
    print_once(text_of("no rank comes to process %u: %s", config_.own_process, error.c_str()));
    is_full_ = true;
  }
  if (are_prepared) {
    bring_memory(stop);
  } else {
    drop_arrivals();
  }
  return are_prepared;
}

/// The ranks of this process that go, by the process to which they go.
std::string RankMover::pack(const mpi::RankLayout& layout) {
  leaving_.clear();
  packages_.clear();
  leaving_memory_.clear();
  ByteWriter writer;
  for (std::int32_t i = world_.first_own_rank(); i < world_.last_own_rank(); ++i) {
    const std::uint32_t process = layout.process_of(i);
    if (process == config_.own_process) continue;
    mpi::RankState& rank = world_.rank(i);
    states_.prepare_save(rank);
    const os::MemoryRange stack = safepoint_.stack_of(rank);
    PackedRank packed{.number = i,
                      .load = loads_[static_cast<std::size_t>(i)],
                      .record = record_of(rank, safepoint_.waiting(rank), states_),
                      .memory = {},
                      .checked = {}};
    if (std::string error = add_memory_of(rank, stack, states_, packed.memory); !error.empty())
      return error;
    if (config_.move_seed) {
      packed.checked = states_.memory(rank);
      packed.checked.push_back(stack);
      for (const os::MemoryRange& range : states_.thread_locals(rank))
        packed.checked.push_back(range);
      packed.check = check_of(packed.checked);
    }
    // Ranks of one process are side by side, before and after.
    if (packages_.empty() || packages_.back().process != process) {
      if (!packages_.empty()) packages_.back().bytes = writer.bytes();
      packages_.push_back({.process = process, .bytes = {}});
      leaving_memory_.push_back({.process = process, .memory = {}});
      writer = {};
    }
    add(packed, writer);
    auto& memory = leaving_memory_.back().memory;
    memory.insert(memory.end(), packed.memory.begin(), packed.memory.end());
    leaving_.push_back(&rank);
  }
  if (!packages_.empty()) packages_.back().bytes = writer.bytes();
  return "";
}

/// The processes from which ranks come.
std::vector<std::uint32_t> RankMover::senders(const mpi::RankLayout& layout) const {
  std::vector<std::uint32_t> senders;
  const std::int32_t end = layout.first_rank_of_process(config_.own_process + 1);
  std::int32_t rank = layout.first_rank_of_process(config_.own_process);
  while (rank < end) {
    const std::uint32_t process = world_.layout().process_of(rank);
    if (process != config_.own_process) senders.push_back(process);
    rank = world_.layout().first_rank_of_process(process + 1);
  }
  return senders;
}

std::string RankMover::receive(std::uint32_t process,
                               const std::string& package,
                               const mpi::RankLayout& layout) {
  ByteCursor from(std::as_bytes(std::span(package)));
  while (!from.at_end()) {
    std::optional<PackedRank> packed = take_packed_rank(from);
    SORREL_CHECK(packed.has_value(), "a package of process %u is damaged", process);
    SORREL_CHECK(layout.process_of(packed->number) == config_.own_process,
                 "rank %d comes to process %u, and is for process %u", packed->number,
                 config_.own_process, layout.process_of(packed->number));
    Arrival& arrival = arrivals_.emplace_back();
    arrival.process = process;
    arrival.packed = std::move(*packed);
    if (std::string error = take(arrival, layout); !error.empty()) return error;
  }
  return "";
}

/// Prepares a rank at the place where its memory will be.
std::string RankMover::take(Arrival& arrival, const mpi::RankLayout& layout) {
  core::Worker& worker = world_.worker(layout.endpoint_of(arrival.packed.number).worker);
  const ActingFor acting(worker);
  const os::PreferredNode node(world_.scheduler().nodes().node_of(worker.index()));
  arrival.rank = &world_.make_arrival(arrival.packed.number, worker);
  mpi::RankState& rank = *arrival.rank;
  std::string error = places_.prepare_rank(rank, worker);
  if (error.empty())
    error = restore_record(rank, arrival.packed.record, false, states_, arrival.restored);
  if (!error.empty()) return error;
  for (const os::MemoryRange& range : arrival.packed.memory) {
    populate(range);
    arrived_bytes_ += range.end - range.begin;
  }
  return "";
}

void RankMover::bring_memory(core::JobStop& stop) {
  std::vector<core::JobStop::Shipment> awaited;
  for (const Arrival& arrival : arrivals_) {
    if (awaited.empty() || awaited.back().process != arrival.process)
      awaited.push_back({.process = arrival.process, .memory = {}});
    auto& memory = awaited.back().memory;
    memory.insert(memory.end(), arrival.packed.memory.begin(), arrival.packed.memory.end());
  }
  if (!stop.ship(leaving_memory_, awaited)) {
    // It could before. Mostly the other process has ended: its parent says so, and this one is
    // ended with it. Else the system has no memory.
    os::sleep_ns(launcher_patience_ns);
    world_.job().end_job(
        nullptr, 1,
        text_of("the memory of ranks that come to process %u cannot be read", config_.own_process)
            .c_str());
  }
  for (const Arrival& arrival : arrivals_) {
    const PackedRank& packed = arrival.packed;
    SORREL_CHECK(packed.checked.empty() || check_of(packed.checked) == packed.check,
                 "the memory of rank %d has changed on its way from process %u", packed.number,
                 arrival.process);
  }
  // No process clears what another one is reading.
  (void)stop.exchange(0);
}

void RankMover::drop_arrivals() {
  for (const Arrival& arrival : arrivals_) {
    const ActingFor acting(*arrival.rank->worker);
    places_.clear_rank(*arrival.rank);
    world_.drop_arrival(*arrival.rank);
  }
  arrivals_.clear();
  arrived_bytes_ = 0;
}

/// Every rank that goes is in its other process. From here on nothing fails.
void RankMover::commit(const mpi::RankLayout& layout) {
  places_.begin_change();
  // By the old layout: credit goes to the worker that has received the messages.
  for (mpi::RankState* rank : leaving_) {
    const ActingFor acting(*rank->worker);
    mpi::hand_over_all_unexpected(*rank);
  }
  const std::span<mpi::CommShared* const> moving = world_.begin_move(layout);
  for (mpi::RankState* rank : leaving_) {
    const ActingFor acting(*rank->worker);
    mpi::end_objects(*rank);
    safepoint_.forget(*rank);
    places_.clear_rank(*rank);
    world_.remove(*rank);
  }
  std::vector<mpi::RankState*> arrived;
  for (const Arrival& arrival : arrivals_)
    arrived.push_back(arrival.rank);
  for (std::int32_t i = world_.first_own_rank(); i < world_.last_own_rank(); ++i) {
    const bool has_come = std::ranges::any_of(
        arrived, [i](const mpi::RankState* rank) { return rank->world_rank == i; });
    if (!has_come) mpi::begin_anew(world_.rank(i), moving);
  }
  world_.end_move(arrived);
  restore_objects();
  SORREL_CHECK(world_.last_own_rank() - world_.first_own_rank() ==
                   layout.first_rank_of_process(config_.own_process + 1) -
                       layout.first_rank_of_process(config_.own_process),
               "ranks %d to %d", world_.first_own_rank(), world_.last_own_rank());
  world_.scheduler().change_fiber_count(static_cast<std::int32_t>(arrived.size()) -
                                        static_cast<std::int32_t>(leaving_.size()));
  leaving_.clear();
  packages_.clear();
  leaving_memory_.clear();
  places_.end_change();
}

void RankMover::restore_objects() {
  mpi::SharedParts parts(world_);
  for (Arrival& arrival : arrivals_) {
    mpi::RankState& rank = *arrival.rank;
    const std::string bytes = std::move(arrival.restored.objects);
    ByteCursor record(std::as_bytes(std::span(bytes)));
    if (const std::string error = mpi::restore_objects(rank, parts, record); !error.empty()) {
      world_.job().end_job(&rank, 1,
                           text_of("rank %d cannot go on in process %u: %s", rank.world_rank,
                                   config_.own_process, error.c_str())
                               .c_str());
    }
    runtime::resume(rank, arrival.restored, states_, 0);
    const auto index = static_cast<std::size_t>(rank.world_rank);
    loads_[index] = arrival.packed.load;
  }
}

}  // namespace sorrel::runtime
