#include "program/gpu/message_buffers.hpp"

#include <cstdlib>

#include "device/buffers.hpp"
#include "device/direct_table.hpp"
#include "program/gpu/device_wait.hpp"
#include "program/gpu/driver_api.hpp"
#include "program/gpu/rank_gpu.hpp"
#include "program/gpu/row_copies.hpp"
#include "program/gpu/window_memory.hpp"
#include "program/rank/rank_process.hpp"
#include "program/state/outside_wait.hpp"

namespace sorrel::program::gpu {

namespace {

constexpr OutsideWait copy_wait{.call = "a copy of a message's buffer on the GPU",
                                .is_endless = true};

class MessageBuffers final : public device::Buffers, public device::DirectTable {
 public:
  bool overlaps(std::uintptr_t begin, std::uintptr_t end) override {
    return find(begin, end).has_value();
  }

  bool holds(std::uintptr_t begin, std::uintptr_t end) override {
    RankGpu* gpu = known_gpu_of_caller();
    return gpu != nullptr && gpu->memory_table().holds_on_device(begin, end);
  }

  std::byte* take_host(std::size_t bytes, std::uintptr_t near) override {
    if (bytes > PinnedMemory::piece_bytes_max) return static_cast<std::byte*>(std::malloc(bytes));
    RankGpu* gpu = known_gpu_of_caller();
    if (gpu == nullptr) return nullptr;
    const auto found = gpu->memory_table().find(near);
    return gpu->pinned_memory().take(bytes, found ? found->context : ThreadContext::current());
  }

  void give_host(std::byte* memory, std::size_t bytes) override {
    if (bytes > PinnedMemory::piece_bytes_max) {
      std::free(memory);
    } else if (RankGpu* gpu = known_gpu_of_caller(); gpu != nullptr) {
      gpu->pinned_memory().give(memory);
    }
  }

  bool copy(const device::Rows& rows,
            device::Direction direction,
            device::CopyStreams& used) override {
    RankGpu* gpu = known_gpu_of_caller();
    if (gpu == nullptr) return false;
    const auto found = gpu->memory_table().find(rows.device);
    if (!found) return false;
    // Not across a switch to another rank, which expects the context of this one.
    ThreadContext thread;
    if (found->context != nullptr) thread.use(found->context);
    return begin_copy(rows, direction,
                      {.stream = gpu->streams().copy_stream(), .context = ThreadContext::current()},
                      used);
  }

  bool finish(const device::CopyStreams& used) override {
    bool is_good = true;
    for (const device::CopyStream& copies : used) {
      const Awaited awaited{.stream = copies.stream, .context = copies.context};
      is_good &= wait_for(process_that_may_wait(nullptr), awaited, copy_wait) == success;
    }
    return is_good;
  }

  device::OwnedMemory* owned() override {
    RankGpu* gpu = known_gpu_of_caller();
    return gpu != nullptr ? &window_memory_of(*gpu) : nullptr;
  }

 private:
  static std::optional<Allocation> find(std::uintptr_t begin, std::uintptr_t end) {
    RankGpu* gpu = known_gpu_of_caller();
    return gpu != nullptr ? gpu->memory_table().find_on_device(begin, end) : std::nullopt;
  }
};

}  // namespace

void give_message_buffers() {
  static MessageBuffers& of_ranks = *new MessageBuffers;
  device::give_buffers(of_ranks);
}

}  // namespace sorrel::program::gpu
