//! CollectiveCall - the collective that a member is in, and the arguments that all members must
//! agree on. Two words, compared in the barrier.
#pragma once

#include <cstdint>

#include "base/fixed_text.hpp"

namespace sorrel::mpi {

class ErrorDetail;

/// Each kind has one name, with or without _c.
enum class CollectiveKind : std::uint8_t {
  none,
  barrier,
  bcast,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  alltoallw,
  reduce,
  allreduce,
  reduce_scatter,
  reduce_scatter_block,
  scan,
  exscan,
  comm_dup,
  comm_split,  ///< And its derivatives: MPI_Comm_create, grids.
  comm_disconnect,
  finalize,
  graph_create,  ///< MPI_Graph_create or MPI_Dist_graph_create.
  intercomm_create,
  intercomm_merge,
  win_create,  ///< And the other calls that create windows.
  win_fence,
  win_free,
  file_open,
  file_close,
  file_set,       ///< The collective calls that change or synchronize a file, and set its view.
  file_read_all,  ///< Or MPI_File_read_at_all: programs mix them in one access.
  file_read_ordered,
  file_write_all,  ///< Or MPI_File_write_at_all.
  file_write_ordered,
};

inline constexpr std::int32_t collective_kind_count = 35;

/// Which of the functions of a kind: MPI_Gather, MPI_Igather or MPI_Gather_init.
enum class CollectiveForm : std::uint8_t { blocking, nonblocking, persistent };

struct CollectiveArguments {
  CollectiveKind kind = CollectiveKind::none;
  CollectiveForm form = CollectiveForm::blocking;
  /// For reductions: the Element of the datatype, and the constant of a predefined operation.
  std::uint8_t element = 0;
  std::uint16_t op = 0;
  /// For rooted collectives.
  std::int32_t root = 0;
  /// Where the standard requires the same amount of data of all members.
  std::uint64_t bytes = 0;
};

class CollectiveCall {
 public:
  CollectiveCall() = default;

  // Packed in registers: fields stored one by one and loaded as a word right after would wait for
  // the stores.
  explicit CollectiveCall(const CollectiveArguments& arguments)
      : what_(static_cast<std::uint64_t>(arguments.kind) |
              static_cast<std::uint64_t>(arguments.form) << kind_bits |
              std::uint64_t{arguments.element} << 8 | std::uint64_t{arguments.op} << 16 |
              std::uint64_t{static_cast<std::uint32_t>(arguments.root)} << 32),
        bytes_(arguments.bytes) {}

  [[nodiscard]] CollectiveKind kind() const {
    return static_cast<CollectiveKind>(what_ & ((1U << kind_bits) - 1));
  }

  [[nodiscard]] CollectiveForm form() const {
    return static_cast<CollectiveForm>((what_ & 0xff) >> kind_bits);
  }

  [[nodiscard]] CollectiveArguments arguments() const {
    return {.kind = kind(),
            .form = form(),
            .element = static_cast<std::uint8_t>(what_ >> 8),
            .op = static_cast<std::uint16_t>(what_ >> 16),
            .root = static_cast<std::int32_t>(what_ >> 32),
            .bytes = bytes_};
  }

  friend bool operator==(const CollectiveCall& a, const CollectiveCall& b) {
    return ((a.what_ ^ b.what_) | (a.bytes_ ^ b.bytes_)) == 0;
  }

  /// Sixteen bits that differ, most likely, if the calls do; the low ones are the kind.
  [[nodiscard]] std::uint16_t digest() const;

  static constexpr unsigned kind_bits = 6;

 private:
  std::uint64_t what_ = 0;
  std::uint64_t bytes_ = 0;
};

/// The kind in a digest.
[[nodiscard]] CollectiveKind kind_of_digest(std::uint16_t digest);

using CollectiveName = FixedText<40>;

/// The name in the standard: "MPI_Gather", "MPI_Igather", "MPI_Gather_init".
[[nodiscard]] CollectiveName name_of(CollectiveKind kind, CollectiveForm form);

[[nodiscard]] inline CollectiveName name_of(const CollectiveCall& call) {
  return name_of(call.kind(), call.form());
}

/// A member's call.
struct MemberCall {
  CollectiveCall call;
  std::int32_t rank = 0;
};

/// Two members of a barrier whose calls differ.
struct CollectiveMismatch {
  MemberCall first;
  MemberCall other;

  /// Stores which argument, or which call, differs, and returns the error class.
  [[nodiscard]] int explain(ErrorDetail& detail) const;
};

}  // namespace sorrel::mpi
