//! DriverApi - the functions of CUDA's driver that this folder calls, found in libcuda.so.1 by
//! name.
//!
//! Types and constants are those of the driver's public interface; no header of CUDA is needed.
//! Null where the driver lacks a function. Written once, before the first of them is called; then
//! constant.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sorrel::program::gpu {

/// 0, or the number of an error.
using Result = int;
using Device = int;
using Context = void*;
using Stream = void*;
using Event = void*;
using DevicePointer = std::uint64_t;

inline constexpr Result success = 0;
inline constexpr Result invalid_value = 1;
inline constexpr Result invalid_context = 201;
inline constexpr Result not_found = 500;
inline constexpr Result not_ready = 600;
inline constexpr Result not_supported = 801;

/// Flags of streams and events.
inline constexpr unsigned blocking_stream = 0;
inline constexpr unsigned non_blocking_stream = 1;
inline constexpr unsigned event_without_times = 2;

/// A copy of rows (CUDA_MEMCPY2D).
struct RectangleCopy {
  struct Side {
    std::size_t x_bytes = 0;
    std::size_t y = 0;
    int memory_type = 0;
    const void* host = nullptr;
    DevicePointer device = 0;
    void* array = nullptr;
    std::size_t pitch = 0;
  };

  static constexpr int of_host = 1;
  static constexpr int of_device = 2;

  Side source;
  Side target;
  std::size_t width_bytes = 0;
  std::size_t height = 0;
};

/// CUlaunchConfig.
struct LaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  Stream stream;
  void* attributes;
  unsigned attribute_count;
};

/// A handle of memory of another process (CUipcMemHandle), passed by value.
struct IpcHandle {
  char bytes[64];
};

[[nodiscard]] inline DevicePointer number_of(const void* address) {
  return reinterpret_cast<DevicePointer>(address);
}

using HostFunction = void (*)(void* data);

