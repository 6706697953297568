//! Constructors of derived datatypes, one for each of MPI's (MPI 5.0, 5.1).
//!
//! Each creates a datatype with one owner, not committed, and returns MPI_SUCCESS. On an error it
//! creates nothing and returns the class of the first wrong argument: MPI_ERR_COUNT (a negative
//! count, or more data than 63 bits can count), MPI_ERR_ARG (lengths, sizes, displacements that no
//! address can hold, order), MPI_ERR_TYPE (nested more than layout_depth_max deep), MPI_ERR_NO_MEM.
//! Old types may be freed afterwards. Displacements of "h" forms, resized and struct are bytes.
//! Pure; call from the rank that owns the old types.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mpi/base/integers.hpp"
#include "mpi/datatype/datatype.hpp"

namespace sorrel::mpi {

/// Whether the dimensions of a subarray are listed from the slowest (C) or the fastest (Fortran).
enum class ArrayOrder : std::uint8_t { c, fortran };

struct SubarrayShape {
  std::int64_t dimensions;
  Integers sizes;
  Integers subsizes;
  Integers starts;
  ArrayOrder order;
};

struct VectorShape {
  std::int64_t count;
  std::int64_t block_length;
  std::int64_t stride;
};

[[nodiscard]] int make_contiguous(std::int64_t count,
                                  const Datatype& old_type,
                                  Datatype*& new_type);

/// The stride counts extents of the old type.
[[nodiscard]] int make_vector(const VectorShape& shape,
                              const Datatype& old_type,
                              Datatype*& new_type);

[[nodiscard]] int make_hvector(const VectorShape& shape,
                               const Datatype& old_type,
                               Datatype*& new_type);

/// The displacements count extents of the old type.
[[nodiscard]] int make_indexed(std::int64_t count,
                               Integers block_lengths,
                               Integers displacements,
                               const Datatype& old_type,
                               Datatype*& new_type);

[[nodiscard]] int make_hindexed(std::int64_t count,
                                Integers block_lengths,
                                Integers displacements,
                                const Datatype& old_type,
                                Datatype*& new_type);

[[nodiscard]] int make_indexed_block(std::int64_t count,
                                     std::int64_t block_length,
                                     Integers displacements,
                                     const Datatype& old_type,
                                     Datatype*& new_type);

[[nodiscard]] int make_hindexed_block(std::int64_t count,
                                      std::int64_t block_length,
                                      Integers displacements,
                                      const Datatype& old_type,
                                      Datatype*& new_type);

/// The old types are the user's handles, because there may be many; MPI_ERR_TYPE if one is not
/// valid.
[[nodiscard]] int make_struct(std::int64_t count,
                              Integers block_lengths,
                              Integers displacements,
                              const MPI_Datatype* old_types,
                              Datatype*& new_type);

[[nodiscard]] int make_subarray(const SubarrayShape& shape,
                                const Datatype& old_type,
                                Datatype*& new_type);

[[nodiscard]] int make_resized(std::int64_t lb,
                               std::int64_t extent,
                               const Datatype& old_type,
                               Datatype*& new_type);

/// The copy is committed if the old type is.
[[nodiscard]] int make_dup(const Datatype& old_type, Datatype*& new_type);

}  // namespace sorrel::mpi
