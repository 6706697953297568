//! RankGpu - what one rank has on GPUs: contexts, streams, memory.
//!
//! To the rank the driver looks as if no other rank of the process used it: its current context
//! goes with it when its worker runs another rank, and what it does to a context as a whole
//! concerns its own work and memory. Any thread of the rank, unless marked otherwise.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "device/owned_memory.hpp"
#include "program/gpu/pinned_memory.hpp"
#include "program/gpu/rank_memory.hpp"
#include "program/gpu/rank_streams.hpp"
#include "program/state/device_state.hpp"

namespace sorrel::program {
class RankProcess;
struct OutsideWait;
}  // namespace sorrel::program

namespace sorrel::program::gpu {

/// The context that is current on the calling thread; its destructor restores it.
class ThreadContext {
 public:
  ThreadContext() : before_(current()), now_(before_) {}

  ~ThreadContext() { use(before_); }

  ThreadContext(const ThreadContext&) = delete;
  ThreadContext& operator=(const ThreadContext&) = delete;

  void use(Context context) {
    if (context == now_) return;
    static_cast<void>(driver().cuCtxSetCurrent(context));
    now_ = context;
  }

  /// Null: none.
  [[nodiscard]] static Context current() {
    Context context = nullptr;
    return driver().cuCtxGetCurrent(&context) == success ? context : nullptr;
  }

 private:
  const Context before_;
  Context now_;
};

class RankGpu final : public DeviceState {
 public:
  explicit RankGpu(RankProcess& process) : process_(process) {}

  [[nodiscard]] RankMemory& memory_table() { return memory_; }

  [[nodiscard]] RankStreams& streams() { return streams_; }

  /// For copies of messages.
  [[nodiscard]] PinnedMemory& pinned_memory() { return pinned_; }

  /// What window_memory_of() has made.
  [[nodiscard]] std::unique_ptr<device::OwnedMemory>& window_memory() { return window_memory_; }

  /// On the rank's worker: the rank is lent to no other worker from now on.
  void keep_on_worker();

  /// Waits for all work of the rank in a context. May suspend.
  Result wait_for_context(Context context, const OutsideWait& wait);

  // The stack of current contexts. On the rank's worker.

  [[nodiscard]] Context top() const { return contexts_.empty() ? nullptr : contexts_.back(); }

  [[nodiscard]] std::vector<Context>& contexts() { return contexts_; }

  /// A context that the rank has made, or destroyed.
  void add_created(Context context) { created_.push_back(context); }

  void remove_created(Context context) { std::erase(created_, context); }

  /// Makes the top of the stack current, now and whenever the rank runs.
  void use_top();

  // Primary contexts.

  void retain(Device device, Context context);

  /// Before the driver's own call. False: the rank has not retained it. Ends what the rank has
  /// there if it is the last time. May suspend.
  [[nodiscard]] bool release(Device device);

  /// The primary context that the rank has retained; null: none.
  [[nodiscard]] Context primary(Device device);

  /// Waits for the rank's work in a context, frees its memory there and ends its streams. May
  /// suspend.
  void end_context(Context context);

  // DeviceState.

  void end() override;

  [[nodiscard]] DeviceMemoryCount memory() const override {
    return {.in_use = memory_.bytes_in_use(), .most = memory_.bytes_most()};
  }

 private:
  struct Primary {
    Device device;
    Context context;
    int count;
  };

  RankProcess& process_;
  RankMemory memory_;
  RankStreams streams_;
  PinnedMemory pinned_;
  std::unique_ptr<device::OwnedMemory> window_memory_;
  std::vector<Context> contexts_;
  std::vector<Context> created_;
  bool is_kept_ = false;
  std::mutex mutex_;
  std::vector<Primary> primaries_;
};

/// Made at the first use.
[[nodiscard]] RankGpu& gpu_of(RankProcess& process);

/// What the rank that calls, or whose thread calls, has; null: it has used no driver.
[[nodiscard]] RankGpu* known_gpu_of_caller();

/// The rank that calls, or whose thread calls, and what it has; null: no rank does.
[[nodiscard]] RankGpu* gpu_of_caller();

/// RankStreams::enter() and find() for the rank that calls. Without one, the driver's stream for
/// the handle.
[[nodiscard]] Stream enter_stream(RankGpu* gpu, Stream handle, NullStream null_stream);
[[nodiscard]] Stream find_stream(RankGpu* gpu, Stream handle, NullStream null_stream);

/// Whether the calling thread runs several ranks, and a rank calls.
[[nodiscard]] bool has_rank_context();

}  // namespace sorrel::program::gpu
