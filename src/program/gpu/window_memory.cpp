#include "program/gpu/window_memory.hpp"

#include <memory>
#include <mutex>

#include "base/check.hpp"
#include "device/direct_memory.hpp"
#include "program/gpu/device_wait.hpp"
#include "program/gpu/driver_api.hpp"
#include "program/gpu/rank_gpu.hpp"
#include "program/gpu/row_copies.hpp"
#include "program/rank/rank_process.hpp"
#include "program/state/outside_wait.hpp"

namespace sorrel::program::gpu {

namespace {

constexpr OutsideWait copy_wait{.call = "a copy of a window's memory on the GPU",
                                .is_endless = true};

/// An event behind what a stream has so far. Null: the driver makes none.
Event event_behind(const device::CopyStream& copies) {
  ThreadContext thread;
  thread.use(copies.context);
  Event event = nullptr;
  if (driver().cuEventCreate(&event, event_without_times) != success) return nullptr;
  if (driver().cuEventRecord(event, copies.stream) == success) return event;
  static_cast<void>(driver().cuEventDestroy_v2(event));
  return nullptr;
}

/// Other ranks' copies may follow in the stream, without an end: the event is awaited.
Awaited awaited_of(const device::CopyStream& copies, Event event) {
  return {.stream = copies.stream, .event = event, .context = copies.context};
}

/// Counts the streams that still have copies.
class LaterEnd final : public WaitEnd {
 public:
  LaterEnd(std::size_t stream_count, device::CopyEnd& end) : missing_(stream_count), end_(end) {
    SORREL_ASSERT(stream_count != 0, "the end of no copies");
  }

  void end(const Awaited& awaited, Result result) override {
    if (awaited.event != nullptr) static_cast<void>(driver().cuEventDestroy_v2(awaited.event));
    SORREL_ASSERT(missing_ != 0, "more ends than streams");
    is_good_ &= result == success;
    if (--missing_ != 0) return;
    end_.end(is_good_);
    delete this;
  }

 private:
  std::size_t missing_;
  bool is_good_ = true;
  device::CopyEnd& end_;
};

class WindowMemory final : public device::DirectMemory {
 public:
  explicit WindowMemory(RankGpu& owner) : owner_(owner) {}

  bool holds(std::uintptr_t begin, std::uintptr_t end) override {
    return owner_.memory_table().holds_on_device(begin, end);
  }

  std::byte* take_host(std::size_t bytes, std::uintptr_t near) override {
    const auto found = owner_.memory_table().find(near);
    return found ? owner_.pinned_memory().take(bytes, found->context) : nullptr;
  }

  void give_host(std::byte* memory, std::size_t /*bytes*/) override {
    owner_.pinned_memory().give(memory);
  }

  bool copy(const device::Rows& rows,
            device::Direction direction,
            device::CopyStreams& used) override {
    return copy_near(rows.device, [&](const device::CopyStream& stream) {
      return begin_copy(rows, direction, stream, used);
    });
  }

  bool update(std::span<const device::Rows> rows,
              device::HostStep& step,
              bool is_written,
              device::CopyStreams& used) override {
    if (rows.empty()) return false;
    const std::scoped_lock lock(updates_);
    return copy_near(rows.front().device, [&](const device::CopyStream& stream) {
      return begin_update(rows, step, is_written, stream, used);
    });
  }

  bool finish(const device::CopyStreams& used, device::Waiting waiting) override {
    RankProcess* process =
        waiting == device::Waiting::suspending ? process_that_may_wait(nullptr) : nullptr;
    // A rank that waits for a device stays on its worker.
    if (process != nullptr) static_cast<void>(gpu_of_caller());
    bool is_good = true;
    for (const device::CopyStream& copies : used) {
      Event event = event_behind(copies);
      is_good = wait_for(process, awaited_of(copies, event), copy_wait) == success &&
                event != nullptr && is_good;
      if (event != nullptr) static_cast<void>(driver().cuEventDestroy_v2(event));
    }
    return is_good;
  }

  bool is_near(std::uintptr_t own, device::DirectMemory& source, std::uintptr_t theirs) override {
    const auto to = owner_.memory_table().find(own);
    const auto from = static_cast<WindowMemory&>(source).owner_.memory_table().find(theirs);
    return to && from && to->context == from->context;
  }

  bool copy_from(const device::DeviceRows& rows, device::CopyStreams& used) override {
    return copy_near(
        rows.to, [&](const device::CopyStream& stream) { return begin_copy(rows, stream, used); });
  }

  void finish_later(const device::CopyStreams& used, device::CopyEnd& end) override {
    if (used.empty()) return end.end(true);
    auto* later = new LaterEnd(used.size(), end);
    for (const device::CopyStream& copies : used)
      end_later(awaited_of(copies, event_behind(copies)), owner_.streams(), *later);
  }

 private:
  /// Calls begin(stream) with a stream of the owner in the context of the allocation at `address`.
  template <class Begin>
  bool copy_near(std::uintptr_t address, Begin&& begin) {
    const auto found = owner_.memory_table().find(address);
    if (!found) return false;
    ThreadContext thread;
    if (found->context != nullptr) thread.use(found->context);
    return begin(device::CopyStream{.stream = owner_.streams().window_stream(),
                                    .context = ThreadContext::current()});
  }

  RankGpu& owner_;
  /// While the parts of an update are issued: no holder waits for one.
  std::mutex updates_;
};

}  // namespace

device::OwnedMemory& window_memory_of(RankGpu& owner) {
  std::unique_ptr<device::OwnedMemory>& made = owner.window_memory();
  if (made == nullptr) made = std::make_unique<WindowMemory>(owner);
  return *made;
}

}  // namespace sorrel::program::gpu
