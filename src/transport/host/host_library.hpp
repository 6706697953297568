//! HostLibrary - opens the plugin of a host MPI, so that the two sets of MPI_ functions stay
//! separate.
//!
//! The plugin and its dependencies are opened with a scope of their own (RTLD_LOCAL), which they
//! search before the program's (RTLD_DEEPBIND): the host's library binds to its own functions, the
//! program to those of this library. README.md, "Two libraries with one set of names".
#pragma once

#include <string>

#include "transport/host/host_api.h"

namespace sorrel::transport {

/// "libsorrel-host-NAME.so"
[[nodiscard]] std::string host_plugin_file(const std::string& name);

/// Opens the plugin at `path` permanently. On failure returns null and sets one line in `error`.
[[nodiscard]] const sorrel_host_api* open_host_plugin(const std::string& path, std::string& error);

}  // namespace sorrel::transport
