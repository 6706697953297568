//! Streams of the fake device: each runs its operations in order, on a thread of its own.
//!
//! An operation waits for those that it depends on: events, and by the rule of the legacy default
//! stream. One lock for all of it; the end of an operation wakes only what waits for it, so that a
//! hundred streams cost no more than one.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace fake_cuda {

/// One operation, from its issue to its end.
struct Operation {
  std::function<void()> body;
  unsigned delay_us = 0;
  std::vector<std::shared_ptr<Operation>> after;
  /// Notified at its end. Each stays until then.
  std::vector<std::condition_variable*> waiters;
  bool is_done = false;
};

using Issued = std::shared_ptr<Operation>;

class Stream;

/// What the streams of a context have in common.
struct StreamGroup {
  std::set<Stream*> blocking;
  Issued last_legacy;
};

class Stream {
 public:
  Stream(StreamGroup& group, unsigned flags, bool is_legacy);
  /// After what was issued.
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Behind all that was issued here, and behind `after`, which may be null.
  Issued issue(std::function<void()> body, unsigned delay_us = 0, const Issued& after = nullptr);

  [[nodiscard]] unsigned flags() const { return flags_; }

  /// The operation issued last; null: none.
  [[nodiscard]] Issued last();

 private:
  void run();
  void put_behind(Operation& operation, const Issued& earlier);

  StreamGroup& group_;
  const unsigned flags_;
  const bool is_legacy_;
  std::deque<Issued> queue_;
  Issued last_;
  bool ends_ = false;
  /// The first operation may be ready, or the stream ends.
  std::condition_variable changed_;
  std::thread thread_;
};

[[nodiscard]] bool is_done(const Issued& operation);
/// Sleeps until it is done. Returns whether it was not.
bool wait(const Issued& operation);

}  // namespace fake_cuda
