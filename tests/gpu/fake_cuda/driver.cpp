//! libcuda.so.1 without a device: the functions of CUDA's driver that the tests call, for one to
//! some devices that run "kernels" as functions of the host.
//!
//! Compiled with FAKE_CUDA_OLD: the driver of an older CUDA, without cuLaunchHostFunc().
//!
//! FAKE_CUDA_DEVICES: their number, 1 by default. FAKE_CUDA_MEMORY_MIB: memory of each.
//! Any thread. The current context is a variable of the thread, as in the driver.

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "../cuda_driver.h"
#include "device_memory.hpp"
#include "stream.hpp"

#define FAKE_API extern "C" [[gnu::visibility("default")]]

struct fake_stream {
  fake_stream(fake_cuda::StreamGroup& group, unsigned flags, bool is_legacy, CUcontext of)
      : stream(group, flags, is_legacy), context(of) {}

  fake_cuda::Stream stream;
  CUcontext context;
};

struct fake_event {
  fake_cuda::Issued recorded;
};

struct fake_kernel {
  fake_cuda_body* body;
  int argument_count;
  unsigned delay_us;
};

struct fake_context {
  explicit fake_context(CUdevice of) : device(of) {}

  CUdevice device;
  fake_cuda::StreamGroup group;
  std::unique_ptr<fake_stream> legacy;
  std::mutex mutex;
  std::vector<std::unique_ptr<fake_stream>> streams;
  int retain_count = 0;
};

