// Packing by hand. MPI 5.0, 5.2. The packed form is the data's bytes in order, without a header.
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
  int size;
  int* position;
};

/// Whether the data of `count` elements is, or fits, in the rest of the buffer.
int check_room(RankState& self,
               const PackedBuffer& buffer,
               std::size_t count,
               const Datatype& type) {
  if (buffer.position == nullptr) return self.fail(MPI_ERR_ARG, "the position is a null pointer");
  const int position = *buffer.position;
  if (position < 0 || position > buffer.size)
    return self.fail(MPI_ERR_ARG, "position %d is not in the packed buffer of %d bytes", position,
                     buffer.size);
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, type.size(), &bytes) ||
      bytes > static_cast<std::size_t>(buffer.size - position))
    return self.fail(
        MPI_ERR_TRUNCATE,
        "%zu elements of %zu bytes from position %d on; the packed buffer has %d bytes", count,
        type.size(), position, buffer.size);
  if (bytes > 0 && buffer.start == nullptr) return fail_buffer(self);
  return MPI_SUCCESS;
}

}  // namespace

extern "C" {

int PMPI_Pack(const void* inbuf,
              int incount,
              MPI_Datatype datatype,
              void* outbuf,
              int outsize,
              int* position,
              MPI_Comm comm) {
  return call_on(comm, "MPI_Pack", [&](RankState& self, Comm&) {
    Datatype* type = nullptr;
    int error = check_buffer(self, inbuf, incount, datatype, &type);
    if (error != MPI_SUCCESS) return error;
    const auto count = static_cast<std::size_t>(incount);
    error = check_room(self, {outbuf, outsize, position}, count, *type);
    if (error != MPI_SUCCESS) return error;
    *position += static_cast<int>(
        mpi::pack(inbuf, count, *type, static_cast<std::byte*>(outbuf) + *position));
    return MPI_SUCCESS;
  });
}

int PMPI_Unpack(const void* inbuf,
                int insize,
                int* position,
                void* outbuf,
                int outcount,
                MPI_Datatype datatype,
                MPI_Comm comm) {
  return call_on(comm, "MPI_Unpack", [&](RankState& self, Comm&) {
    Datatype* type = nullptr;
    int error = check_buffer(self, outbuf, outcount, datatype, &type);
    if (error != MPI_SUCCESS) return error;
    const auto count = static_cast<std::size_t>(outcount);
    error = check_room(self, {inbuf, insize, position}, count, *type);
    if (error != MPI_SUCCESS) return error;
    const void* in = static_cast<const std::byte*>(inbuf) + *position;
    *position += static_cast<int>(mpi::unpack(in, count * type->size(), outbuf, count, *type));
    return MPI_SUCCESS;
  });
}

int PMPI_Pack_size(int incount, MPI_Datatype datatype, MPI_Comm comm, int* size) {
  return call_on(comm, "MPI_Pack_size", [&](RankState& self, Comm&) {
    const Datatype* type = mpi::datatype_from_handle(datatype);
    if (type == nullptr) return fail_datatype(self, datatype);
    if (incount < 0) return fail_count(self, incount);
    std::size_t bytes = 0;
    const bool too_many =
        __builtin_mul_overflow(type->size(), static_cast<std::size_t>(incount), &bytes) ||
        bytes > std::size_t{std::numeric_limits<int>::max()};
    *size = too_many ? MPI_UNDEFINED : static_cast<int>(bytes);
    return MPI_SUCCESS;
  });
}

SORREL_WEAK(int,
            MPI_Pack,
            (const void* inbuf,
             int incount,
             MPI_Datatype datatype,
             void* outbuf,
             int outsize,
             int* position,
             MPI_Comm comm))
SORREL_WEAK(int,
            MPI_Unpack,
            (const void* inbuf,
             int insize,
             int* position,
             void* outbuf,
             int outcount,
             MPI_Datatype datatype,
             MPI_Comm comm))
SORREL_WEAK(int, MPI_Pack_size, (int incount, MPI_Datatype datatype, MPI_Comm comm, int* size))

}  // extern "C"

}  // namespace sorrel::abi
