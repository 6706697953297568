//! LockedMailbox - one queue of records from all senders to a worker, behind a lock, for
//! measurements.
//!
//! A record is copied out under the lock and run without it: a runner may post, and two workers
//! that post to each other with their own queues locked would wait for ever. All zero is the empty
//! queue, free.
#pragma once

#include <array>
#include <cstddef>
#include <mutex>

#include "base/copy_bytes.hpp"
#include "core/mailbox.hpp"

namespace sorrel::core::study {

enum class EmptyCheck { under_lock, without_lock };

template <EmptyCheck empty_check>
class LockedMailbox {
 public:
  /// Any worker. Returns false if the queue is full: nothing was sent.
  bool try_post(const Record& record, const void* payload) {
    const std::lock_guard lock(mutex_);
    return queue_.try_post(record, payload);
  }

  void fetch_record() const { queue_.fetch_record(); }

  /// Receiver only. Whether a record waits.
  [[nodiscard]] bool has_record() const {
    if constexpr (empty_check == EmptyCheck::without_lock) return queue_.has_record();
    const std::lock_guard lock(mutex_);
    return queue_.has_record();
  }

  /// Receiver only. Passes the oldest record to consume(record, payload), or returns false if there
  /// is none.
  template <class Consume>
  bool take(Consume&& consume, Flow /*flow*/ = Flow::single) {
    if (empty_check == EmptyCheck::without_lock && !queue_.has_record()) return false;
    Record taken;
    alignas(16) std::array<std::byte, Mailbox::payload_bytes_max> copy;
    const auto copy_out = [&](const Record& record, const std::byte* payload) {
      taken = record;
      copy_bytes(copy.data(), payload, record.payload_bytes);
    };
    {
      const std::lock_guard lock(mutex_);
      if (!queue_.take(copy_out)) return false;
    }
    consume(taken, copy.data());
    return true;
  }

 private:
  mutable std::mutex mutex_;
  Mailbox queue_;
};

}  // namespace sorrel::core::study
