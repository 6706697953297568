//! The constructor of the datatype of a rank's part of a distributed array (MPI 5.0, 5.1.4).
//!
//! In each dimension, blocks of equal length are dealt out to the coordinates of a process grid in
//! turn, as in High Performance Fortran: all at once (block), repeatedly (cyclic), or to one
//! process (none). The grid is in row-major order, like a Cartesian communicator's, whatever the
//! order of the array.
#pragma once

#include "mpi/base/error_detail.hpp"
#include "mpi/datatype/construct.hpp"

namespace sorrel::mpi {

/// The arguments of MPI_Type_create_darray. The arrays have `dimensions` numbers.
struct DarrayShape {
  int process_count;
  int rank;
  int dimensions;
  Integers sizes;
  const int* distributions;
  const int* arguments;
  const int* grid;
  ArrayOrder order;
};

/// As the constructors of construct.hpp. MPI_ERR_ARG, with a detail: a number is out of range, the
/// grid does not have `process_count` processes, or blocks do not cover the array.
[[nodiscard]] int make_darray(const DarrayShape& shape,
                              const Datatype& old_type,
                              Datatype*& new_type,
                              ErrorDetail& detail);

}  // namespace sorrel::mpi
