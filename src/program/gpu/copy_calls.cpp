// Copies that the host waits for, and those that the driver makes at once because the host's memory
// is pageable: the rank first waits for the stream, while its worker runs others, then the driver
// copies.

#include <array>

#include "program/gpu/device_wait.hpp"
#include "program/gpu/driver_api.hpp"
#include "program/gpu/rank_gpu.hpp"
#include "program/gpu/substitutes.hpp"
#include "program/rank/rank_process.hpp"

namespace sorrel::program::gpu {

namespace {

constexpr OutsideWait copy_wait{.call = "cuMemcpy", .is_endless = true};

/// The driver stages shorter copies to a device without waiting.
constexpr std::size_t staged_bytes_max = std::size_t{64} << 10;

/// Whether the driver knows nothing of it: memory of the host that may be moved to a disk.
bool is_pageable(RankGpu& gpu, std::uintptr_t address) {
  constexpr int memory_type_attribute = 2;
  if (gpu.memory_table().find(address)) return false;
  unsigned type = 0;
  return driver().cuPointerGetAttribute == nullptr ||
         driver().cuPointerGetAttribute(&type, memory_type_attribute, address) != success;
}

/// A copy by a rank, in one of its streams.
class Copy {
 public:
  Copy(const void* caller, Stream stream, NullStream null_stream)
      : process_(process_that_may_wait(caller)),
        gpu_(gpu_of_caller()),
        stream_(enter_stream(gpu_, stream, null_stream)) {}

  [[nodiscard]] Stream stream() const { return stream_; }

  [[nodiscard]] bool is_pageable(std::uintptr_t address) const {
    return process_ != nullptr && gpu::is_pageable(*gpu_, address);
  }

  /// For what the stream has. A stream that is captured answers with the copy's error.
  Result wait() const { return wait_for(process_, {.stream = stream_}, copy_wait); }

  /// The copy, and the wait for it.
  template <class Issue>
  Result finish(Issue&& issue) const {
    // Pageable memory on either side would make the driver wait.
    if (process_ != nullptr) {
      if (const Result result = wait(); result != success) return result;
    }
    if (const Result result = issue(stream_); result != success) return result;
    return wait();
  }

