//! job() - for functions of sorrel.h that both libmpi_abi and libsorrel export: the library that
//! runs the job.
#pragma once

#include "loop/job_bindings.hpp"

#define SORREL_EXPORT __attribute__((visibility("default")))

namespace sorrel::standalone {

#ifdef SORREL_IS_PLAIN

/// The job's bindings, or null in a plain program. The symbol is bound when the library is loaded.
inline const loop::JobBindings* job() {
  return sorrel_job_bindings_3 == nullptr ? nullptr : sorrel_job_bindings_3();
}

#else

/// In libmpi_abi the calls are the job's own.
constexpr const loop::JobBindings* job() {
  return nullptr;
}

#endif

}  // namespace sorrel::standalone
