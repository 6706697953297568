//! HostCalls - a host MPI's functions, called so that what they allocate is the process's
//! (os::SharedLibraryCall): for jobs in which the C library allocates in ranks' heaps, and
//! ranks leave the process.
#pragma once

#include "transport/host/host_api.h"

namespace sorrel::runtime {

/// The functions of `api`, called so. Valid as long as the process; once.
[[nodiscard]] const sorrel_host_api& calls_outside_of_heaps(const sorrel_host_api& api);

}  // namespace sorrel::runtime
