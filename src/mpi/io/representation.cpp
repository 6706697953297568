#include "mpi/io/representation.hpp"

#include <algorithm>
#include <array>

#include "core/worker.hpp"
#include "mpi/datatype/copy.hpp"
#include "mpi/datatype/external32.hpp"

namespace sorrel::mpi {

namespace {

using Kind = Representation::Kind;

constexpr std::array<Representation, 3> predefined{Representation(Kind::native, "native"),
                                                   Representation(Kind::internal, "internal"),
                                                   Representation(Kind::external32, "external32")};

int fail_gaps(ErrorDetail& detail, std::string_view name, const char* argument) {
  return detail.fail(MPI_ERR_UNSUPPORTED_DATAREP,
                     "elements of %s have another size in representation '%.64s' than in memory; "
                     "then a type with gaps is not supported",
                     argument, name.data());
}

/// The data of a buffer without gaps.
std::unique_ptr<std::byte[]> memory_for(const TypedBuffer& buffer) {
  return std::make_unique_for_overwrite<std::byte[]>(buffer.bytes() + 1);
}

}  // namespace

const Representation& Representation::native() {
  return predefined[0];
}

int Representation::extent_of(Datatype& type, MPI_Aint* extent, ErrorDetail& detail) const {
  *extent = type.extent();
  if (is_plain()) return MPI_SUCCESS;
  if (kind_ == Kind::external32) {
    const std::size_t bytes = external32_size(type);
    if (bytes == type.size()) return MPI_SUCCESS;
    if (!type.is_dense()) return fail_gaps(detail, name_, "datatype");
    *extent = static_cast<MPI_Aint>(bytes);
    return MPI_SUCCESS;
  }
  const core::PinnedFiber pinned;
  const int error = functions_.extent(handle_of(type), extent, functions_.extra_state);
  if (error != MPI_SUCCESS)
    return detail.fail(error, "the extent function of representation '%.64s' returned %d",
                       name_.data(), error);
  if (*extent <= 0)
    return detail.fail(MPI_ERR_CONVERSION,
                       "the extent function of representation '%.64s' gave the extent %lld",
                       name_.data(), static_cast<long long>(*extent));
  return MPI_SUCCESS;
}

int Representation::sizes_of(Datatype& etype,
                             Datatype& filetype,
                             FileSizes* sizes,
                             ErrorDetail& detail) const {
  *sizes = {.etype_bytes = etype.size(), .filetype_bytes = filetype.size()};
  if (is_plain()) return MPI_SUCCESS;
  if (kind_ == Kind::external32) {
    *sizes = {.etype_bytes = external32_size(etype), .filetype_bytes = external32_size(filetype)};
    const bool is_larger =
        sizes->filetype_bytes != filetype.size() || sizes->etype_bytes != etype.size();
    return is_larger && filetype.size() != 0 && !filetype.is_dense()
               ? fail_gaps(detail, name_, "filetype")
               : MPI_SUCCESS;
  }
  if (!etype.is_single_element() || (filetype.size() != 0 && !filetype.is_dense()))
    return detail.fail(MPI_ERR_UNSUPPORTED_DATAREP,
                       "representation '%.64s' needs a predefined etype and a filetype without "
                       "gaps",
                       name_.data());
  MPI_Aint extent = 0;
  const int error = extent_of(etype, &extent, detail);
  sizes->etype_bytes = static_cast<std::size_t>(extent);
  sizes->filetype_bytes = filetype.size() / etype.size() * sizes->etype_bytes;
  return error;
}

int Representation::file_bytes_of(const TypedBuffer& buffer,
                                  const Datatype& etype,
                                  std::size_t etype_bytes,
                                  std::size_t* bytes,
                                  ErrorDetail& detail) const {
  if (kind_ == Kind::external32) {
    *bytes = buffer.count * external32_size(*buffer.type);
    return MPI_SUCCESS;
  }
  if (kind_ == Kind::user) {
    if (buffer.type->element() != etype.element() || buffer.bytes() % etype.size() != 0)
      return detail.fail(MPI_ERR_TYPE,
                         "datatype does not consist of etypes, as representation '%.64s' needs",
                         name_.data());
    *bytes = buffer.bytes() / etype.size() * etype_bytes;
    return MPI_SUCCESS;
  }
  *bytes = buffer.bytes();
  return MPI_SUCCESS;
}

int Representation::convert(bool to_file,
                            const std::byte* packed,
                            Datatype& etype,
                            const FileElements& elements,
                            std::byte* file) const {
  const core::PinnedFiber pinned;
  const auto [count, etype_bytes] = elements;
  void* memory = const_cast<std::byte*>(packed);
  void* extra_state = functions_.extra_state;
  MPI_Datatype handle = handle_of(etype);
  if (auto* function = to_file ? functions_.large_write : functions_.large_read) {
    return function(memory, handle, static_cast<MPI_Count>(count), file, 0, extra_state);
  }
  if (auto* function = to_file ? functions_.write : functions_.read) {
    // Its count is an int.
    constexpr std::size_t part_max = std::size_t{1} << 30;
    for (std::size_t done = 0; done < count; done += part_max) {
      const auto now = static_cast<int>(std::min(count - done, part_max));
      const int error = function(memory, handle, now, file + done * etype_bytes,
                                 static_cast<MPI_Offset>(done), extra_state);
      if (error != MPI_SUCCESS) return error;
    }
    return MPI_SUCCESS;
  }
  if (to_file) {
    copy_bytes(file, memory, count * etype.size());
  } else {
    copy_bytes(memory, file, count * etype.size());
  }
  return MPI_SUCCESS;
}

int Representation::to_file(const TypedBuffer& buffer,
                            Datatype& etype,
                            std::size_t etype_bytes,
                            std::byte* out) const {
  const auto packed = memory_for(buffer);
  pack(buffer.buffer, buffer.count, *buffer.type, packed.get());
  if (kind_ == Kind::external32)
    return to_external32(packed.get(), buffer.count, *buffer.type, out);
  return convert(true, packed.get(), etype, {buffer.bytes() / etype.size(), etype_bytes}, out);
}

int Representation::from_file(const std::byte* in,
                              std::size_t file_bytes,
                              const TypedBuffer& buffer,
                              Datatype& etype,
                              std::size_t etype_bytes,
                              std::size_t* memory_bytes) const {
  const auto packed = memory_for(buffer);
  if (kind_ == Kind::external32) {
    const std::size_t each = external32_size(*buffer.type);
    const bool has_same_size = each == buffer.type->size();
    const std::size_t whole = each == 0 ? 0 : file_bytes / each;
    from_external32(in, has_same_size ? buffer.count : whole, *buffer.type, packed.get());
    *memory_bytes = has_same_size ? file_bytes : whole * buffer.type->size();
  } else {
    const std::size_t count = file_bytes / etype_bytes;
    const int error =
        convert(false, packed.get(), etype, {count, etype_bytes}, const_cast<std::byte*>(in));
    if (error != MPI_SUCCESS) return error;
    *memory_bytes = count * etype.size();
  }
  unpack(packed.get(), *memory_bytes, buffer.buffer, buffer.count, *buffer.type);
  return MPI_SUCCESS;
}

const Representation* Representations::find(std::string_view name) const {
  for (const Representation& one : predefined) {
    if (one.name() == name) return &one;
  }
  for (const auto& one : added_) {
    if (one->name == name) return &one->representation;
  }
  return nullptr;
}

int Representations::add(std::string_view name,
                         const DatarepFunctions& functions,
                         ErrorDetail& detail) {
  if (find(name) != nullptr)
    return detail.fail(MPI_ERR_DUP_DATAREP, "representation '%.*s' is already registered",
                       static_cast<int>(std::min<std::size_t>(name.size(), 64)), name.data());
  added_.push_back(std::make_unique<const Added>(name, functions));
  return MPI_SUCCESS;
}

}  // namespace sorrel::mpi
