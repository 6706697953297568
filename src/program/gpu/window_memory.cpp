#include "program/gpu/window_memory.hpp"

#include <memory>

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

class WindowMemory final : public device::OwnedMemory {
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
    const auto found = owner_.memory_table().find(rows.device);
    if (!found) return false;
    ThreadContext thread;
    if (found->context != nullptr) thread.use(found->context);
    return begin_copy(
        rows, direction,
        {.stream = owner_.streams().window_stream(), .context = ThreadContext::current()}, used);
  }

  bool finish(const device::CopyStreams& used, device::Waiting waiting) override {
    RankProcess* process =
        waiting == device::Waiting::suspending ? process_that_may_wait(nullptr) : nullptr;
    // A rank that waits for a device stays on its worker.
    if (process != nullptr) static_cast<void>(gpu_of_caller());
    bool is_good = true;
    for (const device::CopyStream& copies : used) {
      Event event = nullptr;
      {
        ThreadContext thread;
        thread.use(copies.context);
        is_good = driver().cuEventCreate(&event, event_without_times) == success &&
                  driver().cuEventRecord(event, copies.stream) == success && is_good;
      }
      // Other ranks' copies may follow in the stream, without an end.
      const Awaited awaited{.stream = copies.stream, .event = event, .context = copies.context};
      is_good = wait_for(process, awaited, copy_wait) == success && is_good;
      if (event != nullptr) static_cast<void>(driver().cuEventDestroy_v2(event));
    }
    return is_good;
  }

 private:
  RankGpu& owner_;
};

}  // namespace

device::OwnedMemory& window_memory_of(RankGpu& owner) {
  std::unique_ptr<device::OwnedMemory>& made = owner.window_memory();
  if (made == nullptr) made = std::make_unique<WindowMemory>(owner);
  return *made;
}

}  // namespace sorrel::program::gpu
