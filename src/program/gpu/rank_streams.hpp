//! RankStreams - the streams of a rank, and the default streams that it has in place of the
//! driver's.
//!
//! The driver has one legacy default stream for each context: in it, the work of all ranks of a
//! process would wait for each other's. And one default stream for each thread, while a worker's
//! thread runs several ranks. So each rank has streams of its own for both, in each context that it
//! uses. The order that the driver keeps between the legacy stream and blocking streams is kept by
//! events, among the streams of the rank alone. All streams made here are blocking ones: an
//! operation in the driver's own legacy stream (by a function that is not intercepted) therefore
//! still keeps its order with them, and waits for other ranks, too.
//!
//! Any thread of the rank; never suspends.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "program/gpu/driver_api.hpp"

namespace sorrel::program::gpu {

/// What a null handle of a stream means: the caller's choice when it was compiled.
enum class NullStream : std::uint8_t { legacy, per_thread };

inline constexpr NullStream null_is_legacy = NullStream::legacy;
inline constexpr NullStream null_is_thread = NullStream::per_thread;

class RankStreams {
 public:
  /// The driver's stream for a handle of the rank, of which the next call only asks something, or
  /// for which it waits.
  [[nodiscard]] Stream find(Stream handle, NullStream null_stream);

  /// As find(), before an operation is issued in the stream: orders it behind earlier ones of the
  /// rank as the driver would.
  [[nodiscard]] Stream enter(Stream handle, NullStream null_stream);

  /// Whether the driver's stream is one that find() returns for a handle of a default stream.
  [[nodiscard]] bool is_default(Stream stream);

  void add(Stream stream, bool is_blocking);
  void remove(Stream stream);

  /// While a stream is captured into a graph, no order is added.
  void begin_capture();
  void end_capture();

  /// Waits of the rank are made known by functions in this stream. Null: it cannot be made.
  [[nodiscard]] Stream wake_stream();

  /// Copies of messages are made in this stream, of the current context. Null: it cannot be made.
  [[nodiscard]] Stream copy_stream();

  /// As copy_stream(), for copies of other ranks. Any thread of the process.
  [[nodiscard]] Stream window_stream();

  /// All streams of a context that the rank may have work in.
  [[nodiscard]] std::vector<Stream> of_context(Context context);

  /// Takes out all streams of a context; the caller ends them.
  [[nodiscard]] std::vector<Stream> take_all_of(Context context, std::vector<Event>& events);

 private:
  struct Own {
    Stream stream;
    Context context;
    bool is_blocking;
    /// It may have work behind which the next operation in the legacy stream must be.
    bool has_news = true;
    /// Operations of the legacy stream behind which its work already is.
    std::uint64_t legacy_seen = 0;
  };

  /// In one context.
  struct Defaults {
    Context context = nullptr;
    Stream legacy = nullptr;
    Stream per_thread = nullptr;
    Stream wake = nullptr;
    Stream copy = nullptr;
    Stream window = nullptr;
    Event event = nullptr;
    std::uint64_t legacy_count = 0;
  };

  [[nodiscard]] Defaults* defaults();
  [[nodiscard]] Stream own_stream(Stream Defaults::* which);
  [[nodiscard]] Stream legacy_stream(Defaults& of);
  void order_legacy(Defaults& of);
  void order_blocking(Own& own);
  [[nodiscard]] Own* own_of(Stream stream);

  std::mutex mutex_;
  std::vector<Own> streams_;
  std::vector<Defaults> defaults_;
  int capture_count_ = 0;
  /// Whether any legacy stream has been used: before, operations in other streams are not looked
  /// at.
  bool is_legacy_used_ = false;
};

}  // namespace sorrel::program::gpu