namespace fake_cuda {

namespace {

std::atomic<bool> is_initialised{false};
std::array<std::atomic<long>, FAKE_CUDA_COUNTS> counts;
std::mutex contexts_mutex;
thread_local std::vector<CUcontext> current_contexts;
thread_local std::unique_ptr<std::vector<std::pair<CUcontext, CUstream>>> per_thread_streams;

DeviceMemory& memory() {
  static DeviceMemory& all = *new DeviceMemory;
  return all;
}

void count(fake_cuda_counted what, long by = 1) {
  counts[what].fetch_add(by);
}

int device_count() {
  const char* text = std::getenv("FAKE_CUDA_DEVICES");
  return text != nullptr ? std::atoi(text) : 1;
}

CUcontext current() {
  return current_contexts.empty() ? nullptr : current_contexts.back();
}

std::vector<CUcontext>& primaries() {
  static auto& all = *new std::vector<CUcontext>(16);
  return all;
}

CUstream make_stream(CUcontext context, unsigned flags, bool is_legacy) {
  auto made = std::make_unique<fake_stream>(context->group, flags, is_legacy, context);
  CUstream stream = made.get();
  const std::lock_guard lock(context->mutex);
  if (is_legacy) {
    context->legacy = std::move(made);
  } else {
    context->streams.push_back(std::move(made));
    count(FAKE_CUDA_LIVE_STREAMS);
  }
  return stream;
}

CUcontext make_context(CUdevice device) {
  auto* context = new fake_context(device);
  make_stream(context, 0, true);
  return context;
}

CUstream per_thread_stream(CUcontext context) {
  if (per_thread_streams == nullptr)
    per_thread_streams = std::make_unique<std::vector<std::pair<CUcontext, CUstream>>>();
  for (const auto& [of, stream] : *per_thread_streams) {
    if (of == context) return stream;
  }
  per_thread_streams->emplace_back(context, make_stream(context, 0, false));
  return per_thread_streams->back().second;
}

/// The stream that a handle means in the current context; null: no such stream.
CUstream stream_of(CUstream handle, CUstream of_null = CU_STREAM_LEGACY) {
  CUcontext context = current();
  if (handle == nullptr) handle = of_null;
  if (handle != CU_STREAM_LEGACY && handle != CU_STREAM_PER_THREAD) return handle;
  if (context == nullptr) return nullptr;
  if (handle == CU_STREAM_PER_THREAD) return per_thread_stream(context);
  count(FAKE_CUDA_LEGACY_OPS);
  return context->legacy.get();
}

/// `body` in a stream.
CUresult issue(CUstream handle, CUstream of_null, std::function<void()> body, unsigned us = 0) {
  if (!is_initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (current() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  CUstream stream = stream_of(handle, of_null);
  if (stream->context != current()) return CUDA_ERROR_INVALID_HANDLE;
  stream->stream.issue(std::move(body), us);
  return CUDA_SUCCESS;
}

void wait_blocking(const Issued& operation) {
  if (wait(operation)) count(FAKE_CUDA_BLOCKING_WAITS);
}

CUresult synchronize(CUstream handle, CUstream of_null) {
  CUstream stream = stream_of(handle, of_null);
  if (stream == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  wait_blocking(stream->stream.last());
  return CUDA_SUCCESS;
}

void copy(std::uintptr_t target, std::uintptr_t source, std::size_t bytes) {
  if (bytes != 0) std::memmove(memory().host(target), memory().host(source), bytes);
}

template <class Address>
std::uintptr_t number(Address address) {
  return (std::uintptr_t)address;
}

bool is_on_device(std::uintptr_t address) {
  std::uintptr_t begin = 0;
  Allocation found{};
  return memory().find(address, begin, found) && found.kind == Kind::device;
}

void count_copy(std::uintptr_t target, std::uintptr_t source) {
  if (is_on_device(source))
    count(is_on_device(target) ? FAKE_CUDA_DEVICE_COPIES : FAKE_CUDA_HOST_COPIES);
}

/// Whether the driver cannot copy it in the background.
bool is_pageable(std::uintptr_t address) {
  std::uintptr_t begin = 0;
  Allocation found{};
  return !memory().find(address, begin, found);
}

/// A copy for which the host waits. It counts as a blocking wait if the stream has work before it.
CUresult copy_at_once(std::function<void()> body, CUstream handle, CUstream of_null) {
  if (!is_initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (current() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  CUstream stream = stream_of(handle, of_null);
  if (!is_done(stream->stream.last())) count(FAKE_CUDA_BLOCKING_WAITS);
  wait(stream->stream.issue(std::move(body)));
  return CUDA_SUCCESS;
}

/// As the driver: a copy to or from pageable memory is over when the call returns.
CUresult copy_in_stream(std::uintptr_t target,
                        std::uintptr_t source,
                        std::size_t bytes,
                        CUstream stream,
                        CUstream of_null) {
  count_copy(target, source);
  const auto body = [=] { copy(target, source, bytes); };
  return is_pageable(target) || is_pageable(source) ? copy_at_once(body, stream, of_null)
                                                    : issue(stream, of_null, body);
}

CUresult copy_now(std::uintptr_t target,
                  std::uintptr_t source,
                  std::size_t bytes,
                  CUstream of_null) {
  return copy_at_once([=] { copy(target, source, bytes); }, nullptr, of_null);
}

CUresult fill(CUdeviceptr target,
              std::uint64_t value,
              std::size_t width,
              std::size_t elements,
              CUstream stream,
              CUstream of_null) {
  return issue(stream, of_null, [=] {
    std::byte* at = memory().host(target);
    for (std::size_t i = 0; i < elements; ++i)
      std::memcpy(at + i * width, &value, width);
  });
}

struct Side {
  std::uintptr_t begin;
  std::size_t pitch;
};

Side side_of(int type,
             std::uintptr_t host,
             CUdeviceptr device,
             std::size_t x,
             std::size_t y,
             std::size_t pitch) {
  const std::uintptr_t base = type == CU_MEMORYTYPE_HOST ? host : device;
  return {base + y * pitch + x, pitch};
}

CUresult copy_rectangle(const CUDA_MEMCPY2D& copied,
                        CUstream stream,
                        CUstream of_null,
                        bool waits) {
  const Side from = side_of(copied.srcMemoryType, number(copied.srcHost), copied.srcDevice,
                            copied.srcXInBytes, copied.srcY, copied.srcPitch);
  const Side to = side_of(copied.dstMemoryType, number(copied.dstHost), copied.dstDevice,
                          copied.dstXInBytes, copied.dstY, copied.dstPitch);
  if (copied.srcMemoryType == 3 || copied.dstMemoryType == 3) return CUDA_ERROR_NOT_SUPPORTED;
  if (copied.Height > 1 && (copied.WidthInBytes > from.pitch || copied.WidthInBytes > to.pitch))
    return CUDA_ERROR_INVALID_VALUE;
  count_copy(to.begin, from.begin);
  const std::size_t width = copied.WidthInBytes;
  const std::size_t height = copied.Height;
  const auto body = [=] {
    for (std::size_t row = 0; row < height; ++row)
      copy(to.begin + row * to.pitch, from.begin + row * from.pitch, width);
  };
  const bool is_now = waits || is_pageable(from.begin) || is_pageable(to.begin);
  return is_now ? copy_at_once(body, stream, of_null) : issue(stream, of_null, body);
}

CUresult launch(CUfunction function, CUstream stream, CUstream of_null, void** parameters) {
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  std::array<std::uint64_t, 16> arguments{};
  for (int i = 0; i < function->argument_count; ++i)
    std::memcpy(&arguments[static_cast<std::size_t>(i)], parameters[i], sizeof(std::uint64_t));
  const fake_kernel kernel = *function;
  return issue(
      stream, of_null, [kernel, arguments] { kernel.body(arguments.data()); }, kernel.delay_us);
}

CUresult allocate(void** address, Kind kind, std::size_t bytes) {
  if (current() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (address == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  *address = memory().allocate(kind, bytes, current());
  return *address == nullptr ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

/// Waits for all work that was issued in a context.
void wait_for(CUcontext context) {
  std::vector<Issued> all{context->legacy->stream.last()};
  {
    const std::lock_guard lock(context->mutex);
    for (const auto& stream : context->streams)
      all.push_back(stream->stream.last());
  }
  for (const Issued& operation : all)
    wait_blocking(operation);
}

CUresult free_of_device(CUdeviceptr address) {
  if (address == 0) return CUDA_SUCCESS;
  if (current() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  wait_for(current());
  return memory().free(reinterpret_cast<void*>(address), false, false) ? CUDA_SUCCESS
                                                                       : CUDA_ERROR_INVALID_VALUE;
}

/// Ends its streams.
void clear(CUcontext context) {
  std::vector<std::unique_ptr<fake_stream>> streams;
  {
    const std::lock_guard lock(context->mutex);
    streams.swap(context->streams);
  }
  count(FAKE_CUDA_LIVE_STREAMS, -static_cast<long>(streams.size()));
}

}  // namespace

}  // namespace fake_cuda

using namespace fake_cuda;

FAKE_API CUfunction fake_cuda_kernel(fake_cuda_body* body, int argument_count, unsigned delay_us) {
  return new fake_kernel{body, argument_count, delay_us};
}

FAKE_API void* fake_cuda_host(CUdeviceptr address) {
  return memory().host(address);
}

FAKE_API long fake_cuda_count(enum fake_cuda_counted what) {
  if (what == FAKE_CUDA_LIVE_BYTES) return memory().live_bytes(true);
  if (what == FAKE_CUDA_LIVE_HOST_BYTES) return memory().live_bytes(false);
  return counts[what];
}

FAKE_API CUresult cuInit(unsigned flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (device_count() == 0) return CUDA_ERROR_NO_DEVICE;
  is_initialised = true;
  return CUDA_SUCCESS;
}

FAKE_API CUresult cuDriverGetVersion(int* version) {
  *version = 13000;
  return CUDA_SUCCESS;
}

FAKE_API CUresult cuDeviceGetCount(int* found) {
  if (!is_initialised) return CUDA_ERROR_NOT_INITIALIZED;
  *found = device_count();
  return CUDA_SUCCESS;
}

FAKE_API CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  if (!is_initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (ordinal < 0 || ordinal >= device_count()) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

FAKE_API CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  const std::string text = "Fake Device " + std::to_string(device);
  std::strncpy(name, text.c_str(), static_cast<std::size_t>(length));
  return CUDA_SUCCESS;
}

FAKE_API CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice) {
  *bytes = memory().capacity();
  return CUDA_SUCCESS;
}

FAKE_API CUresult cuDeviceGetAttribute(int* value, int, CUdevice) {
  *value = 1;
  return CUDA_SUCCESS;
}

FAKE_API CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  if (device < 0 || device >= device_count()) return CUDA_ERROR_INVALID_DEVICE;
  const std::lock_guard lock(contexts_mutex);
  CUcontext& primary = primaries()[static_cast<std::size_t>(device)];
  if (primary == nullptr) primary = make_context(device);
  ++primary->retain_count;
  *context = primary;
  return CUDA_SUCCESS;
}

FAKE_API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  const std::lock_guard lock(contexts_mutex);
  CUcontext primary = primaries()[static_cast<std::size_t>(device)];
  if (primary == nullptr || primary->retain_count == 0) return CUDA_ERROR_INVALID_CONTEXT;
  if (--primary->retain_count == 0) clear(primary);
  return CUDA_SUCCESS;
}

FAKE_API CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  count(FAKE_CUDA_RESETS);
  const std::lock_guard lock(contexts_mutex);
  CUcontext primary = primaries()[static_cast<std::size_t>(device)];
  if (primary != nullptr) clear(primary);
  return CUDA_SUCCESS;
}

FAKE_API CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* is_active) {
  const std::lock_guard lock(contexts_mutex);
  CUcontext primary = primaries()[static_cast<std::size_t>(device)];
  *flags = 0;
  *is_active = primary != nullptr && primary->retain_count > 0;
  return CUDA_SUCCESS;
}

FAKE_API CUresult cuCtxCreate_v2(CUcontext* context, unsigned, CUdevice device) {
  if (!is_initialised) return CUDA_ERROR_NOT_INITIALIZED;
  *context = make_context(device);
  current_contexts.push_back(*context);
  return CUDA_SUCCESS;
}

FAKE_API CUresult cuCtxDestroy_v2(CUcontext context) {
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  wait_for(context);
  clear(context);
  if (current() == context) current_contexts.pop_back();
  return CUDA_SUCCESS;
}

FAKE_API CUresult cuCtxGetCurrent(CUcontext* context) {
  *context = current();
  return CUDA_SUCCESS;
}

FAKE_API CUresult cuCtxSetCurrent(CUcontext context) {
  if (!current_contexts.empty()) current_contexts.pop_back();
  if (context != nullptr) current_contexts.push_back(context);
  return CUDA_SUCCESS;
}

FAKE_API CUresult cuCtxPushCurrent_v2(CUcontext context) {
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  current_contexts.push_back(context);
  return CUDA_SUCCESS;
}

FAKE_API CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  if (current_contexts.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  if (context != nullptr) *context = current();
  current_contexts.pop_back();
  return CUDA_SUCCESS;
}

FAKE_API CUresult cuCtxGetDevice(CUdevice* device) {
  if (current() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *device = current()->device;
  return CUDA_SUCCESS;
}

FAKE_API CUresult cuCtxSynchronize() {
  if (current() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  wait_for(current());
  return CUDA_SUCCESS;
}

FAKE_API CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int) {
  if (current() == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (flags > CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  *stream = make_stream(current(), flags, false);
  return CUDA_SUCCESS;
}

FAKE_API CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return cuStreamCreateWithPriority(stream, flags, 0);
}

FAKE_API CUresult cuStreamDestroy_v2(CUstream stream) {
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  CUcontext context = stream->context;
  std::unique_ptr<fake_stream> ended;
  {
    const std::lock_guard lock(context->mutex);
    for (auto& own : context->streams) {
      if (own.get() != stream) continue;
      std::swap(own, ended);
      std::swap(own, context->streams.back());
      context->streams.pop_back();
      break;
    }
  }
  if (ended == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  count(FAKE_CUDA_LIVE_STREAMS, -1);
  return CUDA_SUCCESS;
}

FAKE_API CUresult cuStreamGetFlags(CUstream handle, unsigned* flags) {
  CUstream stream = stream_of(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *flags = stream->stream.flags();
  return CUDA_SUCCESS;
}

FAKE_API CUresult cuStreamIsCapturing(CUstream, int* status) {
  *status = 0;
  return CUDA_SUCCESS;
}

namespace fake_cuda {

namespace {

CUresult query(CUstream handle, CUstream of_null) {
  count(FAKE_CUDA_QUERIES);
  CUstream stream = stream_of(handle, of_null);
  if (stream == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  return is_done(stream->stream.last()) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult record(CUevent event, CUstream handle, CUstream of_null) {
  CUstream stream = stream_of(handle, of_null);
  if (event == nullptr || stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  event->recorded = stream->stream.issue({});
  return CUDA_SUCCESS;
}

CUresult wait_for_event(CUstream handle, CUevent event, CUstream of_null) {
  CUstream stream = stream_of(handle, of_null);
  if (event == nullptr || stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  stream->stream.issue({}, 0, event->recorded);
  return CUDA_SUCCESS;
}

[[maybe_unused]] CUresult call_host(CUstream handle,
                                    CUhostFn function,
                                    void* data,
                                    CUstream of_null) {
  return issue(handle, of_null, [=] {
    count(FAKE_CUDA_HOST_FUNCTIONS);
    function(data);
  });
}

}  // namespace

}  // namespace fake_cuda

// Functions with a stream have two symbols: what a null stream means differs.
#define FAKE_WITH_STREAM(name, suffix, parameters, ...)         \
  FAKE_API CUresult name parameters {                           \
    constexpr std::uintptr_t null_stream = 1;                   \
    CUstream of_null = reinterpret_cast<CUstream>(null_stream); \
    return __VA_ARGS__;                                         \
  }                                                             \
  FAKE_API CUresult name##suffix parameters {                   \
    constexpr std::uintptr_t null_stream = 2;                   \
    CUstream of_null = reinterpret_cast<CUstream>(null_stream); \
    return __VA_ARGS__;                                         \
  }

FAKE_WITH_STREAM(cuStreamQuery, _ptsz, (CUstream stream), query(stream, of_null))
FAKE_WITH_STREAM(cuStreamSynchronize, _ptsz, (CUstream stream), synchronize(stream, of_null))
FAKE_WITH_STREAM(cuStreamWaitEvent,
                 _ptsz,
                 (CUstream stream, CUevent event, unsigned),
                 wait_for_event(stream, event, of_null))
FAKE_WITH_STREAM(cuEventRecord,
                 _ptsz,
                 (CUevent event, CUstream stream),
                 record(event, stream, of_null))
#ifndef FAKE_CUDA_OLD
FAKE_WITH_STREAM(cuLaunchHostFunc,
                 _ptsz,
                 (CUstream stream, CUhostFn function, void* data),
                 call_host(stream, function, data, of_null))
#endif
FAKE_WITH_STREAM(cuStreamAddCallback,
                 _ptsz,
                 (CUstream stream, CUstreamCallback callback, void* data, unsigned),
                 issue(stream, of_null, [=] { callback(stream, CUDA_SUCCESS, data); }))
FAKE_WITH_STREAM(cuLaunchKernel,
                 _ptsz,
                 (CUfunction function,
                  unsigned,
                  unsigned,
                  unsigned,
                  unsigned,
                  unsigned,
                  unsigned,
                  unsigned,
                  CUstream stream,
                  void** parameters,
                  void**),
                 launch(function, stream, of_null, parameters))
FAKE_WITH_STREAM(cuLaunchKernelEx,
                 _ptsz,
                 (const CUlaunchConfig* launched, CUfunction function, void** parameters, void**),
                 launch(function, launched->hStream, of_null, parameters))
FAKE_WITH_STREAM(cuMemcpyAsync,
                 _ptsz,
                 (CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream),
                 copy_in_stream(to, from, bytes, stream, of_null))
FAKE_WITH_STREAM(cuMemcpyHtoDAsync_v2,
                 _ptsz,
                 (CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream),
                 copy_in_stream(to, number(from), bytes, stream, of_null))
FAKE_WITH_STREAM(cuMemcpyDtoHAsync_v2,
                 _ptsz,
                 (void* to, CUdeviceptr from, std::size_t bytes, CUstream stream),
                 copy_in_stream(number(to), from, bytes, stream, of_null))
FAKE_WITH_STREAM(cuMemcpyDtoDAsync_v2,
                 _ptsz,
                 (CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream),
                 copy_in_stream(to, from, bytes, stream, of_null))
FAKE_WITH_STREAM(cuMemcpy2DAsync_v2,
                 _ptsz,
                 (const CUDA_MEMCPY2D* copied, CUstream stream),
                 copy_rectangle(*copied, stream, of_null, false))
FAKE_WITH_STREAM(cuMemcpy,
                 _ptds,
                 (CUdeviceptr to, CUdeviceptr from, std::size_t bytes),
                 copy_now(to, from, bytes, of_null))
FAKE_WITH_STREAM(cuMemcpyHtoD_v2,
                 _ptds,
                 (CUdeviceptr to, const void* from, std::size_t bytes),
                 copy_now(to, number(from), bytes, of_null))
FAKE_WITH_STREAM(cuMemcpyDtoH_v2,
                 _ptds,
                 (void* to, CUdeviceptr from, std::size_t bytes),
                 copy_now(number(to), from, bytes, of_null))
FAKE_WITH_STREAM(cuMemcpyDtoD_v2,
                 _ptds,
                 (CUdeviceptr to, CUdeviceptr from, std::size_t bytes),
                 copy_now(to, from, bytes, of_null))
FAKE_WITH_STREAM(cuMemcpy2D_v2,
                 _ptds,
                 (const CUDA_MEMCPY2D* copied),
                 copy_rectangle(*copied, nullptr, of_null, true))
FAKE_WITH_STREAM(cuMemsetD8_v2,
                 _ptds,
                 (CUdeviceptr to, unsigned char value, std::size_t n),
                 fill(to, value, 1, n, nullptr, of_null))
FAKE_WITH_STREAM(cuMemsetD32_v2,
                 _ptds,
                 (CUdeviceptr to, unsigned value, std::size_t n),
                 fill(to, value, 4, n, nullptr, of_null))
FAKE_WITH_STREAM(cuMemsetD8Async,
                 _ptsz,
                 (CUdeviceptr to, unsigned char value, std::size_t n, CUstream stream),
                 fill(to, value, 1, n, stream, of_null))
FAKE_WITH_STREAM(cuMemsetD32Async,
                 _ptsz,
                 (CUdeviceptr to, unsigned value, std::size_t n, CUstream stream),
                 fill(to, value, 4, n, stream, of_null))
FAKE_WITH_STREAM(cuMemAllocAsync,
                 _ptsz,
                 (CUdeviceptr * address, std::size_t bytes, CUstream),
                 (static_cast<void>(of_null),
                  allocate(reinterpret_cast<void**>(address), Kind::device, bytes)))
FAKE_WITH_STREAM(cuMemFreeAsync,
                 _ptsz,
                 (CUdeviceptr address, CUstream stream),
                 issue(stream, of_null, [=] {
                   memory().free(reinterpret_cast<void*>(address), false, false);
                 }))

FAKE_API CUresult cuEventCreate(CUevent* event, unsigned) {
  *event = new fake_event;
  return CUDA_SUCCESS;
}

FAKE_API CUresult cuEventDestroy_v2(CUevent event) {
  delete event;
  return CUDA_SUCCESS;
}

FAKE_API CUresult cuEventQuery(CUevent event) {
  count(FAKE_CUDA_QUERIES);
  return is_done(event->recorded) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

FAKE_API CUresult cuEventSynchronize(CUevent event) {
  wait_blocking(event->recorded);
  return CUDA_SUCCESS;
}

FAKE_API CUresult cuEventElapsedTime(float* ms, CUevent, CUevent) {
  *ms = 1;
  return CUDA_SUCCESS;
}

FAKE_API CUresult cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
  return allocate(reinterpret_cast<void**>(address), Kind::device, bytes);
}

FAKE_API CUresult cuMemAllocPitch_v2(
    CUdeviceptr* address, std::size_t* pitch, std::size_t width, std::size_t height, unsigned) {
  constexpr std::size_t alignment = 512;
  *pitch = (width + alignment - 1) / alignment * alignment;
  return allocate(reinterpret_cast<void**>(address), Kind::device, *pitch * height);
}

FAKE_API CUresult cuMemAllocManaged(CUdeviceptr* address, std::size_t bytes, unsigned) {
  return allocate(reinterpret_cast<void**>(address), Kind::managed, bytes);
}

FAKE_API CUresult cuMemFree_v2(CUdeviceptr address) {
  return free_of_device(address);
}

// A reservation is memory from the beginning; maps change nothing.
FAKE_API CUresult cuMemAddressReserve(
    CUdeviceptr* address, std::size_t bytes, std::size_t, CUdeviceptr, unsigned long long) {
  return allocate(reinterpret_cast<void**>(address), Kind::device, bytes);
}

/// Waits for no stream.
FAKE_API CUresult cuMemAddressFree(CUdeviceptr address, std::size_t) {
  return memory().free(reinterpret_cast<void*>(address), false, false) ? CUDA_SUCCESS
                                                                       : CUDA_ERROR_INVALID_VALUE;
}

FAKE_API CUresult cuMemMap(
    CUdeviceptr address, std::size_t bytes, std::size_t, unsigned long long, unsigned long long) {
  return address == 0 || bytes == 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

FAKE_API CUresult cuMemUnmap(CUdeviceptr address, std::size_t bytes) {
  return address == 0 || bytes == 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

FAKE_API CUresult cuMemAllocHost_v2(void** address, std::size_t bytes) {
  return allocate(address, Kind::pinned, bytes);
}

FAKE_API CUresult cuMemHostAlloc(void** address, std::size_t bytes, unsigned) {
  return allocate(address, Kind::pinned, bytes);
}

FAKE_API CUresult cuMemFreeHost(void* address) {
  return memory().free(address, true, false) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

FAKE_API CUresult cuMemHostRegister_v2(void* address, std::size_t bytes, unsigned) {
  return memory().register_host(address, bytes) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

FAKE_API CUresult cuMemHostUnregister(void* address) {
  return memory().free(address, false, true) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

FAKE_API CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* host, unsigned) {
  *address = number(host);
  return CUDA_SUCCESS;
}

FAKE_API CUresult cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  *total = memory().capacity();
  *free = *total - static_cast<std::size_t>(memory().live_bytes(true));
  return CUDA_SUCCESS;
}

FAKE_API CUresult cuMemGetAddressRange_v2(CUdeviceptr* begin,
                                          std::size_t* bytes,
                                          CUdeviceptr address) {
  std::uintptr_t found_at = 0;
  Allocation found{};
  if (!memory().find(address, found_at, found)) return CUDA_ERROR_NOT_FOUND;
  *begin = found_at;
  *bytes = found.bytes;
  return CUDA_SUCCESS;
}

/// An error for memory that the driver does not know.
FAKE_API CUresult cuPointerGetAttribute(void* value, int attribute, CUdeviceptr address) {
  std::uintptr_t begin = 0;
  Allocation found{};
  if (!is_initialised) return CUDA_ERROR_NOT_INITIALIZED;
  if (!memory().find(address, begin, found)) return CUDA_ERROR_INVALID_VALUE;
  const bool is_of_device = found.kind == Kind::device || found.kind == Kind::managed;
  const unsigned type = is_of_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
  const unsigned is_managed = found.kind == Kind::managed ? 1 : 0;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      std::memcpy(value, &found.context, sizeof found.context);
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      std::memcpy(value, &type, sizeof type);
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      std::memcpy(value, &is_managed, sizeof is_managed);
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

FAKE_API CUresult cuGetErrorName(CUresult error, const char** name) {
  *name = error == CUDA_SUCCESS           ? "CUDA_SUCCESS"
          : error == CUDA_ERROR_NO_DEVICE ? "CUDA_ERROR_NO_DEVICE"
                                          : "CUDA_ERROR";
  return CUDA_SUCCESS;
}

FAKE_API CUresult cuGetErrorString(CUresult error, const char** text) {
  *text = error == CUDA_ERROR_NO_DEVICE ? "no CUDA-capable device is detected"
                                        : "an error of the fake device";
  return CUDA_SUCCESS;
}

FAKE_API CUresult
cuGetProcAddress_v2(const char* name, void** function, int, std::uint64_t flags, int* status) {
  *function = nullptr;
  std::vector<std::string> names;
  const std::string base = name;
  if ((flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0)
    names = {base + "_v2_ptsz", base + "_v2_ptds", base + "_ptsz", base + "_ptds"};
  names.push_back(base + "_v2");
  names.push_back(base);
  static void* const self = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  for (const std::string& candidate : names) {
    if (*function == nullptr) *function = dlsym(self, candidate.c_str());
  }
  if (status != nullptr) *status = *function != nullptr ? 0 : 1;
  return *function != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

FAKE_API CUresult cuGetProcAddress(const char* name,
                                   void** function,
                                   int version,
                                   std::uint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}
