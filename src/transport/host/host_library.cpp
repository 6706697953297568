#include "transport/host/host_library.hpp"

#include <dlfcn.h>

namespace sorrel::transport {

std::string host_plugin_file(const std::string& name) {
  return "libsorrel-host-" + name + ".so";
}

const sorrel_host_api* open_host_plugin(const std::string& path, std::string& error) {
#ifdef __SANITIZE_ADDRESS__
  // The sanitizer's library does not support RTLD_DEEPBIND; no other library of the test has MPI_
  // functions.
  constexpr int flags = RTLD_NOW | RTLD_LOCAL;
#else
  constexpr int flags = RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND;
#endif
  void* plugin = dlopen(path.c_str(), flags);
  if (plugin == nullptr) {
    error = dlerror();
    return nullptr;
  }
  using Entry = const sorrel_host_api* (*)();
  const auto entry = reinterpret_cast<Entry>(dlsym(plugin, SORREL_HOST_ENTRY));
  const sorrel_host_api* api = entry == nullptr ? nullptr : entry();
  if (api == nullptr || api->version != SORREL_HOST_API_VERSION) {
    error = path + " is no plugin of this version";
    return nullptr;
  }
  return api;
}

}  // namespace sorrel::transport
