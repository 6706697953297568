//! HostLibrary - opens the plugin of a host MPI, so that its MPI_ functions and ours never meet.
//!
//! The plugin and everything it needs are opened with a scope of their own (RTLD_LOCAL), which they
//! search before the program's (RTLD_DEEPBIND): the host's library finds its own functions where
//! the program finds ours. README.md, "Two libraries with one set of names".
#pragma once

#include <string>

#include "transport/host/host_api.h"

namespace sorrel::transport {

/// "libsorrel-host-NAME.so"
[[nodiscard]] std::string host_plugin_file(const std::string& name);

/// The folder that holds this library; "" when the system does not tell.
[[nodiscard]] std::string folder_of_this_library();

/// Opens the plugin at `path`, for good; null, with one line in `trouble`, when that fails.
[[nodiscard]] const sorrel_host_api* open_host_plugin(const std::string& path,
                                                      std::string& trouble);

}  // namespace sorrel::transport