 private:
  RankProcess* process_;
  RankGpu* gpu_;
  const Stream stream_;
};

template <NullStream null_stream>
Result copy_async(DevicePointer to, DevicePointer from, std::size_t bytes, Stream stream) {
  const Copy copy(__builtin_return_address(0), stream, null_stream);
  if (copy.is_pageable(to) || copy.is_pageable(from)) static_cast<void>(copy.wait());
  return driver().cuMemcpyAsync(to, from, bytes, copy.stream());
}

template <NullStream null_stream>
Result to_device_async(DevicePointer to, const void* from, std::size_t bytes, Stream stream) {
  const Copy copy(__builtin_return_address(0), stream, null_stream);
  if (bytes > staged_bytes_max && copy.is_pageable(number_of(from))) static_cast<void>(copy.wait());
  return driver().cuMemcpyHtoDAsync_v2(to, from, bytes, copy.stream());
}

template <NullStream null_stream>
Result to_host_async(void* to, DevicePointer from, std::size_t bytes, Stream stream) {
  const Copy copy(__builtin_return_address(0), stream, null_stream);
  if (copy.is_pageable(number_of(to))) static_cast<void>(copy.wait());
  return driver().cuMemcpyDtoHAsync_v2(to, from, bytes, copy.stream());
}

template <NullStream null_stream>
Result copy(DevicePointer to, DevicePointer from, std::size_t bytes) {
  const Copy made(__builtin_return_address(0), nullptr, null_stream);
  return made.finish([&](Stream in) { return driver().cuMemcpyAsync(to, from, bytes, in); });
}

template <NullStream null_stream>
Result to_device(DevicePointer to, const void* from, std::size_t bytes) {
  const Copy made(__builtin_return_address(0), nullptr, null_stream);
  return made.finish([&](Stream in) { return driver().cuMemcpyHtoDAsync_v2(to, from, bytes, in); });
}

template <NullStream null_stream>
Result to_host(void* to, DevicePointer from, std::size_t bytes) {
  const Copy made(__builtin_return_address(0), nullptr, null_stream);
  return made.finish([&](Stream in) { return driver().cuMemcpyDtoHAsync_v2(to, from, bytes, in); });
}

template <NullStream null_stream>
Result rectangle(const RectangleCopy* copied) {
  const Copy made(__builtin_return_address(0), nullptr, null_stream);
  return made.finish([&](Stream in) { return driver().cuMemcpy2DAsync_v2(copied, in); });
}

template <NullStream null_stream>
Result cuboid(const void* copied) {
  const Copy made(__builtin_return_address(0), nullptr, null_stream);
  return made.finish([&](Stream in) { return driver().cuMemcpy3DAsync_v2(copied, in); });
}

template <NullStream null_stream>
Result cuboid_of_peer(const void* copied) {
  const Copy made(__builtin_return_address(0), nullptr, null_stream);
  return made.finish([&](Stream in) { return driver().cuMemcpy3DPeerAsync(copied, in); });
}

// The host does not wait for the following ones.

Stream default_stream(NullStream null_stream) {
  return enter_stream(gpu_of_caller(), nullptr, null_stream);
}

template <NullStream null_stream>
Result on_device(DevicePointer to, DevicePointer from, std::size_t bytes) {
  return driver().cuMemcpyDtoDAsync_v2(to, from, bytes, default_stream(null_stream));
}

template <NullStream null_stream>
Result to_peer(
    DevicePointer to, Context of, DevicePointer from, Context source, std::size_t bytes) {
  return driver().cuMemcpyPeerAsync(to, of, from, source, bytes, default_stream(null_stream));
}

template <NullStream null_stream>
Result fill8(DevicePointer to, unsigned char value, std::size_t count) {
  return driver().cuMemsetD8Async(to, value, count, default_stream(null_stream));
}

template <NullStream null_stream>
Result fill16(DevicePointer to, unsigned short value, std::size_t count) {
  return driver().cuMemsetD16Async(to, value, count, default_stream(null_stream));
}

template <NullStream null_stream>
Result fill32(DevicePointer to, unsigned value, std::size_t count) {
  return driver().cuMemsetD32Async(to, value, count, default_stream(null_stream));
}

template <NullStream null_stream>
Result fill_rows8(
    DevicePointer to, std::size_t pitch, unsigned char value, std::size_t w, std::size_t h) {
  return driver().cuMemsetD2D8Async(to, pitch, value, w, h, default_stream(null_stream));
}

template <NullStream null_stream>
Result fill_rows16(
    DevicePointer to, std::size_t pitch, unsigned short value, std::size_t w, std::size_t h) {
  return driver().cuMemsetD2D16Async(to, pitch, value, w, h, default_stream(null_stream));
}

template <NullStream null_stream>
Result fill_rows32(
    DevicePointer to, std::size_t pitch, unsigned value, std::size_t w, std::size_t h) {
  return driver().cuMemsetD2D32Async(to, pitch, value, w, h, default_stream(null_stream));
}

/// Both variants of a function. Those of the thread's stream came with CUDA 7.
#define SORREL_BOTH(name, symbol, per_thread_symbol, version, function) \
  Substitute{name, symbol, version, Variant::legacy,                    \
             reinterpret_cast<void*>(function<null_is_legacy>)},        \
      Substitute {                                                      \
    name, per_thread_symbol, 7000, Variant::per_thread,                 \
        reinterpret_cast<void*>(function<null_is_thread>)               \
  }

const std::array substitutes = {
    SORREL_BOTH("cuMemcpyAsync", "cuMemcpyAsync", "cuMemcpyAsync_ptsz", 4000, copy_async),
    SORREL_BOTH("cuMemcpyHtoDAsync",
                "cuMemcpyHtoDAsync_v2",
                "cuMemcpyHtoDAsync_v2_ptsz",
                3020,
                to_device_async),
    SORREL_BOTH("cuMemcpyDtoHAsync",
                "cuMemcpyDtoHAsync_v2",
                "cuMemcpyDtoHAsync_v2_ptsz",
                3020,
                to_host_async),
    SORREL_BOTH("cuMemcpy", "cuMemcpy", "cuMemcpy_ptds", 4000, copy),
    SORREL_BOTH("cuMemcpyHtoD", "cuMemcpyHtoD_v2", "cuMemcpyHtoD_v2_ptds", 3020, to_device),
    SORREL_BOTH("cuMemcpyDtoH", "cuMemcpyDtoH_v2", "cuMemcpyDtoH_v2_ptds", 3020, to_host),
    SORREL_BOTH("cuMemcpyDtoD", "cuMemcpyDtoD_v2", "cuMemcpyDtoD_v2_ptds", 3020, on_device),
    SORREL_BOTH("cuMemcpyPeer", "cuMemcpyPeer", "cuMemcpyPeer_ptds", 4000, to_peer),
    SORREL_BOTH("cuMemcpy2D", "cuMemcpy2D_v2", "cuMemcpy2D_v2_ptds", 3020, rectangle),
    SORREL_BOTH("cuMemcpy3D", "cuMemcpy3D_v2", "cuMemcpy3D_v2_ptds", 3020, cuboid),
    SORREL_BOTH("cuMemcpy3DPeer", "cuMemcpy3DPeer", "cuMemcpy3DPeer_ptds", 4000, cuboid_of_peer),
    SORREL_BOTH("cuMemsetD8", "cuMemsetD8_v2", "cuMemsetD8_v2_ptds", 3020, fill8),
    SORREL_BOTH("cuMemsetD16", "cuMemsetD16_v2", "cuMemsetD16_v2_ptds", 3020, fill16),
    SORREL_BOTH("cuMemsetD32", "cuMemsetD32_v2", "cuMemsetD32_v2_ptds", 3020, fill32),
    SORREL_BOTH("cuMemsetD2D8", "cuMemsetD2D8_v2", "cuMemsetD2D8_v2_ptds", 3020, fill_rows8),
    SORREL_BOTH("cuMemsetD2D16", "cuMemsetD2D16_v2", "cuMemsetD2D16_v2_ptds", 3020, fill_rows16),
    SORREL_BOTH("cuMemsetD2D32", "cuMemsetD2D32_v2", "cuMemsetD2D32_v2_ptds", 3020, fill_rows32),
};

#undef SORREL_BOTH

}  // namespace

std::span<const Substitute> copy_substitutes() {
  return substitutes;
}

}  // namespace sorrel::program::gpu