// X(symbol, parameters): all return Result.
#define SORREL_DRIVER_FUNCTIONS(X)                                                                 \
  X(cuInit, (unsigned flags))                                                                      \
  X(cuCtxGetCurrent, (Context * context))                                                          \
  X(cuCtxSetCurrent, (Context context))                                                            \
  X(cuCtxPopCurrent_v2, (Context * context))                                                       \
  X(cuCtxDestroy_v2, (Context context))                                                            \
  X(cuCtxPushCurrent_v2, (Context context))                                                        \
  X(cuCtxCreate_v2, (Context * context, unsigned flags, Device device))                            \
  X(cuCtxCreate_v3,                                                                                \
    (Context * context, void* parameters, int count, unsigned flags, Device device))               \
  X(cuCtxCreate_v4, (Context * context, void* parameters, unsigned flags, Device device))          \
  X(cuCtxSynchronize, ())                                                                          \
  X(cuCtxSynchronize_v2, (Context context))                                                        \
  X(cuDevicePrimaryCtxRetain, (Context * context, Device device))                                  \
  X(cuDevicePrimaryCtxRelease_v2, (Device device))                                                 \
  X(cuDevicePrimaryCtxReset_v2, (Device device))                                                   \
  X(cuStreamCreate, (Stream * stream, unsigned flags))                                             \
  X(cuStreamCreateWithPriority, (Stream * stream, unsigned flags, int priority))                   \
  X(cuStreamDestroy_v2, (Stream stream))                                                           \
  X(cuStreamGetFlags, (Stream stream, unsigned* flags))                                            \
  X(cuStreamQuery, (Stream stream))                                                                \
  X(cuStreamSynchronize, (Stream stream))                                                          \
  X(cuStreamWaitEvent, (Stream stream, Event event, unsigned flags))                               \
  X(cuEventCreate, (Event * event, unsigned flags))                                                \
  X(cuEventDestroy_v2, (Event event))                                                              \
  X(cuEventRecord, (Event event, Stream stream))                                                   \
  X(cuEventQuery, (Event event))                                                                   \
  X(cuEventSynchronize, (Event event))                                                             \
  X(cuLaunchHostFunc, (Stream stream, HostFunction function, void* data))                          \
  X(cuMemAlloc_v2, (DevicePointer * address, std::size_t bytes))                                   \
  X(cuMemAllocPitch_v2, (DevicePointer * address, std::size_t* pitch, std::size_t width,           \
                         std::size_t height, unsigned element))                                    \
  X(cuMemAllocManaged, (DevicePointer * address, std::size_t bytes, unsigned flags))               \
  X(cuMemAllocAsync, (DevicePointer * address, std::size_t bytes, Stream stream))                  \
  X(cuMemAllocFromPoolAsync,                                                                       \
    (DevicePointer * address, std::size_t bytes, void* pool, Stream stream))                       \
  X(cuMemFreeAsync, (DevicePointer address, Stream stream))                                        \
  X(cuMemAllocHost_v2, (void** address, std::size_t bytes))                                        \
  X(cuMemHostRegister_v2, (void* address, std::size_t bytes, unsigned flags))                      \
  X(cuMemMap, (DevicePointer address, std::size_t bytes, std::size_t offset, std::uint64_t handle, \
               std::uint64_t flags))                                                               \
  X(cuMemUnmap, (DevicePointer address, std::size_t bytes))                                        \
  X(cuIpcOpenMemHandle_v2, (DevicePointer * address, IpcHandle handle, unsigned flags))            \
  X(cuMemFree_v2, (DevicePointer address))                                                         \
  X(cuMemHostAlloc, (void** address, std::size_t bytes, unsigned flags))                           \
  X(cuMemFreeHost, (void* address))                                                                \
  X(cuMemHostUnregister, (void* address))                                                          \
  X(cuIpcCloseMemHandle, (DevicePointer address))                                                  \
  X(cuMemGetAddressRange_v2, (DevicePointer * begin, std::size_t* bytes, DevicePointer address))   \
  X(cuPointerGetAttribute, (void* value, int attribute, DevicePointer address))                    \
  X(cuMemcpyAsync, (DevicePointer to, DevicePointer from, std::size_t, Stream))                    \
  X(cuMemcpyHtoDAsync_v2, (DevicePointer to, const void* from, std::size_t, Stream))               \
  X(cuMemcpyDtoHAsync_v2, (void* to, DevicePointer from, std::size_t, Stream))                     \
  X(cuMemcpyDtoDAsync_v2, (DevicePointer to, DevicePointer from, std::size_t, Stream))             \
  X(cuMemcpyPeerAsync,                                                                             \
    (DevicePointer to, Context, DevicePointer from, Context, std::size_t, Stream))                 \
  X(cuMemcpy2DAsync_v2, (const RectangleCopy* copy, Stream stream))                                \
  X(cuMemcpy3DAsync_v2, (const void* copy, Stream stream))                                         \
  X(cuMemcpy3DPeerAsync, (const void* copy, Stream stream))                                        \
  X(cuMemsetD8Async, (DevicePointer to, unsigned char value, std::size_t count, Stream))           \
  X(cuMemsetD16Async, (DevicePointer to, unsigned short value, std::size_t count, Stream))         \
  X(cuMemsetD32Async, (DevicePointer to, unsigned value, std::size_t count, Stream))               \
  X(cuMemsetD2D8Async, (DevicePointer to, std::size_t pitch, unsigned char value,                  \
                        std::size_t width, std::size_t height, Stream))                            \
  X(cuMemsetD2D16Async, (DevicePointer to, std::size_t pitch, unsigned short value,                \
                         std::size_t width, std::size_t height, Stream))                           \
  X(cuMemsetD2D32Async, (DevicePointer to, std::size_t pitch, unsigned value, std::size_t width,   \
                         std::size_t height, Stream))                                              \
  X(cuLaunchKernelEx,                                                                              \
    (const LaunchConfig* config, void* function, void** parameters, void** extra))                 \
  X(cuStreamBeginCapture_v2, (Stream stream, int mode))                                            \
  X(cuStreamEndCapture, (Stream stream, void** graph))                                             \
  X(cuGreenCtxStreamCreate, (Stream * stream, void* context, unsigned flags, int priority))        \
  X(cuGetProcAddress, (const char* name, void** function, int version, std::uint64_t flags))       \
  X(cuGetProcAddress_v2,                                                                           \
    (const char* name, void** function, int version, std::uint64_t flags, int* status))

struct DriverApi {
#define SORREL_DECLARE(symbol, parameters) Result(*symbol) parameters = nullptr;
  SORREL_DRIVER_FUNCTIONS(SORREL_DECLARE)
#undef SORREL_DECLARE
};

/// Empty before load_driver().
[[nodiscard]] const DriverApi& driver();

/// Any thread, once: takes the functions from the driver's library.
void load_driver(void* library);

/// All of the driver's functions may be called from here on, by any thread.
void announce_driver(void* library);

/// Whether announce_driver() was called. Any thread.
[[nodiscard]] bool has_driver();

/// The address of the driver's own function; null: it has none, or no driver is announced.
[[nodiscard]] void* driver_symbol(const char* symbol);

}  // namespace sorrel::program::gpu
