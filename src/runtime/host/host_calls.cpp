#include "runtime/host/host_calls.hpp"

#include "os/shared_library_call.hpp"

namespace sorrel::runtime {

namespace {

// The functions of the host MPI itself.
sorrel_host_api own;
sorrel_host_api outside;

template <auto function>
struct Outside;

template <class Result,
          class... Arguments,
          Result (*sorrel_host_api::*function)(void*, Arguments...)>
struct Outside<function> {
  static Result call(void* host, Arguments... arguments) {
    const os::SharedLibraryCall scope;
    return (own.*function)(host, arguments...);
  }
};

template <auto... functions>
void take_outside() {
  ((outside.*functions = Outside<functions>::call), ...);
}

}  // namespace

const sorrel_host_api& calls_outside_of_heaps(const sorrel_host_api& api) {
  own = api;
  outside = api;
  // The functions that are called while ranks run.
  take_outside<&sorrel_host_api::receive, &sorrel_host_api::take, &sorrel_host_api::send,
               &sorrel_host_api::is_sent, &sorrel_host_api::begin_share,
               &sorrel_host_api::has_shared, &sorrel_host_api::send_long,
               &sorrel_host_api::receive_long, &sorrel_host_api::is_long_done>();
  return outside;
}

}  // namespace sorrel::runtime
