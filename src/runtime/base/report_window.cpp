#include "runtime/base/report_window.hpp"

#include <atomic>

#include "base/check.hpp"
#include "os/futex.hpp"
#include "runtime/base/this_process.hpp"

namespace sorrel::runtime {

namespace {

// Release, pairs with answer_report_request(): what the caller of set_report_answer() has made.
std::atomic<void (*)()> answer_request{nullptr};
// A RankStage. Acquire and release: the ranks exist.
std::atomic<std::uint32_t> stage{0};

constexpr std::uint32_t number(RankStage of) {
  return static_cast<std::uint32_t>(of);
}

bool is_reported(const Job& job) {
  return job_of_process() == &job;
}

}  // namespace

void set_report_answer(void (*answer)()) {
  answer_request.store(answer, std::memory_order_release);
}

void answer_report_request() {
  void (*const answer)() = answer_request.load(std::memory_order_acquire);
  if (answer != nullptr) answer();
}

void open_window(const Job& job) {
  if (is_reported(job)) stage.store(number(RankStage::open), std::memory_order_release);
}

namespace {

/// From `open`, when no thread reads; does nothing after the ranks.
void leave_open(RankStage next) {
  for (;;) {
    std::uint32_t now = stage.load(std::memory_order_acquire);
    if (now == number(RankStage::after_ranks)) return;
    if (now == number(RankStage::reading)) {
      os::futex_wait(stage, number(RankStage::reading), -1);
    } else if (stage.compare_exchange_strong(now, number(next), std::memory_order_acq_rel)) {
      return;
    }
  }
}

}  // namespace

void close_window(const Job& job) {
  if (is_reported(job)) leave_open(RankStage::after_ranks);
}

void begin_change(const Job& job) {
  if (is_reported(job)) leave_open(RankStage::changing);
}

void end_change(const Job& job) {
  if (!is_reported(job)) return;
  stage.store(number(RankStage::open), std::memory_order_release);
  os::futex_wake_all(stage);
}

RankStage rank_stage() {
  return static_cast<RankStage>(stage.load(std::memory_order_acquire));
}

RankStage begin_reading() {
  for (;;) {
    std::uint32_t expected = number(RankStage::open);
    stage.compare_exchange_strong(expected, number(RankStage::reading), std::memory_order_acq_rel);
    if (expected != number(RankStage::changing)) return static_cast<RankStage>(expected);
    os::futex_wait(stage, number(RankStage::changing), -1);
  }
}

void end_reading() {
  SORREL_ASSERT(rank_stage() == RankStage::reading, "nothing is read, in stage %u",
                static_cast<unsigned>(rank_stage()));
  stage.store(number(RankStage::open), std::memory_order_release);
  os::futex_wake_all(stage);
}

}  // namespace sorrel::runtime
