//! Arguments as the user passed them, in the groups in which the bodies of the bindings get them.
//!
//! make_bindings.py knows which arguments of a function are a group, and writes the struct.
#pragma once

#include "mpi/base/integers.hpp"

namespace sorrel::abi {

struct UserBuffer {
  void* buffer;  ///< may be the user's constant
  MPI_Count count;
  MPI_Datatype datatype;
};

/// Argument names of a side with one block per rank; null where the function has no such argument.
struct ListNames {
  const char* counts = nullptr;
  const char* displacements = nullptr;
  const char* datatypes = nullptr;
};

/// The side of a collective that has one block per rank.
struct UserBlocks : UserBuffer {
  mpi::Integers counts = {};
  mpi::Integers displacements = {};
  const MPI_Datatype* datatypes = nullptr;
  ListNames names = {};

  [[nodiscard]] bool is_list() const { return names.counts != nullptr; }
};

struct UserSend {
  const void* buffer;
  MPI_Count count;
  MPI_Datatype datatype;
  int destination;
  int tag;
};

struct UserReceive {
  void* buffer;
  MPI_Count count;
  MPI_Datatype datatype;
  int source;
  int tag;
};

/// The arguments common to all reductions.
struct UserReduction {
  const void* send;
  void* receive;
  MPI_Count count;
  MPI_Datatype datatype;
  MPI_Op op;
};

/// The side of a one-sided operation that is in the target's window.
struct UserTarget {
  int rank;
  MPI_Aint displacement;
  MPI_Count count;
  MPI_Datatype datatype;
};

}  // namespace sorrel::abi
