#include "program/gpu/rank_gpu.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/check.hpp"
#include "os/kept_errno.hpp"
#include "program/base/libc.hpp"
#include "program/gpu/device_wait.hpp"
#include "program/rank/device_settings.hpp"
#include "program/rank/device_states.hpp"
#include "program/rank/rank_process.hpp"
#include "program/rank/starter_of_thread.hpp"
#include "program/rank/worker_settings.hpp"

namespace sorrel::program::gpu {

namespace {

constexpr OutsideWait end_wait{.call = "the end of its work on the GPU", .is_endless = true};

/// For DeviceSettings: on the thread of a worker, at a switch.
void set_thread_context(Context context) {
  const os::KeptErrno kept;
  static_cast<void>(driver().cuCtxSetCurrent(context));
}

void free_memory(const Allocation& allocation) {
  auto* address = reinterpret_cast<void*>(allocation.begin);
  switch (allocation.kind) {
    case MemoryKind::device:
    case MemoryKind::managed:
      static_cast<void>(driver().cuMemFree_v2(allocation.begin));
      return;
    case MemoryKind::pinned:
      static_cast<void>(driver().cuMemFreeHost(address));
      return;
    case MemoryKind::registered:
      static_cast<void>(driver().cuMemHostUnregister(address));
      return;
    case MemoryKind::imported:
      static_cast<void>(driver().cuIpcCloseMemHandle(allocation.begin));
      return;
    case MemoryKind::mapped:
      // The program has its handle.
      return;
  }
}

}  // namespace

Result RankGpu::wait_for_context(Context context, const OutsideWait& wait) {
  RankProcess* process = runs_worker() && &process_ == current_rank_process() ? &process_ : nullptr;
  Result result = success;
  for (Stream stream : streams_.of_context(context)) {
    const Result of_stream = wait_for(process, {.stream = stream}, wait);
    if (result == success) result = of_stream;
  }
  return result;
}

void RankGpu::use_top() {
  use_device_context(*process_.fiber(), top());
}

void RankGpu::retain(Device device, Context context) {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find(primaries_, device, &Primary::device);
  if (found != primaries_.end()) {
    ++found->count;
  } else {
    primaries_.push_back({.device = device, .context = context, .count = 1});
  }
}

bool RankGpu::release(Device device) {
  Context ended = nullptr;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = std::ranges::find(primaries_, device, &Primary::device);
    if (found == primaries_.end()) return false;
    SORREL_ASSERT(found->count > 0, "the context of device %d is released twice", found->device);
    if (--found->count == 0) {
      ended = found->context;
      primaries_.erase(found);
    }
  }
  if (ended != nullptr) end_context(ended);
  return true;
}

Context RankGpu::primary(Device device) {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find(primaries_, device, &Primary::device);
  return found != primaries_.end() ? found->context : nullptr;
}

void RankGpu::end_context(Context context) {
  static_cast<void>(wait_for_context(context, end_wait));
  ThreadContext thread;
  thread.use(context);
  std::vector<Event> events;
  for (Stream stream : streams_.take_all_of(context, events))
    static_cast<void>(driver().cuStreamDestroy_v2(stream));
  for (Event event : events)
    static_cast<void>(driver().cuEventDestroy_v2(event));
  for (const Allocation& allocation : memory_.take_all_of(context))
    free_memory(allocation);
  pinned_.end_context(context);
}

void RankGpu::end() {
  for (Context context : std::exchange(created_, {})) {
    end_context(context);
    static_cast<void>(driver().cuCtxDestroy_v2(context));
  }
  std::vector<Primary> left;
  {
    const std::scoped_lock lock(mutex_);
    left.swap(primaries_);
  }
  SORREL_ASSERT(created_.empty(), "%zu contexts were created meanwhile", created_.size());
  for (const Primary& primary : left) {
    end_context(primary.context);
    for (int i = 0; i < primary.count; ++i)
      static_cast<void>(driver().cuDevicePrimaryCtxRelease_v2(primary.device));
  }
}

RankGpu& gpu_of(RankProcess& process) {
  if (DeviceState* state = device_state_of(process); state != nullptr)
    return static_cast<RankGpu&>(*state);
  set_device_context_setter(set_thread_context);
  return static_cast<RankGpu&>(set_device_state(process, std::make_unique<RankGpu>(process)));
}

RankGpu* known_gpu_of_caller() {
  RankProcess* process = process_of_thread();
  return process != nullptr ? static_cast<RankGpu*>(device_state_of(*process)) : nullptr;
}

RankGpu* gpu_of_caller() {
  RankProcess* process = process_of_thread();
  if (process == nullptr) return nullptr;
  RankGpu& gpu = gpu_of(*process);
  if (runs_worker()) gpu.keep_on_worker();
  return &gpu;
}

// The driver keeps things of a thread, also in frames below its calls of the C library.
void RankGpu::keep_on_worker() {
  if (!std::exchange(is_kept_, true)) process_.pin();
}

namespace {

/// The stream of a thread that belongs to no rank.
Stream stream_of_thread(Stream handle, NullStream null_stream) {
  constexpr std::uintptr_t handles[] = {1, 2};
  return handle != nullptr ? handle
                           : reinterpret_cast<Stream>(handles[static_cast<int>(null_stream)]);
}

}  // namespace

Stream enter_stream(RankGpu* gpu, Stream handle, NullStream null_stream) {
  return gpu != nullptr ? gpu->streams().enter(handle, null_stream)
                        : stream_of_thread(handle, null_stream);
}

Stream find_stream(RankGpu* gpu, Stream handle, NullStream null_stream) {
  return gpu != nullptr ? gpu->streams().find(handle, null_stream)
                        : stream_of_thread(handle, null_stream);
}

bool has_rank_context() {
  return WorkerSettings::are_ranks_separate() && runs_worker() && current_rank_process() != nullptr;
}

}  // namespace sorrel::program::gpu
