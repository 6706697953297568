// Explicit packing. MPI 5.0, 5.2. The packed form is the data's bytes in order, without a header.
#include "abi/body.hpp"
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

namespace body {

int Pack(RankState& self,
         Comm& /*comm*/,
         const UserBuffer& user,
         void* outbuf,
         MPI_Count outsize,
         mpi::IntegerPointer position) {
  Datatype* type = nullptr;
  int error = check_buffer(self, user, &type);
  if (error != MPI_SUCCESS) return error;
  const auto count = static_cast<std::size_t>(user.count);
  const MPI_Count start = position.get();
  error = check_room(self, {outbuf, outsize, start}, count, *type);
  if (error != MPI_SUCCESS) return error;
  const std::size_t bytes =
      mpi::pack(user.buffer, count, *type, static_cast<std::byte*>(outbuf) + start);
  position.set(start + static_cast<MPI_Count>(bytes));
  return MPI_SUCCESS;
}

int Unpack(RankState& self,
           Comm& /*comm*/,
           const void* inbuf,
           MPI_Count insize,
           mpi::IntegerPointer position,
           const UserBuffer& user) {
  Datatype* type = nullptr;
  int error = check_buffer(self, user, &type);
  if (error != MPI_SUCCESS) return error;
  const auto count = static_cast<std::size_t>(user.count);
  const MPI_Count start = position.get();
  error = check_room(self, {inbuf, insize, start}, count, *type);
  if (error != MPI_SUCCESS) return error;
  const void* in = static_cast<const std::byte*>(inbuf) + start;
  const std::size_t bytes = mpi::unpack(in, count * type->size(), user.buffer, count, *type);
  position.set(start + static_cast<MPI_Count>(bytes));
  return MPI_SUCCESS;
}

int Pack_size(RankState& self,
              Comm& /*comm*/,
              MPI_Count incount,
              Datatype& datatype,
              mpi::IntegerPointer size) {
  if (incount < 0) return fail_count(self, incount);
  MPI_Count bytes = 0;
  const bool too_many =
      __builtin_mul_overflow(static_cast<MPI_Count>(datatype.size()), incount, &bytes);
  size.set(too_many ? MPI_UNDEFINED : bytes);
  return MPI_SUCCESS;
}

}  // namespace body

}  // namespace sorrel::abi
