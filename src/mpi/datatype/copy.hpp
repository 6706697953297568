//! Copying typed data: pack, unpack, and copy from one typed buffer to another, for point-to-point
//! and collectives.
//!
//! A buffer is (base, count, datatype) as in MPI; base may be MPI_BOTTOM with absolute
//! displacements. Buffers must not overlap, except that the same dense buffer may be copied to
//! itself. Pure, any thread, never allocates: between two sparse buffers the data passes through
//! copy_chunk_bytes on the stack. The caller has checked that count * size() fits in 63 bits.
#pragma once

#include <algorithm>
#include <cstddef>

#include "base/copy_bytes.hpp"
#include "mpi/datatype/datatype.hpp"

namespace sorrel::mpi {

inline constexpr std::size_t copy_chunk_bytes = 4096;

/// The part [from, to) of a packed stream.
struct PackedRange {
  std::size_t from;
  std::size_t to;
};

/// single_run() for any type.
[[nodiscard]] void* find_single_run(const void* base, std::size_t count, const Datatype& type);

/// The address of the data of (base, count, type) if it is one run of bytes, else nullptr.
[[nodiscard]] inline void* single_run(const void* base, std::size_t count, const Datatype& type) {
  return type.is_dense() ? const_cast<void*>(base) : find_single_run(base, count, type);
}

/// Appends the data of a typed buffer at `out`; returns its bytes, count * size().
std::size_t pack(const void* base, std::size_t count, const Datatype& type, void* out);

/// Writes only the bytes [from, to) of the packed stream to `out`; to <= count * size().
void pack_range(const void* base, const Datatype& type, PackedRange range, void* out);

/// Fills a typed buffer from `bytes` packed bytes, of which the last may end inside an element.
/// Returns the bytes used: at most count * size(). Datatype::count_in() and elements_in() convert
/// them to MPI's counts.
std::size_t unpack(
    const void* in, std::size_t bytes, void* base, std::size_t count, const Datatype& type);

/// Places the bytes [from, to) of the packed stream, which are at `in`.
void unpack_range(const void* in, PackedRange range, void* base, const Datatype& type);

/// copy() if at least one side is not dense.
std::size_t copy_sparse(const void* source,
                        std::size_t source_count,
                        const Datatype& source_type,
                        void* target,
                        std::size_t target_count,
                        const Datatype& target_type);

/// Copies as many bytes as both buffers hold and returns their number.
inline std::size_t copy(const void* source,
                        std::size_t source_count,
                        const Datatype& source_type,
                        void* target,
                        std::size_t target_count,
                        const Datatype& target_type) {
  if (source_type.is_dense() && target_type.is_dense()) [[likely]] {
    const std::size_t bytes =
        std::min(source_count * source_type.size(), target_count * target_type.size());
    copy_bytes(target, source, bytes);
    return bytes;
  }
  return copy_sparse(source, source_count, source_type, target, target_count, target_type);
}

}  // namespace sorrel::mpi
