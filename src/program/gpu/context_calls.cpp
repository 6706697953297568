// Contexts: which one is current is the rank's own affair, and what concerns a context as a whole
// concerns what the rank has there.

#include <array>

#include "base/check.hpp"
#include "program/gpu/device_wait.hpp"
#include "program/gpu/driver_api.hpp"
#include "program/gpu/rank_gpu.hpp"
#include "program/gpu/substitutes.hpp"
#include "program/rank/rank_process.hpp"

namespace sorrel::program::gpu {

namespace {

constexpr OutsideWait synchronize_wait{.call = "cuCtxSynchronize", .is_endless = true};

/// The rank, if its current context is its own and not that of a thread.
RankGpu* rank_with_context() {
  RankGpu* gpu = gpu_of_caller();
  return gpu != nullptr && has_rank_context() ? gpu : nullptr;
}

Result set_current(Context context) {
  RankGpu* gpu = rank_with_context();
  if (gpu == nullptr) return driver().cuCtxSetCurrent(context);
  // The driver checks it.
  if (const Result result = driver().cuCtxSetCurrent(context); result != success) return result;
  if (!gpu->contexts().empty()) gpu->contexts().pop_back();
  if (context != nullptr) gpu->contexts().push_back(context);
  gpu->use_top();
  return success;
}

Result push_current(Context context) {
  RankGpu* gpu = rank_with_context();
  if (gpu == nullptr || context == nullptr) return driver().cuCtxPushCurrent_v2(context);
  if (const Result result = driver().cuCtxSetCurrent(context); result != success) return result;
  gpu->contexts().push_back(context);
  gpu->use_top();
  return success;
}

Result pop_current(Context* context) {
  RankGpu* gpu = rank_with_context();
  if (gpu == nullptr) return driver().cuCtxPopCurrent_v2(context);
  if (gpu->contexts().empty()) return invalid_context;
  if (context != nullptr) *context = gpu->top();
  gpu->contexts().pop_back();
  gpu->use_top();
  return success;
}

/// The driver has made a context and pushed it onto the thread's stack.
Result take_created(Result result, Context* context) {
  RankGpu* gpu = gpu_of_caller();
  if (result != success || gpu == nullptr) return result;
  SORREL_ASSERT(*context != nullptr, "the driver has made no context");
  gpu->add_created(*context);
  if (!has_rank_context()) return result;
  static_cast<void>(driver().cuCtxPopCurrent_v2(nullptr));
  static_cast<void>(driver().cuCtxSetCurrent(*context));
  gpu->contexts().push_back(*context);
  gpu->use_top();
  return result;
}

Result create_v2(Context* context, unsigned flags, Device device) {
  return take_created(driver().cuCtxCreate_v2(context, flags, device), context);
}

Result create_v3(Context* context, void* parameters, int count, unsigned flags, Device device) {
  return take_created(driver().cuCtxCreate_v3(context, parameters, count, flags, device), context);
}

Result create_v4(Context* context, void* parameters, unsigned flags, Device device) {
  return take_created(driver().cuCtxCreate_v4(context, parameters, flags, device), context);
}

Result destroy(Context context) {
  RankGpu* gpu = gpu_of_caller();
  if (gpu == nullptr || context == nullptr) return driver().cuCtxDestroy_v2(context);
  gpu->end_context(context);
  gpu->remove_created(context);
  if (has_rank_context() && gpu->top() == context) {
    gpu->contexts().pop_back();
    gpu->use_top();
  }
  return driver().cuCtxDestroy_v2(context);
}

Result synchronize() {
  RankGpu* gpu = gpu_of_caller();
  Context context = ThreadContext::current();
  if (gpu == nullptr || context == nullptr) return driver().cuCtxSynchronize();
  return gpu->wait_for_context(context, synchronize_wait);
}

Result synchronize_v2(Context context) {
  RankGpu* gpu = gpu_of_caller();
  if (context == nullptr) context = ThreadContext::current();
  if (gpu == nullptr || context == nullptr) return driver().cuCtxSynchronize_v2(context);
  return gpu->wait_for_context(context, synchronize_wait);
}

Result retain(Context* context, Device device) {
  const Result result = driver().cuDevicePrimaryCtxRetain(context, device);
  RankGpu* gpu = gpu_of_caller();
  if (result != success || gpu == nullptr) return result;
  SORREL_ASSERT(*context != nullptr, "the driver has no context of device %d", device);
  gpu->retain(device, *context);
  return result;
}

Result release(Device device) {
  RankGpu* gpu = gpu_of_caller();
  // Others than the rank have retained it.
  if (gpu != nullptr && !gpu->release(device)) return invalid_context;
  return driver().cuDevicePrimaryCtxRelease_v2(device);
}

/// Ends what the rank has on the device. What other ranks have there stays.
Result reset(Device device) {
  RankGpu* gpu = gpu_of_caller();
  if (gpu == nullptr) return driver().cuDevicePrimaryCtxReset_v2(device);
  if (Context context = gpu->primary(device); context != nullptr) gpu->end_context(context);
  return success;
}

const std::array substitutes = {
    Substitute{"cuCtxSetCurrent", "cuCtxSetCurrent", 4000, Variant::only,
               reinterpret_cast<void*>(set_current)},
    Substitute{"cuCtxPushCurrent", "cuCtxPushCurrent_v2", 4000, Variant::only,
               reinterpret_cast<void*>(push_current)},
    Substitute{"cuCtxPopCurrent", "cuCtxPopCurrent_v2", 4000, Variant::only,
               reinterpret_cast<void*>(pop_current)},
    Substitute{"cuCtxCreate", "cuCtxCreate_v2", 3020, Variant::only,
               reinterpret_cast<void*>(create_v2)},
    Substitute{"cuCtxCreate", "cuCtxCreate_v3", 11040, Variant::only,
               reinterpret_cast<void*>(create_v3)},
    Substitute{"cuCtxCreate", "cuCtxCreate_v4", 12050, Variant::only,
               reinterpret_cast<void*>(create_v4)},
    Substitute{"cuCtxDestroy", "cuCtxDestroy_v2", 4000, Variant::only,
               reinterpret_cast<void*>(destroy)},
    Substitute{"cuCtxSynchronize", "cuCtxSynchronize", 2000, Variant::only,
               reinterpret_cast<void*>(synchronize)},
    Substitute{"cuCtxSynchronize", "cuCtxSynchronize_v2", 13000, Variant::only,
               reinterpret_cast<void*>(synchronize_v2)},
    Substitute{"cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRetain", 7000, Variant::only,
               reinterpret_cast<void*>(retain)},
    Substitute{"cuDevicePrimaryCtxRelease", "cuDevicePrimaryCtxRelease_v2", 11000, Variant::only,
               reinterpret_cast<void*>(release)},
    Substitute{"cuDevicePrimaryCtxReset", "cuDevicePrimaryCtxReset_v2", 11000, Variant::only,
               reinterpret_cast<void*>(reset)},
};

}  // namespace

std::span<const Substitute> context_substitutes() {
  return substitutes;
}

}  // namespace sorrel::program::gpu
