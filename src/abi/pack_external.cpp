// Packing in the external32 representation. MPI 5.0, 5.3.
#include <cstring>
#include <memory>

#include "abi/body.hpp"
#include "abi/check.hpp"
#include "mpi/datatype/copy.hpp"
#include "mpi/datatype/external32.hpp"

namespace sorrel::abi {

namespace {

using mpi::Datatype;

int check_representation(RankState& self, const char* datarep) {
  if (datarep == nullptr) return fail_null(self, "datarep");
  if (std::strcmp(datarep, "external32") == 0) return MPI_SUCCESS;
  return self.fail(MPI_ERR_UNSUPPORTED_DATAREP, "datarep is '%.32s'; it must be 'external32'",
                   datarep);
}

/// The external side of a call.
struct ExternalBuffer {
  const void* start;
  MPI_Count size;
  MPI_Count position;
};

/// Checks that `bytes` are, or fit, in the rest of the buffer.
int check_room(RankState& self, const ExternalBuffer& buffer, std::size_t bytes) {
  const auto position = static_cast<long long>(buffer.position);
  const auto size = static_cast<long long>(buffer.size);
  if (position < 0 || position > size)
    return self.fail(MPI_ERR_ARG, "position is %lld; it must be in 0..%lld, the packed buffer",
                     position, size);
  if (bytes > static_cast<std::size_t>(size - position))
    return self.fail(MPI_ERR_TRUNCATE,
                     "%zu bytes do not fit behind position %lld; the packed buffer has %lld bytes",
                     bytes, position, size);
  return bytes > 0 && buffer.start == nullptr ? fail_buffer(self, nullptr) : MPI_SUCCESS;
}

/// The user's data of a call.
struct ExternalData {
  std::size_t count = 0;
  Datatype* type = nullptr;
  /// In external32.
  std::size_t bytes = 0;
};

int check_data(RankState& self,
               const char* datarep,
               const UserBuffer& user,
               const ExternalBuffer& buffer,
               ExternalData* data) {
  int error = check_representation(self, datarep);
  if (error == MPI_SUCCESS) error = check_buffer(self, user, &data->type);
  if (error != MPI_SUCCESS) return error;
  data->count = static_cast<std::size_t>(user.count);
  data->bytes = data->count * external32_size(*data->type);
  return check_room(self, buffer, data->bytes);
}

/// The data of a call in the representation of this machine, packed.
std::unique_ptr<std::byte[]> memory_for(std::size_t count, const Datatype& type) {
  return std::make_unique_for_overwrite<std::byte[]>(count * type.size() + 1);
}

}  // namespace

namespace body {

int Pack_external(RankState& self,
                  const char* datarep,
                  const UserBuffer& user,
                  void* outbuf,
                  MPI_Count outsize,
                  mpi::IntegerPointer position) {
  const MPI_Count start = position.get();
  ExternalData data;
  int error = check_data(self, datarep, user, {outbuf, outsize, start}, &data);
  if (error != MPI_SUCCESS) return error;
  const auto& [count, type, bytes] = data;
  const auto packed = memory_for(count, *type);
  mpi::pack(user.buffer, count, *type, packed.get());
  error = to_external32(packed.get(), count, *type, static_cast<std::byte*>(outbuf) + start);
  if (error != MPI_SUCCESS)
    return self.fail(error, "a number does not fit into its size in external32");
  position.set(start + static_cast<MPI_Count>(bytes));
  return MPI_SUCCESS;
}

int Unpack_external(RankState& self,
                    const char datarep[],
                    const void* inbuf,
                    MPI_Count insize,
                    mpi::IntegerPointer position,
                    const UserBuffer& user) {
  const MPI_Count start = position.get();
  ExternalData data;
  const int error = check_data(self, datarep, user, {inbuf, insize, start}, &data);
  if (error != MPI_SUCCESS) return error;
  const auto& [count, type, bytes] = data;
  const auto packed = memory_for(count, *type);
  from_external32(static_cast<const std::byte*>(inbuf) + start, count, *type, packed.get());
  mpi::unpack(packed.get(), count * type->size(), user.buffer, count, *type);
  position.set(start + static_cast<MPI_Count>(bytes));
  return MPI_SUCCESS;
}

int Pack_external_size(RankState& self,
                       const char* datarep,
                       MPI_Count incount,
                       Datatype& datatype,
                       mpi::IntegerPointer size) {
  if (const int error = check_representation(self, datarep); error != MPI_SUCCESS) return error;
  if (incount < 0) return fail_count(self, incount);
  MPI_Count bytes = 0;
  const bool too_many =
      __builtin_mul_overflow(static_cast<MPI_Count>(external32_size(datatype)), incount, &bytes);
  size.set(too_many ? MPI_UNDEFINED : bytes);
  return MPI_SUCCESS;
}

}  // namespace body

}  // namespace sorrel::abi
