//! poll, ppoll, select, pselect, epoll_wait, epoll_pwait and epoll_pwait2: while a rank waits for
//! descriptors its worker runs other ranks.
//!
//! The rank polls the system without blocking, and sleeps between two polls: an eighth of the time
//! waited so far, at most 1 ms. An event is seen at most that much later than natively. A call
//! without a timeout that has seen nothing lets the other ready ranks run once.

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <vector>

#include "base/check.hpp"
#include "core/worker.hpp"
#include "program/base/durations.hpp"
#include "program/base/libc.hpp"
#include "program/base/user_memory.hpp"
#include "program/rank/rank_process.hpp"
#include "program/rank/wait_mask.hpp"
#include "program/waits/yield.hpp"

using namespace sorrel::program;

namespace {

constexpr std::int64_t pause_ns_min = 20'000;
constexpr std::int64_t pause_ns_max = 1'000'000;
constexpr std::int64_t endless = -1;

/// Calls `look()` until it returns neither 0 nor EINTR, or `timeout_ns` have passed; `left_ns` is
/// the time that remains.
template <class Look>
int wait_for_events(RankProcess& process,
                    const void* caller,
                    const OutsideWait& endless_wait,
                    std::int64_t timeout_ns,
                    std::int64_t& left_ns,
                    Look&& look) {
  SORREL_ASSERT(timeout_ns >= endless, "a timeout of %lld ns", static_cast<long long>(timeout_ns));
  sorrel::core::Worker& worker = *sorrel::core::Worker::current();
  static constexpr OutsideWait with_timeout{.call = "poll", .is_endless = false};
  const OutsideWait& wait = timeout_ns == endless ? endless_wait : with_timeout;
  const std::int64_t began_ns = worker.now_ns();
  const RankSignals& signals = process.signals();
  const std::uint64_t runs_before = signals.run_count();
  left_ns = timeout_ns;
  for (;;) {
    const int answer = look();
    // The system has seen a signal arrive; if it is for this rank, its handler runs below.
    const bool has_seen_signal = answer < 0 && errno == EINTR;
    if (answer != 0 && !has_seen_signal) return answer;
    if (left_ns == 0 && !signals.has_work() && signals.run_count() == runs_before) {
      if (timeout_ns == 0) give_way(caller);
      return 0;
    }
    const std::int64_t waited_ns = worker.now_ns() - began_ns;
    std::int64_t pause_ns = std::clamp(waited_ns / 8, pause_ns_min, pause_ns_max);
    if (timeout_ns != endless) pause_ns = std::min(pause_ns, left_ns);
    const bool is_interrupted =
        process.sleep(wait, pause_ns) != 0 || signals.run_count() != runs_before;
    if (timeout_ns != endless)
      left_ns = std::max<std::int64_t>(timeout_ns - (worker.now_ns() - began_ns), 0);
    if (is_interrupted) {
      errno = EINTR;
      return -1;
    }
  }
}

[[nodiscard]] std::int64_t ns_of_ms(int milliseconds) {
  return milliseconds < 0 ? endless : std::int64_t{milliseconds} * 1'000'000;
}

[[nodiscard]] bool is_valid(const timespec* time) {
  timespec copy{};
  return time == nullptr || (copy_from_user(&copy, time, sizeof copy) && is_duration(copy));
}

[[nodiscard]] bool is_valid(const sigset_t* mask) {
  return mask == nullptr || can_read(mask);
}

[[nodiscard]] bool is_valid(const timeval* time) {
  timeval copy{};
  return time == nullptr ||
         (copy_from_user(&copy, time, sizeof copy) && copy.tv_sec >= 0 && copy.tv_usec >= 0);
}

/// The number of descriptors for which the process has room: the system looks at no more of a set.
std::size_t descriptor_room() {
  constexpr std::size_t least = 64;
  std::size_t room = least;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> status(
      std::fopen("/proc/self/status", "re"), std::fclose);
  char line[256];
  while (status != nullptr && std::fgets(line, sizeof line, status.get()) != nullptr) {
    if (std::sscanf(line, "FDSize: %zu", &room) == 1) break;
  }
  return room;
}

[[nodiscard]] std::int64_t ns_of(const timespec* time) {
  return time == nullptr ? endless : to_ns(*time);
}

/// The descriptor sets of a select(), which each call overwrites with its answer.
class Sets {
 public:
  /// Nothing if a set cannot be read.
  static std::optional<Sets> of(int count, fd_set* read, fd_set* write, fd_set* except) {
    // A program may pass more than it has room for, as the largest int.
    auto size = static_cast<std::size_t>(count);
    if (size > FD_SETSIZE) size = std::min(size, descriptor_room());
    const std::size_t words = (size + NFDBITS - 1) / NFDBITS;
    Sets sets;
    for (fd_set* set : {read, write, except}) {
      std::vector<fd_mask>& asked = sets.asked_[sets.size_];
      sets.sets_[sets.size_++] = set;
      if (set == nullptr) continue;
      asked.resize(words);
      if (!copy_from_user(asked.data(), set, words * sizeof(fd_mask))) return std::nullopt;
    }
    return sets;
  }

