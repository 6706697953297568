#include "omp/worksharing/doacross.hpp"

#include "omp/sched/schedule.hpp"

namespace sorrel::omp {

namespace {

struct Sink {
  const std::atomic<std::uint64_t>* posted;
  std::uint64_t wanted;

  static bool has_come(void* argument) {
    const auto& self = *static_cast<const Sink*>(argument);
    // (S), pairs with post_iteration().
    return self.posted->load(waiter_order) >= self.wanted;
  }
};

}  // namespace

void post_iteration(WorkShare& share, std::uint64_t outer, std::uint64_t inner) {
  // (S), pairs with Sink.
  share.posted[outer].exchange(inner + 1, waker_order);
  wake_all(share.waiters);
}

void wait_for_iteration(TeamThread& thread,
                        WorkShare& share,
                        std::uint64_t outer,
                        std::uint64_t inner) {
  if (outer >= share.counts[0]) return;
  Sink sink{.posted = &share.posted[outer], .wanted = inner + 1};
  const Condition condition{.holds_of = Sink::has_come, .argument = &sink};
  if (!condition.holds()) wait_until(thread, share.waiters, condition);
}

}  // namespace sorrel::omp
