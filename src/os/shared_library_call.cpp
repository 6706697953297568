#include "os/shared_library_call.hpp"

namespace sorrel::os {

namespace {

thread_local constinit int call_count = 0;

}  // namespace

SharedLibraryCall::SharedLibraryCall() {
  ++call_count;
}

SharedLibraryCall::~SharedLibraryCall() {
  --call_count;
}

bool SharedLibraryCall::is_in_progress() {
  return call_count != 0;
}

}  // namespace sorrel::os