  /// Restores the caller's sets for the next call.
  void restore() const {
    for (std::size_t i = 0; i < size_; ++i) {
      if (sets_[i] == nullptr) continue;
      // Not by the type's own array, which has a size.
      SORREL_ASSERT(asked_[i].size() == asked_[size_ - 1].size() || sets_[size_ - 1] == nullptr,
                    "sets of %zu and %zu words", asked_[i].size(), asked_[size_ - 1].size());
      auto* words = reinterpret_cast<fd_mask*>(sets_[i]);
      std::ranges::copy(asked_[i], words);
    }
  }

 private:
  Sets() = default;

  std::size_t size_ = 0;
  fd_set* sets_[3] = {};
  std::vector<fd_mask> asked_[3];
};

constexpr timespec at_once{};

constexpr OutsideWait poll_without_timeout{.call = "poll", .is_endless = true};
constexpr OutsideWait ppoll_without_timeout{.call = "ppoll", .is_endless = true};
constexpr OutsideWait select_without_timeout{.call = "select", .is_endless = true};
constexpr OutsideWait pselect_without_timeout{.call = "pselect", .is_endless = true};
constexpr OutsideWait epoll_wait_without_timeout{.call = "epoll_wait", .is_endless = true};

int real_poll(pollfd* descriptors, nfds_t count, int timeout_ms) {
  static auto* const real = next_definition<decltype(::poll)>("poll");
  return real(descriptors, count, timeout_ms);
}

int real_ppoll(pollfd* descriptors, nfds_t count, const timespec* timeout, const sigset_t* mask) {
  static auto* const real = next_definition<decltype(::ppoll)>("ppoll");
  return real(descriptors, count, timeout, mask);
}

int poll_in_rank(
    RankProcess& process, const void* caller, pollfd* descriptors, nfds_t count, int timeout_ms) {
  std::int64_t left_ns = 0;
  return wait_for_events(process, caller, poll_without_timeout, ns_of_ms(timeout_ms), left_ns,
                         [&] { return real_poll(descriptors, count, 0); });
}

int ppoll_in_rank(RankProcess& process,
                  const void* caller,
                  pollfd* descriptors,
                  nfds_t count,
                  const timespec* timeout,
                  const sigset_t* mask) {
  // An invalid argument gets the C library's answer.
  if (!is_valid(timeout) || !is_valid(mask)) return real_ppoll(descriptors, count, timeout, mask);
  const WaitMask during(process.signals(), mask);
  std::int64_t left_ns = 0;
  return wait_for_events(process, caller, ppoll_without_timeout, ns_of(timeout), left_ns,
                         [&] { return real_poll(descriptors, count, 0); });
}

/// `wait(mask)` by a thread outside of workers.
template <class Wait, class Look>
int wait_outside(const void* caller, const sigset_t* mask, Wait&& wait, Look&& look) {
  RankProcess* process = mask == nullptr ? nullptr : process_on_own_thread(caller);
  if (process == nullptr || !can_read(mask)) return wait(mask);
  return wait_with_mask(*process, *mask, [&](const sigset_t& own) { return wait(&own); }, look);
}

int ppoll_outside(const void* caller,
                  pollfd* descriptors,
                  nfds_t count,
                  const timespec* timeout,
                  const sigset_t* mask) {
  return wait_outside(
      caller, mask,
      [&](const sigset_t* own) { return real_ppoll(descriptors, count, timeout, own); },
      [&] { return real_poll(descriptors, count, 0); });
}

/// epoll_wait() and its forms; `wait(timeout, mask)` is the C library's function.
template <class Timeout, class Wait>
int epoll_in(const void* caller,
             Timeout timeout,
             Timeout no_time,
             std::int64_t timeout_ns,
             const sigset_t* mask,
             Wait&& wait) {
  const auto look = [&] { return wait(no_time, nullptr); };
  RankProcess* process =
      timeout_ns == 0 && mask == nullptr ? nullptr : process_that_may_wait(caller);
  if (process == nullptr || !is_valid(mask)) {
    const int answer =
        wait_outside(caller, mask, [&](const sigset_t* own) { return wait(timeout, own); }, look);
    if (timeout_ns == 0 && answer == 0) give_way(caller);
    return answer;
  }
  const WaitMask during(process->signals(), mask);
  std::int64_t left_ns = 0;
  return wait_for_events(*process, caller, epoll_wait_without_timeout, timeout_ns, left_ns, look);
}

}  // namespace

