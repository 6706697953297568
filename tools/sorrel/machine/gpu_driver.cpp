#include "tools/sorrel/machine/gpu_driver.hpp"

#include <array>
#include <cstddef>
#include <dlfcn.h>
#include <fmt/core.h>
#include <link.h>

#include "tools/sorrel/common/numbers.hpp"

namespace sorrel::tool {

namespace {

constexpr const char* driver_file = "libcuda.so.1";

template <class Function>
bool find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(::dlsym(library, name));
  return function != nullptr;
}

/// The functions of the driver that are called here. They return 0, or the number of an error.
struct DriverFunctions {
  int (*get_version)(int*) = nullptr;
  int (*initialize)(unsigned) = nullptr;
  int (*get_count)(int*) = nullptr;
  int (*get_device)(int*, int) = nullptr;
  int (*get_name)(char*, int, int) = nullptr;
  int (*get_memory)(std::size_t*, int) = nullptr;
  int (*get_error_text)(int, const char**) = nullptr;

  [[nodiscard]] bool look_up(void* library) {
    return find(library, "cuDriverGetVersion", get_version) &&
           find(library, "cuInit", initialize) && find(library, "cuDeviceGetCount", get_count) &&
           find(library, "cuDeviceGet", get_device) && find(library, "cuDeviceGetName", get_name) &&
           find(library, "cuDeviceTotalMem_v2", get_memory) &&
           find(library, "cuGetErrorString", get_error_text);
  }

  [[nodiscard]] std::string text_of(int error) const {
    const char* text = nullptr;
    if (get_error_text(error, &text) != 0 || text == nullptr) text = "unknown";
    return fmt::format("error {}, {}", error, text);
  }
};

std::string path_of(void* library) {
  const link_map* map = nullptr;
  return ::dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 ? map->l_name : driver_file;
}

/// Completes `driver`; returns why no device can be used, or "".
std::string read_devices(const DriverFunctions& cuda, GpuDriver& driver) {
  static_cast<void>(cuda.get_version(&driver.version));
  int count = 0;
  if (const int error = cuda.initialize(0); error != 0) return cuda.text_of(error);
  if (const int error = cuda.get_count(&count); error != 0) return cuda.text_of(error);
  for (int i = 0; i < count; ++i) {
    constexpr std::size_t name_bytes = 256;
    std::array<char, name_bytes> name{};
    int device = 0;
    std::size_t memory_bytes = 0;
    if (cuda.get_device(&device, i) != 0 ||
        cuda.get_name(name.data(), static_cast<int>(name.size()) - 1, device) != 0 ||
        cuda.get_memory(&memory_bytes, device) != 0)
      return fmt::format("device {} cannot be read", i);
    driver.devices.push_back({.name = name.data(), .memory_bytes = memory_bytes});
  }
  return count == 0 ? "no device" : "";
}

}  // namespace

std::string GpuDriver::version_text() const {
  return version == 0 ? "" : fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

GpuDriver find_gpu_driver() {
  GpuDriver driver;
  void* library = ::dlopen(driver_file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return driver;
  driver.path = path_of(library);
  DriverFunctions cuda;
  driver.error =
      cuda.look_up(library) ? read_devices(cuda, driver) : "the library lacks functions of CUDA";
  return driver;
}

std::vector<std::string> describe(const GpuDriver& driver) {
  if (driver.path.empty()) return {"none: the loader finds no libcuda.so.1"};
  std::string first = fmt::format("CUDA's driver {} ({})", driver.version_text(), driver.path);
  if (!driver.error.empty()) return {first + ": " + driver.error};
  std::vector<std::string> lines{first + ", shared by the ranks of a process"};
  for (const GpuDevice& device : driver.devices)
    lines.push_back(fmt::format("{}, {}", device.name, format_size(device.memory_bytes)));
  return lines;
}

}  // namespace sorrel::tool
