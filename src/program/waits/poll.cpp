//! poll, ppoll, select, pselect, epoll_wait and epoll_pwait: while a rank waits for descriptors its
//! worker runs other ranks.
//!
//! The rank polls the system without blocking, and sleeps between two polls: an eighth of the time
//! waited so far, at most 1 ms. An event is seen at most that much later than natively.

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <vector>

#include "core/worker.hpp"
#include "program/base/durations.hpp"
#include "program/base/libc.hpp"
#include "program/rank/rank_process.hpp"

using namespace sorrel::program;

namespace {

constexpr std::int64_t pause_ns_min = 20'000;
constexpr std::int64_t pause_ns_max = 1'000'000;
constexpr std::int64_t endless = -1;

/// Calls `look()` until it returns neither 0 nor EINTR, or `timeout_ns` have passed; `left_ns` is
/// the time that remains.
template <class Look>
int wait_for_events(RankProcess& process,
                    const OutsideWait& endless_wait,
                    std::int64_t timeout_ns,
                    std::int64_t& left_ns,
                    Look&& look) {
  sorrel::core::Worker& worker = *sorrel::core::Worker::current();
  static constexpr OutsideWait with_timeout{.call = "poll", .is_endless = false};
  const OutsideWait& wait = timeout_ns == endless ? endless_wait : with_timeout;
  const std::int64_t began_ns = worker.now_ns();
  left_ns = timeout_ns;
  for (;;) {
    const int answer = look();
    // The system has seen a signal arrive; if it is for this rank, its handler runs below.
    const bool has_seen_signal = answer < 0 && errno == EINTR;
    if (answer != 0 && !has_seen_signal) return answer;
    if (left_ns == 0) return 0;
    const std::int64_t waited_ns = worker.now_ns() - began_ns;
    std::int64_t pause_ns = std::clamp(waited_ns / 8, pause_ns_min, pause_ns_max);
    if (timeout_ns != endless) pause_ns = std::min(pause_ns, left_ns);
    const bool is_interrupted = process.sleep(wait, pause_ns) != 0;
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
  return time == nullptr || is_duration(*time);
}

[[nodiscard]] std::int64_t ns_of(const timespec* time) {
  return time == nullptr ? endless : to_ns(*time);
}

/// The descriptor sets of a select(), which each call overwrites with its answer.
class Sets {
 public:
  Sets(int count, fd_set* read, fd_set* write, fd_set* except)
      : words_((static_cast<std::size_t>(count) + NFDBITS - 1) / NFDBITS) {
    for (fd_set* set : {read, write, except}) {
      sets_[size_] = set;
      if (set != nullptr) asked_[size_].assign(words_of(set), words_of(set) + words_);
      ++size_;
    }
  }

  /// Restores the caller's sets for the next call.
  void restore() const {
    for (std::size_t i = 0; i < size_; ++i) {
      if (sets_[i] != nullptr) std::ranges::copy(asked_[i], words_of(sets_[i]));
    }
  }

 private:
  static fd_mask* words_of(fd_set* set) { return set->fds_bits; }

  std::size_t words_;
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

int poll_in_rank(RankProcess& process, pollfd* descriptors, nfds_t count, int timeout_ms) {
  std::int64_t left_ns = 0;
  return wait_for_events(process, poll_without_timeout, ns_of_ms(timeout_ms), left_ns,
                         [&] { return real_poll(descriptors, count, 0); });
}

int ppoll_in_rank(RankProcess& process,
                  pollfd* descriptors,
                  nfds_t count,
                  const timespec* timeout,
                  const sigset_t* mask) {
  // An invalid time gets the C library's answer.
  if (!is_valid(timeout)) return real_ppoll(descriptors, count, timeout, mask);
  std::int64_t left_ns = 0;
  return wait_for_events(process, ppoll_without_timeout, ns_of(timeout), left_ns,
                         [&] { return real_ppoll(descriptors, count, &at_once, mask); });
}

}  // namespace

SORREL_INTERPOSED int poll(pollfd* descriptors, nfds_t count, int timeout_ms) {
  RankProcess* process = process_that_may_wait(__builtin_return_address(0));
  return process != nullptr ? poll_in_rank(*process, descriptors, count, timeout_ms)
                            : real_poll(descriptors, count, timeout_ms);
}

SORREL_INTERPOSED int ppoll(pollfd* descriptors,
                            nfds_t count,
                            const timespec* timeout,
                            const sigset_t* mask) {
  RankProcess* process = process_that_may_wait(__builtin_return_address(0));
  return process != nullptr ? ppoll_in_rank(*process, descriptors, count, timeout, mask)
                            : real_ppoll(descriptors, count, timeout, mask);
}

SORREL_INTERPOSED int select(
    int count, fd_set* read, fd_set* write, fd_set* except, timeval* timeout) {
  static auto* const real = next_definition<decltype(::select)>("select");
  RankProcess* process = process_that_may_wait(__builtin_return_address(0));
  const bool is_usual =
      count >= 0 && (timeout == nullptr || (timeout->tv_sec >= 0 && timeout->tv_usec >= 0));
  if (process == nullptr || !is_usual) return real(count, read, write, except, timeout);
  const Sets sets(count, read, write, except);
  const std::int64_t timeout_ns =
      timeout == nullptr ? endless
                         : std::int64_t{timeout->tv_sec} * 1'000'000'000 + timeout->tv_usec * 1000;
  std::int64_t left_ns = 0;
  const int answer = wait_for_events(*process, select_without_timeout, timeout_ns, left_ns, [&] {
    sets.restore();
    timeval no_time{};
    return real(count, read, write, except, &no_time);
  });
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
  RankProcess* process = process_that_may_wait(__builtin_return_address(0));
  if (process == nullptr || count < 0 || !is_valid(timeout))
    return real(count, read, write, except, timeout, mask);
  const Sets sets(count, read, write, except);
  std::int64_t left_ns = 0;
  return wait_for_events(*process, pselect_without_timeout, ns_of(timeout), left_ns, [&] {
    sets.restore();
    return real(count, read, write, except, &at_once, mask);
  });
}

SORREL_INTERPOSED int epoll_pwait(
    int epoll, epoll_event* events, int count_max, int timeout_ms, const sigset_t* mask) {
  static auto* const real = next_definition<decltype(::epoll_pwait)>("epoll_pwait");
  RankProcess* process =
      timeout_ms == 0 ? nullptr : process_that_may_wait(__builtin_return_address(0));
  if (process == nullptr) return real(epoll, events, count_max, timeout_ms, mask);
  std::int64_t left_ns = 0;
  return wait_for_events(*process, epoll_wait_without_timeout, ns_of_ms(timeout_ms), left_ns,
                         [&] { return real(epoll, events, count_max, 0, mask); });
}

SORREL_INTERPOSED int epoll_wait(int epoll, epoll_event* events, int count_max, int timeout_ms) {
  static auto* const real = next_definition<decltype(::epoll_wait)>("epoll_wait");
  RankProcess* process =
      timeout_ms == 0 ? nullptr : process_that_may_wait(__builtin_return_address(0));
  if (process == nullptr) return real(epoll, events, count_max, timeout_ms);
  std::int64_t left_ns = 0;
  return wait_for_events(*process, epoll_wait_without_timeout, ns_of_ms(timeout_ms), left_ns,
                         [&] { return real(epoll, events, count_max, 0); });
}

// Called by programs that were compiled with _FORTIFY_SOURCE.

SORREL_INTERPOSED int __poll_chk(pollfd* descriptors,
                                 nfds_t count,
                                 int timeout_ms,
                                 std::size_t bytes) {
  static auto* const real = next_definition<int(pollfd*, nfds_t, int, std::size_t)>("__poll_chk");
  RankProcess* process = process_that_may_wait(__builtin_return_address(0));
  // Too small an array gets the C library's answer.
  if (process == nullptr || bytes / sizeof(pollfd) < count)
    return real(descriptors, count, timeout_ms, bytes);
  return poll_in_rank(*process, descriptors, count, timeout_ms);
}

SORREL_INTERPOSED int __ppoll_chk(pollfd* descriptors,
                                  nfds_t count,
                                  const timespec* timeout,
                                  const sigset_t* mask,
                                  std::size_t bytes) {
  static auto* const real =
      next_definition<int(pollfd*, nfds_t, const timespec*, const sigset_t*, std::size_t)>(
          "__ppoll_chk");
  RankProcess* process = process_that_may_wait(__builtin_return_address(0));
  if (process == nullptr || bytes / sizeof(pollfd) < count)
    return real(descriptors, count, timeout, mask, bytes);
  return ppoll_in_rank(*process, descriptors, count, timeout, mask);
}