SORREL_INTERPOSED int poll(pollfd* descriptors, nfds_t count, int timeout_ms) {
  const void* caller = __builtin_return_address(0);
  RankProcess* process = process_that_may_wait(caller);
  return process != nullptr ? poll_in_rank(*process, caller, descriptors, count, timeout_ms)
                            : real_poll(descriptors, count, timeout_ms);
}

SORREL_INTERPOSED int ppoll(pollfd* descriptors,
                            nfds_t count,
                            const timespec* timeout,
                            const sigset_t* mask) {
  const void* caller = __builtin_return_address(0);
  RankProcess* process = process_that_may_wait(caller);
  return process != nullptr ? ppoll_in_rank(*process, caller, descriptors, count, timeout, mask)
                            : ppoll_outside(caller, descriptors, count, timeout, mask);
}

SORREL_INTERPOSED int select(
    int count, fd_set* read, fd_set* write, fd_set* except, timeval* timeout) {
  static auto* const real = next_definition<decltype(::select)>("select");
  const void* caller = __builtin_return_address(0);
  RankProcess* process = process_that_may_wait(caller);
  if (process == nullptr || count < 0 || !is_valid(timeout))
    return real(count, read, write, except, timeout);
  const std::optional<Sets> sets = Sets::of(count, read, write, except);
  if (!sets) return real(count, read, write, except, timeout);
  const std::int64_t timeout_ns =
      timeout == nullptr ? endless
                         : std::int64_t{timeout->tv_sec} * 1'000'000'000 + timeout->tv_usec * 1000;
  std::int64_t left_ns = 0;
  const auto look = [&] {
    sets->restore();
    timeval no_time{};
    return real(count, read, write, except, &no_time);
  };
  const int answer =
      wait_for_events(*process, caller, select_without_timeout, timeout_ns, left_ns, look);
  // As on Linux: the time that is left.
  if (timeout != nullptr)
    *timeout = {.tv_sec = left_ns / 1'000'000'000, .tv_usec = left_ns / 1000 % 1'000'000};
  return answer;
}

SORREL_INTERPOSED int pselect(int count,
                              fd_set* read,
                              fd_set* write,
                              fd_set* except,
                              const timespec* timeout,
                              const sigset_t* mask) {
  static auto* const real = next_definition<decltype(::pselect)>("pselect");
  const void* caller = __builtin_return_address(0);
  if (count < 0 || !is_valid(timeout) || !is_valid(mask))
    return real(count, read, write, except, timeout, mask);
  const std::optional<Sets> sets = Sets::of(count, read, write, except);
  if (!sets) return real(count, read, write, except, timeout, mask);
  const auto look = [&] {
    sets->restore();
    return real(count, read, write, except, &at_once, nullptr);
  };
  RankProcess* process = process_that_may_wait(caller);
  if (process == nullptr)
    return wait_outside(
        caller, mask,
        [&](const sigset_t* own) { return real(count, read, write, except, timeout, own); }, look);
  const WaitMask during(process->signals(), mask);
  std::int64_t left_ns = 0;
  return wait_for_events(*process, caller, pselect_without_timeout, ns_of(timeout), left_ns, look);
}

SORREL_INTERPOSED int epoll_pwait(
    int epoll, epoll_event* events, int count_max, int timeout_ms, const sigset_t* mask) {
  static auto* const real = next_definition<decltype(::epoll_pwait)>("epoll_pwait");
  return epoll_in(
      __builtin_return_address(0), timeout_ms, 0, ns_of_ms(timeout_ms), mask,
      [&](int time, const sigset_t* own) { return real(epoll, events, count_max, time, own); });
}

SORREL_INTERPOSED int epoll_pwait2(
    int epoll, epoll_event* events, int count_max, const timespec* timeout, const sigset_t* mask) {
  static auto* const real = next_definition<decltype(::epoll_pwait2)>("epoll_pwait2");
  if (!is_valid(timeout)) return real(epoll, events, count_max, timeout, mask);
  return epoll_in(__builtin_return_address(0), timeout, &at_once, ns_of(timeout), mask,
                  [&](const timespec* time, const sigset_t* own) {
                    return real(epoll, events, count_max, time, own);
                  });
}

SORREL_INTERPOSED int epoll_wait(int epoll, epoll_event* events, int count_max, int timeout_ms) {
  static auto* const real = next_definition<decltype(::epoll_wait)>("epoll_wait");
  return epoll_in(__builtin_return_address(0), timeout_ms, 0, ns_of_ms(timeout_ms), nullptr,
                  [&](int time, const sigset_t*) { return real(epoll, events, count_max, time); });
}

// Called by programs that were compiled with _FORTIFY_SOURCE.

SORREL_INTERPOSED int __poll_chk(pollfd* descriptors,
                                 nfds_t count,
                                 int timeout_ms,
                                 std::size_t bytes) {
  static auto* const real = next_definition<int(pollfd*, nfds_t, int, std::size_t)>("__poll_chk");
  const void* caller = __builtin_return_address(0);
  RankProcess* process = process_that_may_wait(caller);
  // Too small an array gets the C library's answer.
  if (process == nullptr || bytes / sizeof(pollfd) < count)
    return real(descriptors, count, timeout_ms, bytes);
  return poll_in_rank(*process, caller, descriptors, count, timeout_ms);
}

SORREL_INTERPOSED int __ppoll_chk(pollfd* descriptors,
                                  nfds_t count,
                                  const timespec* timeout,
                                  const sigset_t* mask,
                                  std::size_t bytes) {
  static auto* const real =
      next_definition<int(pollfd*, nfds_t, const timespec*, const sigset_t*, std::size_t)>(
          "__ppoll_chk");
  const void* caller = __builtin_return_address(0);
  if (bytes / sizeof(pollfd) < count) return real(descriptors, count, timeout, mask, bytes);
  RankProcess* process = process_that_may_wait(caller);
  return process != nullptr ? ppoll_in_rank(*process, caller, descriptors, count, timeout, mask)
                            : ppoll_outside(caller, descriptors, count, timeout, mask);
}
