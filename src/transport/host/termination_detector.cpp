#include "transport/host/termination_detector.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "os/clock.hpp"
#include "transport/transport.hpp"

namespace sorrel::transport {

namespace {

/// Time for the answers of the other processes: finding source lines takes long.
constexpr std::int64_t report_wait_ns = 1'000'000'000;
/// Time between a process's word that it ends and its end: process 0 would take a lost connection
/// for a failure of the host MPI.
constexpr std::int64_t end_pause_ns = 50'000'000;
/// Time between two polls of the link when there is nothing else to do.
constexpr std::int64_t poll_pause_ns = 50'000;
/// A longer text of one process is of no use.
constexpr std::size_t report_bytes_max = std::size_t{256} << 10;
constexpr std::int64_t never_ns = std::numeric_limits<std::int64_t>::max();

}  // namespace

std::uint32_t TerminationRounds::begin() {
  left_ = process_count_;
  sum_before_ = sum_;
  sum_ = {};
  if (++round_ == 0) ++round_;
  return round_;
}

TerminationRounds::Outcome TerminationRounds::take(std::uint32_t round, const QuietCounts& answer) {
  if (round != round_ || left_ == 0) return Outcome::open;
  sum_.sent += answer.sent;
  sum_.taken += answer.taken;
  sum_.waiting += answer.waiting;
  if (--left_ != 0) return Outcome::open;
  // If no fiber waits, the job is at its end.
  if (sum_.sent != sum_.taken || sum_.waiting == 0) return Outcome::moved;
  return sum_ == sum_before_ ? Outcome::over : Outcome::still;
}

TerminationDetector::TerminationDetector(core::Scheduler& scheduler,
                                         HostLink& link,
                                         std::uint32_t process,
                                         std::uint32_t process_count)
    : scheduler_(scheduler),
      link_(link),
      process_(process),
      process_count_(process_count),
      counters_(scheduler.worker_count()),
      rounds_(process_count),
      next_to_ask_(process_count) {
  static_assert(kind_min >= packet_kind_count_max && end_confirmed_kind < HostLink::credit_kind);
}

QuietCounts TerminationDetector::sum_now() const {
  QuietCounts sum;
  for (const Counters& worker : counters_) {
    // Acquire, pairs with count(); later reads stay after it.
    sum.sent += worker.sent.load(std::memory_order_acquire);
    sum.taken += worker.taken.load(std::memory_order_acquire);
  }
  return sum;
}

/// Stores the counts of an instant at which all workers slept in counts_; returns false if there
/// was none.
bool TerminationDetector::find_counts() {
  const QuietCounts before = sum_now();
  // Acquire, pairs with mark_idle(): the counts of each worker before it fell asleep.
  core::JobMemory& memory = scheduler_.memory();
  if (memory.asleep_count(scheduler_.process()).load(core::Order::acquire) !=
      memory.idle_count_max())
    return false;
  // Values that are equal before and after held at that instant.
  if (sum_now() != before) return false;
  counts_ = before;
  return true;
}

void TerminationDetector::note_all_asleep() {
  // Acquire, pairs with the clear below. A worker that finds it set continues: the next poll tries
  // again.
  if (watcher_ == nullptr || is_noting_.test_and_set(std::memory_order_acquire)) return;
  // Acquire, pairs with take(): later counts come after the question.
  const std::uint32_t asked = asked_round_.load(std::memory_order_acquire);
  const QuietCounts counts_before = counts_;
  if (find_counts()) {
    note_found(asked, true);
    if (process_ == 0) wish_to_ask(counts_ != counts_before);
  }
  is_noting_.clear(std::memory_order_release);
}

/// For the next worker with the turn: the answer to send.
void TerminationDetector::note_found(std::uint32_t round, bool is_waiting) {
  // Relaxed: only its writer reads it here. An answer stays until the next question.
  if (round == found_round_.load(std::memory_order_relaxed)) return;
  found_ = counts_;
  found_.waiting = is_waiting ? 1 : 0;
  // Release, pairs with progress().
  found_round_.store(round, std::memory_order_release);
}

/// Process 0: begins a round when nothing has happened here for a while.
void TerminationDetector::wish_to_ask(bool has_changed) {
  const std::int64_t now_ns = os::monotonic_ns();
  if (has_changed || since_ns_ == 0) since_ns_ = now_ns;
  // Relaxed, both: hints; the turn protects the rounds.
  if (now_ns - since_ns_ < pause_ns_ || now_ns < next_round_ns_.load(std::memory_order_relaxed))
    return;
  next_round_ns_.store(never_ns, std::memory_order_relaxed);
  has_to_ask_.store(true, std::memory_order_relaxed);
}

void TerminationDetector::take(const HostLink::Arrival& arrival) {
  const std::uint32_t word = arrival.header.words[0];
  switch (arrival.header.kind) {
    case question_kind:
      SORREL_ASSERT(arrival.process == 0 && process_ != 0, "process 0 asks the others");
      // Release, pairs with note_all_asleep().
      asked_round_.store(word, std::memory_order_release);
      break;
    case answer_kind: {
      QuietCounts counts;
      SORREL_ASSERT(process_ == 0 && arrival.payload_bytes == sizeof counts,
                    "process 0 collects the answers");
      std::memcpy(&counts, arrival.payload, sizeof counts);
      conclude(rounds_.take(word, counts));
      break;
    }
    case report_wanted_kind:
      is_report_wanted_ = true;
      break;
    case end_kind:
      end_status_ = static_cast<int>(word);
      enders_.push_back(arrival.process);
      break;
    case end_confirmed_kind:
      ++confirmed_count_;
      break;
    default:
      SORREL_ASSERT(arrival.header.kind == report_kind && process_ == 0);
      take_report(arrival);
  }
  link_.give_back(arrival.slot);
}

void TerminationDetector::conclude(TerminationRounds::Outcome outcome) {
  using Outcome = TerminationRounds::Outcome;
  if (outcome == Outcome::still) has_to_ask_.store(true, std::memory_order_relaxed);
  if (outcome == Outcome::over) is_over_ = true;
  if (outcome == Outcome::moved || outcome == Outcome::over)
    next_round_ns_.store(os::monotonic_ns() + pause_ns_, std::memory_order_relaxed);
}

void TerminationDetector::tend_at_the_end() {
  if (watcher_ == nullptr) return;
  if (!has_ended_) {
    has_ended_ = true;
    since_ns_ = os::monotonic_ns();
  }
  counts_ = sum_now();
  // Relaxed: this thread has the turn, and no other thread is left.
  note_found(asked_round_.load(std::memory_order_relaxed), false);
  if (process_ == 0) wish_to_ask(false);
  progress();
}

void TerminationDetector::progress_round() {
  const bool is_asking = next_to_ask_ != process_count_;
  if (has_to_ask_.load(std::memory_order_relaxed) && !is_asking) {
    has_to_ask_.store(false, std::memory_order_relaxed);
    round_ = rounds_.begin();
    next_to_ask_ = 0;
  }
  ask();
  answer();
  if (is_report_wanted_) {
    is_report_wanted_ = false;
    send_report();
  }
  if (is_over_) {
    is_over_ = false;
    watcher_->on_deadlock();
  }
  if (end_status_ != 0) end();
}

void TerminationDetector::ask() {
  for (; next_to_ask_ < process_count_; ++next_to_ask_) {
    if (next_to_ask_ == process_) {
      asked_round_.store(round_, std::memory_order_release);
    } else if (!send(next_to_ask_, question_kind, round_, nullptr, 0)) {
      return;
    }
  }
}

void TerminationDetector::answer() {
  // Acquire, pairs with note_found().
  const std::uint32_t round = found_round_.load(std::memory_order_acquire);
  if (round == answered_round_) return;
  if (process_ == 0) {
    conclude(rounds_.take(round, found_));
  } else if (!send(0, answer_kind, round, &found_, sizeof found_)) {
    return;
  }
  answered_round_ = round;
}

bool TerminationDetector::send(std::uint32_t process,
                               std::uint32_t kind,
                               std::uint32_t word,
                               const void* payload,
                               std::size_t bytes) {
  const HostHeader header{.kind = kind, .words = {word, 0, 0, 0}};
  return link_.try_send(process, header, payload, static_cast<std::uint32_t>(bytes));
}

/// At the end of the job, when there is nothing else to do. Returns false if it takes too long.
bool TerminationDetector::send_in_time(std::uint32_t process,
                                       std::uint32_t kind,
                                       std::uint32_t word,
                                       std::span<const char> payload,
                                       std::int64_t give_up_ns) {
  while (!send(process, kind, word, payload.data(), payload.size())) {
    if (os::monotonic_ns() >= give_up_ns) return false;
    take_all();
    os::sleep_ns(poll_pause_ns);
  }
  return true;
}

/// Only packets of this class are still sent.
void TerminationDetector::take_all() {
  link_.progress();
  HostLink::Arrival arrival;
  while (link_.take(arrival)) {
    if (is_ours(arrival.header.kind)) {
      take(arrival);
    } else {
      link_.give_back(arrival.slot);
    }
  }
}

void TerminationDetector::send_report() {
  const std::string text = has_ended_ ? std::string() : watcher_->text_of_waits(report_bytes_max);
  const std::int64_t give_up_ns = os::monotonic_ns() + report_wait_ns;
  std::span<const char> left = text;
  do {
    const auto part =
        left.first(std::min<std::size_t>(left.size(), link_.limits().payload_bytes_max));
    if (!send_in_time(0, report_kind, static_cast<std::uint32_t>(text.size()), part, give_up_ns))
      return;
    left = left.subspan(part.size());
  } while (!left.empty());
}

void TerminationDetector::take_report(const HostLink::Arrival& arrival) {
  if (reports_.empty()) return;
  Report& report = reports_[arrival.process];
  report.text.append(reinterpret_cast<const char*>(arrival.payload), arrival.payload_bytes);
  report.has_come = report.text.size() >= arrival.header.words[0];
}

std::vector<TerminationDetector::Report> TerminationDetector::gather_reports() {
  const std::int64_t give_up_ns = os::monotonic_ns() + report_wait_ns;
  reports_.assign(process_count_, {});
  reports_[process_].has_come = true;
  for (std::uint32_t process = 0; process < process_count_; ++process) {
    // Processes that could not be asked in time are missing below.
    if (process != process_) (void)send_in_time(process, report_wanted_kind, 0, {}, give_up_ns);
  }
  const auto is_here = [](const Report& report) { return report.has_come; };
  while (!std::ranges::all_of(reports_, is_here) && os::monotonic_ns() < give_up_ns) {
    take_all();
    os::sleep_ns(poll_pause_ns);
  }
  return std::move(reports_);
}

bool TerminationDetector::end_others(int status) {
  const std::int64_t give_up_ns = os::monotonic_ns() + report_wait_ns;
  confirmed_count_ = 0;
  for (std::uint32_t process = 0; process < process_count_; ++process) {
    if (process != process_ &&
        !send_in_time(process, end_kind, static_cast<std::uint32_t>(status), {}, give_up_ns))
      return false;
  }
  while (confirmed_count_ < process_count_ - 1 && os::monotonic_ns() < give_up_ns) {
    take_all();
    // The first of several processes that end the job at once waits for all.
    const bool is_first =
        std::ranges::all_of(enders_, [this](std::uint32_t it) { return it > process_; });
    if (!confirm_ends()) return false;
    if (!is_first) return true;
    os::sleep_ns(poll_pause_ns);
  }
  return confirmed_count_ == process_count_ - 1;
}

/// Confirms to the processes that have ended the job. Returns false if it takes too long.
bool TerminationDetector::confirm_ends() {
  const std::int64_t give_up_ns = os::monotonic_ns() + report_wait_ns;
  for (const std::uint32_t ender : std::exchange(enders_, {})) {
    if (!send_in_time(ender, end_confirmed_kind, 0, {}, give_up_ns)) return false;
  }
  return true;
}

void TerminationDetector::end() {
  const int status = std::exchange(end_status_, 0);
  if (!confirm_ends()) return;
  const std::int64_t end_ns = os::monotonic_ns() + end_pause_ns;
  while (os::monotonic_ns() < end_ns && !link_.is_empty()) {
    link_.progress();
    os::sleep_ns(poll_pause_ns);
  }
  os::sleep_ns(end_pause_ns);
  watcher_->on_end(status);
}

}  // namespace sorrel::transport
