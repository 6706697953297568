// Streams and events: made, ended, captured, waited for.

#include <array>

#include "program/gpu/device_wait.hpp"
#include "program/gpu/driver_api.hpp"
#include "program/gpu/rank_gpu.hpp"
#include "program/gpu/substitutes.hpp"
#include "program/rank/rank_process.hpp"

namespace sorrel::program::gpu {

namespace {

constexpr OutsideWait stream_wait{.call = "cuStreamSynchronize", .is_endless = true};
constexpr OutsideWait event_wait{.call = "cuEventSynchronize", .is_endless = true};

Result take_made(Result result, const Stream* stream, unsigned flags) {
  RankGpu* gpu = result == success ? gpu_of_caller() : nullptr;
  if (gpu != nullptr) gpu->streams().add(*stream, (flags & non_blocking_stream) == 0);
  return result;
}

Result create(Stream* stream, unsigned flags) {
  return take_made(driver().cuStreamCreate(stream, flags), stream, flags);
}

Result create_with_priority(Stream* stream, unsigned flags, int priority) {
  return take_made(driver().cuStreamCreateWithPriority(stream, flags, priority), stream, flags);
}

Result create_green(Stream* stream, void* context, unsigned flags, int priority) {
  return take_made(driver().cuGreenCtxStreamCreate(stream, context, flags, priority), stream,
                   flags);
}

Result destroy(Stream stream) {
  RankGpu* gpu = gpu_of_caller();
  // Its handle may be given to another rank at once.
  if (gpu != nullptr) gpu->streams().remove(stream);
  return driver().cuStreamDestroy_v2(stream);
}

template <NullStream null_stream>
Result synchronize(Stream stream) {
  RankProcess* process = process_that_may_wait(__builtin_return_address(0));
  stream = find_stream(gpu_of_caller(), stream, null_stream);
  return wait_for(process, {.stream = stream}, stream_wait);
}

Result synchronize_event(Event event) {
  RankProcess* process = process_that_may_wait(__builtin_return_address(0));
  if (event == nullptr) process = nullptr;
  if (process == nullptr) return driver().cuEventSynchronize(event);
  return wait_for(process, {.event = event}, event_wait);
}

/// The stream of a launch is in its description.
template <NullStream null_stream>
Result launch(const LaunchConfig* config, void* function, void** parameters, void** extra) {
  if (config == nullptr) return invalid_value;
  LaunchConfig own = *config;
  own.stream = enter_stream(gpu_of_caller(), own.stream, null_stream);
  return driver().cuLaunchKernelEx(&own, function, parameters, extra);
}

// A default stream is captured in no case but that of the thread, and gets the driver's answer.
template <NullStream null_stream>
Result begin_capture(Stream stream, int mode) {
  RankGpu* gpu = gpu_of_caller();
  const bool is_legacy = stream == nullptr && null_stream == NullStream::legacy;
  if (!is_legacy) stream = find_stream(gpu, stream, null_stream);
  const Result result = driver().cuStreamBeginCapture_v2(stream, mode);
  if (result == success && gpu != nullptr) gpu->streams().begin_capture();
  return result;
}

template <NullStream null_stream>
Result end_capture(Stream stream, void** graph) {
  RankGpu* gpu = gpu_of_caller();
  stream = find_stream(gpu, stream, null_stream);
  const Result result = driver().cuStreamEndCapture(stream, graph);
  if (gpu != nullptr) gpu->streams().end_capture();
  return result;
}

const std::array substitutes = {
    Substitute{"cuStreamCreate", "cuStreamCreate", 2000, Variant::only,
               reinterpret_cast<void*>(create)},
    Substitute{"cuStreamCreateWithPriority", "cuStreamCreateWithPriority", 5050, Variant::only,
               reinterpret_cast<void*>(create_with_priority)},
    Substitute{"cuGreenCtxStreamCreate", "cuGreenCtxStreamCreate", 12050, Variant::only,
               reinterpret_cast<void*>(create_green)},
    Substitute{"cuStreamDestroy", "cuStreamDestroy_v2", 4000, Variant::only,
               reinterpret_cast<void*>(destroy)},
    Substitute{"cuStreamSynchronize", "cuStreamSynchronize", 2000, Variant::legacy,
               reinterpret_cast<void*>(synchronize<null_is_legacy>)},
    Substitute{"cuStreamSynchronize", "cuStreamSynchronize_ptsz", 7000, Variant::per_thread,
               reinterpret_cast<void*>(synchronize<null_is_thread>)},
    Substitute{"cuEventSynchronize", "cuEventSynchronize", 2000, Variant::only,
               reinterpret_cast<void*>(synchronize_event)},
    Substitute{"cuLaunchKernelEx", "cuLaunchKernelEx", 11060, Variant::legacy,
               reinterpret_cast<void*>(launch<null_is_legacy>)},
    Substitute{"cuLaunchKernelEx", "cuLaunchKernelEx_ptsz", 11060, Variant::per_thread,
               reinterpret_cast<void*>(launch<null_is_thread>)},
    Substitute{"cuStreamBeginCapture", "cuStreamBeginCapture_v2", 10010, Variant::legacy,
               reinterpret_cast<void*>(begin_capture<null_is_legacy>)},
    Substitute{"cuStreamBeginCapture", "cuStreamBeginCapture_v2_ptsz", 10010, Variant::per_thread,
               reinterpret_cast<void*>(begin_capture<null_is_thread>)},
    Substitute{"cuStreamEndCapture", "cuStreamEndCapture", 10000, Variant::legacy,
               reinterpret_cast<void*>(end_capture<null_is_legacy>)},
    Substitute{"cuStreamEndCapture", "cuStreamEndCapture_ptsz", 10000, Variant::per_thread,
               reinterpret_cast<void*>(end_capture<null_is_thread>)},
};

}  // namespace

std::span<const Substitute> stream_substitutes() {
  return substitutes;
}

}  // namespace sorrel::program::gpu
