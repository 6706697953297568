#include "device_memory.hpp"

#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

namespace fake_cuda {

namespace {

constexpr std::size_t page_bytes = 4096;

std::size_t pages_of(std::size_t bytes) {
  return (bytes + page_bytes - 1) / page_bytes * page_bytes;
}

bool is_of_device(Kind kind) {
  return kind == Kind::device || kind == Kind::managed;
}

/// The two maps of a device's memory; both null on failure.
void map_twice(std::size_t bytes, void*& device, std::byte*& host) {
  device = nullptr;
  const int file = memfd_create("fake_cuda", MFD_CLOEXEC);
  if (file < 0) return;
  if (ftruncate(file, static_cast<off_t>(bytes)) == 0) {
    void* hidden = mmap(nullptr, bytes, PROT_NONE, MAP_SHARED, file, 0);
    void* open = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (hidden != MAP_FAILED && open != MAP_FAILED) {
      device = hidden;
      host = static_cast<std::byte*>(open);
    }
  }
  close(file);
}

}  // namespace

std::size_t DeviceMemory::capacity() const {
  const char* text = std::getenv("FAKE_CUDA_MEMORY_MIB");
  return (text != nullptr ? std::strtoul(text, nullptr, 10) : 1024UL) << 20U;
}

void* DeviceMemory::allocate(Kind kind, std::size_t bytes, void* context) {
  const std::lock_guard lock(mutex_);
  const std::size_t mapped = pages_of(bytes);
  if (is_of_device(kind) && device_bytes_ + bytes > capacity()) return nullptr;
  void* address = nullptr;
  std::byte* host = nullptr;
  if (kind == Kind::device) {
    map_twice(mapped, address, host);
  } else {
    address = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (address == MAP_FAILED) address = nullptr;
    host = static_cast<std::byte*>(address);
  }
  if (address == nullptr) return nullptr;
  all_[reinterpret_cast<std::uintptr_t>(address)] = {kind, bytes, mapped, host, context};
  if (is_of_device(kind)) device_bytes_ += bytes;
  return address;
}

bool DeviceMemory::register_host(void* address, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  return all_
      .try_emplace(
          reinterpret_cast<std::uintptr_t>(address),
          Allocation{Kind::registered, bytes, 0, static_cast<std::byte*>(address), nullptr})
      .second;
}

bool DeviceMemory::free(void* address, bool is_pinned, bool is_registered) {
  const std::lock_guard lock(mutex_);
  const auto found = all_.find(reinterpret_cast<std::uintptr_t>(address));
  if (found == all_.end()) return false;
  const Allocation freed = found->second;
  const bool is_right = is_registered ? freed.kind == Kind::registered
                        : is_pinned   ? freed.kind == Kind::pinned
                                      : is_of_device(freed.kind);
  if (!is_right) return false;
  if (is_of_device(freed.kind)) device_bytes_ -= freed.bytes;
  if (freed.kind != Kind::registered) munmap(freed.host, freed.mapped_bytes);
  if (freed.kind == Kind::device) munmap(address, freed.mapped_bytes);
  all_.erase(found);
  return true;
}

bool DeviceMemory::find(std::uintptr_t address, std::uintptr_t& begin, Allocation& found) {
  const std::lock_guard lock(mutex_);
  auto after = all_.upper_bound(address);
  if (after == all_.begin()) return false;
  --after;
  if (address - after->first >= after->second.bytes) return false;
  begin = after->first;
  found = after->second;
  return true;
}

std::byte* DeviceMemory::host(std::uintptr_t address) {
  std::uintptr_t begin = 0;
  Allocation found{};
  if (!find(address, begin, found)) return reinterpret_cast<std::byte*>(address);
  return found.host + (address - begin);
}

long DeviceMemory::live_bytes(bool of_device) {
  const std::lock_guard lock(mutex_);
  long sum = 0;
  for (const auto& [address, allocation] : all_) {
    if (is_of_device(allocation.kind) == of_device) sum += static_cast<long>(allocation.bytes);
  }
  return sum;
}

}  // namespace fake_cuda
