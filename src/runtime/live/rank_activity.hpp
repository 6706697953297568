//! RankActivity - what a rank does at one moment, for reports: plain data, taken without
//! allocation, and its text.
#pragma once

#include <cstdint>
#include <optional>

#include "base/fixed_text.hpp"
#include "core/fiber.hpp"
#include "mpi/match/operation.hpp"
#include "program/state/outside_wait.hpp"
#include "report/wait_table.hpp"

namespace sorrel::runtime {

struct RankActivity {
  std::int32_t rank = -1;
  /// Index in the process of the worker that runs it, or else of its own.
  std::uint32_t worker = 0;
  core::FiberState state = core::FiberState::ended;
  mpi::Phase phase = mpi::Phase::before_init;
  /// The latest MPI call, and where the program made it.
  const char* call = "";
  const void* call_site = nullptr;
  /// Whether the rank waits in that call.
  bool is_in_wait = false;
  // The operation that it waits for.
  const char* direction = "";         ///< "from", "to" or "for".
  std::int32_t peer = MPI_UNDEFINED;  ///< Rank of the communicator, or MPI_ANY_SOURCE.
  std::int32_t tag = MPI_UNDEFINED;
  mpi::OperationName operation;         ///< A nonblocking collective; empty: none.
  std::int32_t other_count = 0;         ///< Further requests of the same call.
  FixedText<MPI_MAX_OBJECT_NAME> comm;  ///< Its name; empty: none.
  /// As in RankWait.
  std::optional<std::int32_t> awaited;
  std::optional<std::uint32_t> collective;
};

/// On the thread of the rank's worker, also in a signal handler, or while no worker runs.
[[nodiscard]] RankActivity activity_of(const mpi::RankState& rank);

/// What any thread may read of a rank while its worker runs: no operation.
[[nodiscard]] RankActivity outline_of(const mpi::RankState& rank);

/// Whether the calling thread runs the rank's own flow of control, not a thread that it has
/// started.
[[nodiscard]] bool runs_flow_of(const mpi::RankState& rank);

/// Whether a rank's flow of control stays where it is while its worker's thread is in a signal
/// handler.
[[nodiscard]] bool stays_suspended(const core::Fiber& fiber);

/// Any thread, a hint: the worker that has borrowed the rank, or null.
[[nodiscard]] const core::Worker* borrower_of(const mpi::RankState& rank);

/// "MPI_COMM_WORLD", the name that the program has given, or "communicator 12 (4 ranks)".
void add_name(FixedText<MPI_MAX_OBJECT_NAME>& text,
              const mpi::RankState& rank,
              const mpi::Comm& comm);

/// As a row of a report, without `state` and `place`.
[[nodiscard]] report::RankWait description_of(const RankActivity& activity);

/// "from 3", "to 3 +2 more", "from any", "MPI_Ibarrier", "-".
[[nodiscard]] FixedText<48> peer_of(const RankActivity& activity);

/// What a rank waits for outside of MPI, and for how long: "GPU stream 0x5f00, 1.5 s".
[[nodiscard]] FixedText<80> peer_of(const program::OutsideSubject& subject);

/// "7", "any", "-".
[[nodiscard]] FixedText<16> tag_of(const RankActivity& activity);

}  // namespace sorrel::runtime
