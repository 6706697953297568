//! The external32 representation of data (MPI 5.0, 14.5.2): big-endian, IEEE numbers, sizes that do
//! not depend on the machine, no padding.
//!
//! Here MPI_LONG has 4 bytes, MPI_WCHAR 2, MPI_LONG_DOUBLE the 128 bits of IEEE. A datatype is
//! followed through its recipe down to its predefined types, since its own layout does not tell
//! MPI_LONG from MPI_LONG_LONG. Pure; call from the rank that owns the type.
#pragma once

#include <cstddef>

#include "mpi/datatype/datatype.hpp"

namespace sorrel::mpi {

/// Bytes of one element of the type.
[[nodiscard]] std::size_t external32_size(const Datatype& type);

/// Converts `count` elements, packed as pack() leaves them, to `out`. MPI_ERR_CONVERSION: a number
/// does not fit into the smaller size.
[[nodiscard]] int to_external32(const std::byte* packed,
                                std::size_t count,
                                const Datatype& type,
                                std::byte* out);

/// The inverse, to what unpack() reads.
void from_external32(const std::byte* in,
                     std::size_t count,
                     const Datatype& type,
                     std::byte* packed);

}  // namespace sorrel::mpi
