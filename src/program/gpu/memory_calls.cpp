// Memory of the driver: allocations and what makes host memory known to it, recorded for the rank.

#include <array>

#include "program/gpu/device_wait.hpp"
#include "program/gpu/driver_api.hpp"
#include "program/gpu/message_buffers.hpp"
#include "program/gpu/rank_gpu.hpp"
#include "program/gpu/substitutes.hpp"
#include "program/rank/rank_process.hpp"

namespace sorrel::program::gpu {

namespace {

constexpr OutsideWait free_wait{.call = "cuMemFree", .is_endless = true};

/// Records what a call has allocated.
Result take(Result result, std::uintptr_t begin, std::size_t bytes, MemoryKind kind) {
  RankGpu* gpu = result == success ? gpu_of_caller() : nullptr;
  if (gpu != nullptr) {
    const Allocation allocation{
        .begin = begin, .bytes = bytes, .kind = kind, .context = ThreadContext::current()};
    if (allocation.is_on_device()) give_message_buffers();
    gpu->memory_table().add(allocation);
  }
  return result;
}

void forget(std::uintptr_t begin) {
  if (RankGpu* gpu = gpu_of_caller(); gpu != nullptr) gpu->memory_table().remove(begin);
}

Result allocate(DevicePointer* address, std::size_t bytes) {
  const Result result = driver().cuMemAlloc_v2(address, bytes);
  return result == success ? take(result, *address, bytes, MemoryKind::device) : result;
}

Result allocate_pitch(DevicePointer* address,
                      std::size_t* pitch,
                      std::size_t width,
                      std::size_t height,
                      unsigned element) {
  const Result result = driver().cuMemAllocPitch_v2(address, pitch, width, height, element);
  return result == success ? take(result, *address, *pitch * height, MemoryKind::device) : result;
}

Result allocate_managed(DevicePointer* address, std::size_t bytes, unsigned flags) {
  const Result result = driver().cuMemAllocManaged(address, bytes, flags);
  return result == success ? take(result, *address, bytes, MemoryKind::managed) : result;
}

Stream enter(Stream stream, NullStream null_stream) {
  return enter_stream(gpu_of_caller(), stream, null_stream);
}

template <NullStream null_stream>
Result allocate_async(DevicePointer* address, std::size_t bytes, Stream stream) {
  const Result result = driver().cuMemAllocAsync(address, bytes, enter(stream, null_stream));
  return result == success ? take(result, *address, bytes, MemoryKind::device) : result;
}

template <NullStream null_stream>
Result allocate_from_pool(DevicePointer* address, std::size_t bytes, void* pool, Stream stream) {
  const Result result =
      driver().cuMemAllocFromPoolAsync(address, bytes, pool, enter(stream, null_stream));
  return result == success ? take(result, *address, bytes, MemoryKind::device) : result;
}

template <NullStream null_stream>
Result free_async(DevicePointer address, Stream stream) {
  // First: the address may be given to another thread at once.
  forget(address);
  return driver().cuMemFreeAsync(address, enter(stream, null_stream));
}

/// The driver waits for the work of all ranks on the device; that of the rank itself is waited for
/// before, while its worker runs others.
Result free_device(DevicePointer address) {
  RankGpu* gpu = gpu_of_caller();
  if (gpu != nullptr && address != 0) {
    if (Context context = ThreadContext::current(); context != nullptr)
      static_cast<void>(gpu->wait_for_context(context, free_wait));
    gpu->memory_table().remove(address);
  }
  return driver().cuMemFree_v2(address);
}

Result allocate_host(void** address, std::size_t bytes) {
  const Result result = driver().cuMemAllocHost_v2(address, bytes);
  return result == success ? take(result, number_of(*address), bytes, MemoryKind::pinned) : result;
}

Result allocate_host_with_flags(void** address, std::size_t bytes, unsigned flags) {
  const Result result = driver().cuMemHostAlloc(address, bytes, flags);
  return result == success ? take(result, number_of(*address), bytes, MemoryKind::pinned) : result;
}

Result free_host(void* address) {
  forget(number_of(address));
  return driver().cuMemFreeHost(address);
}

Result register_host(void* address, std::size_t bytes, unsigned flags) {
  return take(driver().cuMemHostRegister_v2(address, bytes, flags), number_of(address), bytes,
              MemoryKind::registered);
}

Result unregister_host(void* address) {
  forget(number_of(address));
  return driver().cuMemHostUnregister(address);
}

Result map(DevicePointer address,
           std::size_t bytes,
           std::size_t offset,
           std::uint64_t handle,
           std::uint64_t flags) {
  return take(driver().cuMemMap(address, bytes, offset, handle, flags), address, bytes,
              MemoryKind::mapped);
}

/// The range may have several maps.
Result unmap(DevicePointer address, std::size_t bytes) {
  if (RankGpu* gpu = gpu_of_caller(); gpu != nullptr)
    gpu->memory_table().remove_maps(address, bytes);
  return driver().cuMemUnmap(address, bytes);
}

Result import(DevicePointer* address, IpcHandle handle, unsigned flags) {
  const Result result = driver().cuIpcOpenMemHandle_v2(address, handle, flags);
  if (result != success) return result;
  DevicePointer begin = *address;
  std::size_t bytes = 0;
  if (driver().cuMemGetAddressRange_v2 == nullptr ||
      driver().cuMemGetAddressRange_v2(&begin, &bytes, *address) != success)
    bytes = 0;
  return take(result, *address, bytes, MemoryKind::imported);
}

Result end_import(DevicePointer address) {
  forget(address);
  return driver().cuIpcCloseMemHandle(address);
}

const std::array substitutes = {
    Substitute{"cuMemAlloc", "cuMemAlloc_v2", 3020, Variant::only,
               reinterpret_cast<void*>(allocate)},
    Substitute{"cuMemAllocPitch", "cuMemAllocPitch_v2", 3020, Variant::only,
               reinterpret_cast<void*>(allocate_pitch)},
    Substitute{"cuMemAllocManaged", "cuMemAllocManaged", 6000, Variant::only,
               reinterpret_cast<void*>(allocate_managed)},
    Substitute{"cuMemAllocAsync", "cuMemAllocAsync", 11020, Variant::legacy,
               reinterpret_cast<void*>(allocate_async<null_is_legacy>)},
    Substitute{"cuMemAllocAsync", "cuMemAllocAsync_ptsz", 11020, Variant::per_thread,
               reinterpret_cast<void*>(allocate_async<null_is_thread>)},
    Substitute{"cuMemAllocFromPoolAsync", "cuMemAllocFromPoolAsync", 11020, Variant::legacy,
               reinterpret_cast<void*>(allocate_from_pool<null_is_legacy>)},
    Substitute{"cuMemAllocFromPoolAsync", "cuMemAllocFromPoolAsync_ptsz", 11020,
               Variant::per_thread, reinterpret_cast<void*>(allocate_from_pool<null_is_thread>)},
    Substitute{"cuMemFreeAsync", "cuMemFreeAsync", 11020, Variant::legacy,
               reinterpret_cast<void*>(free_async<null_is_legacy>)},
    Substitute{"cuMemFreeAsync", "cuMemFreeAsync_ptsz", 11020, Variant::per_thread,
               reinterpret_cast<void*>(free_async<null_is_thread>)},
    Substitute{"cuMemFree", "cuMemFree_v2", 3020, Variant::only,
               reinterpret_cast<void*>(free_device)},
    Substitute{"cuMemAllocHost", "cuMemAllocHost_v2", 3020, Variant::only,
               reinterpret_cast<void*>(allocate_host)},
    Substitute{"cuMemHostAlloc", "cuMemHostAlloc", 2020, Variant::only,
               reinterpret_cast<void*>(allocate_host_with_flags)},
    Substitute{"cuMemFreeHost", "cuMemFreeHost", 2000, Variant::only,
               reinterpret_cast<void*>(free_host)},
    Substitute{"cuMemHostRegister", "cuMemHostRegister_v2", 6050, Variant::only,
               reinterpret_cast<void*>(register_host)},
    Substitute{"cuMemHostUnregister", "cuMemHostUnregister", 4000, Variant::only,
               reinterpret_cast<void*>(unregister_host)},
    Substitute{"cuMemMap", "cuMemMap", 10020, Variant::only, reinterpret_cast<void*>(map)},
    Substitute{"cuMemUnmap", "cuMemUnmap", 10020, Variant::only, reinterpret_cast<void*>(unmap)},
    Substitute{"cuIpcOpenMemHandle", "cuIpcOpenMemHandle_v2", 11000, Variant::only,
               reinterpret_cast<void*>(import)},
    Substitute{"cuIpcCloseMemHandle", "cuIpcCloseMemHandle", 4010, Variant::only,
               reinterpret_cast<void*>(end_import)},
};

}  // namespace

std::span<const Substitute> memory_substitutes() {
  return substitutes;
}

}  // namespace sorrel::program::gpu
