//! Target regions on the host: what the compiler passes for one, and its execution. Called on an
//! OpenMP thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "omp/icv/icv.hpp"
#include "omp/team/team_thread.hpp"
#include "omp/tool/ompt.hpp"

namespace sorrel::omp {

/// The arguments of a target construct. Its data are mapped to themselves, except copies of
/// firstprivate variables.
struct Target {
  void (*body)(void*) = nullptr;
  std::size_t count = 0;  ///< of the mapped variables
  void** addresses = nullptr;
  const std::size_t* sizes = nullptr;
  const std::uint16_t* kinds = nullptr;
  std::uint32_t thread_limit = 0;  ///< 0: not given
};

/// Reads the thread_limit clause from the compiler's list of arguments, which may be null.
[[nodiscard]] std::uint32_t thread_limit_of(void* const* arguments);

/// Runs the region, after the predecessors of `depend`. depend: null without such a clause. May
/// suspend.
void run_target(TeamThread& thread, const Target& target, void** depend);

/// A task runs the region; the caller does not wait for it.
void make_target_task(TeamThread& thread, const Target& target, void** depend);

/// To a tool, a construct that only maps data, which needs no work on the host.
void tell_mapping(const TeamThread& thread, ompt::Target kind);

/// Called for the device that a construct requests: prints once that the host computes in place of
/// the default device. If OMP_TARGET_OFFLOAD is mandatory, a device that is not the host ends the
/// process instead.
void report_host(const Icv& icv, int device);

}  // namespace sorrel::omp
