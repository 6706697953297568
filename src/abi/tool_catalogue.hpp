//! The catalogue of the tool information interface: variables, events, their enumerations and
//! categories.
//!
//! Constant tables; any thread. A variable is read for one rank, on that rank's worker. A stand-in
//! (any_time.hpp) has no world and no worker: its variables are 0, its settings the defaults.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "mpi/match/rank_events.hpp"

namespace sorrel::abi {

struct ToolEnumItem {
  const char* name;
  int value;
};

/// What an MPI_T_enum points to.
struct ToolEnum {
  const char* name;
  std::span<const ToolEnumItem> items;
};

enum class ToolCategory : std::uint8_t { sorrel, messages, collectives, workers, memory };

/// What all variables have in common.
struct ToolVariable {
  const char* name;
  const char* description;
  ToolCategory category;
  int verbosity;
  /// MPI_INT with an enumeration or for a flag, else MPI_UNSIGNED_LONG_LONG.
  bool is_int = false;
  const ToolEnum* enumeration = nullptr;
  bool is_bound_to_comm = false;
};

/// `comm` is null unless the variable is bound to a communicator.
struct ControlVariable : ToolVariable {
  std::int64_t (*read)(const mpi::RankState& self, const mpi::Comm* comm);
  /// Null: a setting that cannot be changed while the job runs.
  void (*write)(mpi::Comm* comm, std::int64_t value) = nullptr;
};

/// A counter is counted for each handle, from its start to its stop; other classes are continuous
/// and cannot be changed.
struct PerformanceVariable : ToolVariable {
  int variable_class;
  std::int64_t (*read)(const mpi::RankState& self, const mpi::Comm* comm);

  [[nodiscard]] bool is_counter() const { return variable_class == MPI_T_PVAR_CLASS_COUNTER; }
};

/// A kind of event, by mpi::EventKind. Its data has 8 bytes for each element; an MPI_INT lies in
/// the first four of them.
struct ToolEvent {
  const char* name;
  const char* description;
  ToolCategory category;
  int verbosity;
  /// Names the elements.
  const ToolEnum* elements;
  /// MPI_INT, else MPI_UNSIGNED_LONG_LONG.
  std::array<bool, std::tuple_size_v<mpi::RankEvent::Values>> is_int{};
};

struct ToolCategoryInfo {
  const char* name;
  const char* description;
};

[[nodiscard]] std::span<const ControlVariable> control_variables();
[[nodiscard]] std::span<const PerformanceVariable> performance_variables();
[[nodiscard]] std::span<const ToolEvent> tool_events();
[[nodiscard]] std::span<const ToolEnum> tool_enums();
/// By ToolCategory. The first contains all others, and no variable.
[[nodiscard]] std::span<const ToolCategoryInfo> tool_categories();

}  // namespace sorrel::abi
