// Explicit packing. MPI 5.0, 5.2. The packed form is the data's bytes in order, without a header.
#include <limits>

#include "abi/call.hpp"
#include "abi/check.hpp"
#include "mpi/datatype/copy.hpp"

namespace sorrel::abi {

namespace {

using mpi::Datatype;

/// The packed side of a call: `size` bytes, of which those before `*position` are used.
struct PackedBuffer {
  const void* start;
  MPI_Count size;
  MPI_Count position;
};

/// Checks that the data of `count` elements is, or fits, in the rest of the buffer.
int check_room(RankState& self,
               const PackedBuffer& buffer,
               std::size_t count,
               const Datatype& type) {
  const auto position = static_cast<long long>(buffer.position);
  const auto size = static_cast<long long>(buffer.size);
  if (position < 0 || position > size)
    return self.fail(MPI_ERR_ARG, "position is %lld; it must be in 0..%lld, the packed buffer",
                     position, size);
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, type.size(), &bytes) ||
      bytes > static_cast<std::size_t>(size - position))
    return self.fail(MPI_ERR_TRUNCATE,
                     "%zu elements of %zu bytes do not fit behind position %lld; the packed buffer "
                     "has %lld bytes",
                     count, type.size(), position, size);
  if (bytes > 0 && buffer.start == nullptr) return fail_buffer(self, nullptr);
  return MPI_SUCCESS;
}

}  // namespace

#define SORREL_BINDINGS "abi/pack_bindings.inc"
#include "abi/both_counts.hpp"

extern "C" {}  // extern "C"

}  // namespace sorrel::abi
