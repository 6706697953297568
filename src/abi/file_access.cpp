// Reading and writing files. MPI 5.0, 14.4.
#include "abi/body.hpp"
#include "abi/collective_checks.hpp"
#include "abi/file_checks.hpp"
#include "mpi/base/status.hpp"
#include "mpi/io/change.hpp"
#include "mpi/io/collective_access.hpp"
#include "mpi/io/nonblocking.hpp"
#include "mpi/io/shared_pointer.hpp"

namespace sorrel::abi {

namespace {

using mpi::CollectiveKind;
using mpi::File;
using mpi::FileAccess;

enum class Direction : std::uint8_t { read, write };

/// Where an access begins.
enum class Pointer : std::uint8_t { explicit_offset, individual, shared };

/// The arguments of an access.
struct UserAccess {
  Direction direction;
  Pointer pointer;
  const UserBuffer& user;
  /// With Pointer::explicit_offset, in etypes.
  MPI_Offset offset = 0;
};

int check_mode(RankState& self, const File& file, const UserAccess& arguments) {
  if (arguments.direction == Direction::read && !file.may_read())
    return self.fail(MPI_ERR_ACCESS, "the file was opened for writing only");
  if (arguments.direction == Direction::write && !file.may_write())
    return self.fail(MPI_ERR_READ_ONLY, "the file was opened for reading only");
  if (arguments.pointer != Pointer::shared && (file.amode & MPI_MODE_SEQUENTIAL) != 0)
    return self.fail(MPI_ERR_UNSUPPORTED_OPERATION,
                     "a file opened with MPI_MODE_SEQUENTIAL has the shared file pointer only");
  return MPI_SUCCESS;
}

/// An access that has been checked.
struct CheckedAccess {
  FileAccess access{};
  /// What the pointers advance by.
  std::int64_t etypes = 0;
};

int check_access(RankState& self, File& file, const UserAccess& arguments, CheckedAccess* checked) {
  int error = check_mode(self, file, arguments);
  if (error == MPI_SUCCESS) error = check_typed(self, arguments.user, &checked->access.buffer);
  if (error != MPI_SUCCESS) return error;
  const mpi::TypedBuffer& buffer = checked->access.buffer;
  checked->access.is_write = arguments.direction == Direction::write;
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(buffer.count, buffer.type->size(), &bytes) ||
      bytes > static_cast<std::size_t>(std::numeric_limits<MPI_Offset>::max()))
    return self.fail(MPI_ERR_COUNT, "count and datatype describe more bytes than a file can have");
  if (error = find_file_bytes(file, buffer, &bytes); error != MPI_SUCCESS) return error;
  checked->etypes = static_cast<std::int64_t>(bytes / file.view.etype_bytes());
  return MPI_SUCCESS;
}

/// Sets the position of the access to that of `etypes`.
int place(RankState& self, const File& file, std::int64_t etypes, CheckedAccess* checked) {
  if (etypes < 0)
    return self.fail(MPI_ERR_ARG, "offset is %lld; it must not be negative",
                     static_cast<long long>(etypes));
  const std::size_t etype_bytes = file.view.etype_bytes();
  std::int64_t begin = 0;
  std::int64_t bytes = 0;
  std::int64_t end = 0;
  const bool is_too_far = __builtin_mul_overflow(etypes, etype_bytes, &begin) ||
                          __builtin_mul_overflow(checked->etypes, etype_bytes, &bytes) ||
                          __builtin_add_overflow(begin, bytes, &end) ||
                          !file.view.can_address(static_cast<std::uint64_t>(end));
  if (is_too_far)
    return self.fail(
        MPI_ERR_ARG,
        "offset is %lld; the access ends behind the longest file, or the view has no data",
        static_cast<long long>(etypes));
  if (!file.view.can_move(static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(end),
                          checked->access.is_write))
    return self.fail(
        MPI_ERR_IO,
        "the access spans several filetypes, and a filetype begins before the end of "
        "the one before it: offsets in a file must not decrease, nor overlap for writing");
  checked->access.position = static_cast<std::uint64_t>(begin);
  return MPI_SUCCESS;
}

/// Checks the access and finds its position; the shared pointer moves.
int begin_access(RankState& self, File& file, const UserAccess& arguments, CheckedAccess* checked) {
  if (const int error = check_access(self, file, arguments, checked); error != MPI_SUCCESS)
    return error;
  std::int64_t begin = arguments.offset;
  if (arguments.pointer == Pointer::individual) begin = file.position;
  if (arguments.pointer == Pointer::shared) {
    const int error = advance_shared_pointer(file, checked->etypes, &begin);
    if (error != MPI_SUCCESS) return error;
  }
  return place(self, file, begin, checked);
}

/// The individual pointer behind what has been moved, of which the program gets the count.
void end_access(File& file,
                const UserAccess& arguments,
                const CheckedAccess& checked,
                std::size_t moved,
                MPI_Status* status) {
  if (arguments.pointer == Pointer::individual) {
    const std::size_t bytes = checked.access.buffer.bytes();
    const auto etype_bytes = file.view.etype().size();
    file.position += moved == bytes
                         ? checked.etypes
                         : static_cast<std::int64_t>((moved + etype_bytes - 1) / etype_bytes);
  }
  if (status != MPI_STATUS_IGNORE)
    mpi::set_status(*status, MPI_ANY_SOURCE, MPI_ANY_TAG, moved, false);
}

int access_now(RankState& self, File& file, const UserAccess& arguments, MPI_Status* status) {
  CheckedAccess checked;
  std::size_t moved = 0;
  int error = begin_access(self, file, arguments, &checked);
  if (error == MPI_SUCCESS) error = access_alone(file, checked.access, &moved);
  if (error == MPI_SUCCESS) end_access(file, arguments, checked, moved, status);
  return error;
}

int access_later(RankState& self, File& file, const UserAccess& arguments, MPI_Request* request) {
  CheckedAccess checked;
  if (const int error = begin_access(self, file, arguments, &checked); error != MPI_SUCCESS)
    return error;
  if (arguments.pointer == Pointer::individual) file.position += checked.etypes;
  return start_alone(file, checked.access, request);
}

/// Where a member of an ordered access begins. Members whose arguments are wrong take part with
/// nothing, so that the others do not wait for them.
int begin_ordered(RankState& self,
                  File& file,
                  const UserAccess& arguments,
                  CollectiveKind kind,
                  CheckedAccess* checked) {
  int error = check_access(self, file, arguments, checked);
  const mpi::ErrorDetail detail = self.detail();
  std::int64_t begin = 0;
  const int failed = divide_shared_range(begin_collective(file, kind), file,
                                         error == MPI_SUCCESS ? checked->etypes : 0, &begin);
  if (error != MPI_SUCCESS) {
    self.detail() = detail;
    return error;
  }
  return failed != MPI_SUCCESS ? failed : place(self, file, begin, checked);
}

int access_all(RankState& self,
               File& file,
               const UserAccess& arguments,
               CollectiveKind kind,
               MPI_Status* status) {
  if (const int error = check_no_split(self, file); error != MPI_SUCCESS) return error;
  CheckedAccess checked;
  std::size_t moved = 0;
  int error = arguments.pointer == Pointer::shared
                  ? begin_ordered(self, file, arguments, kind, &checked)
                  : begin_access(self, file, arguments, &checked);
  if (error != MPI_SUCCESS) {
    // The other members access the file together with this one.
    const mpi::ErrorDetail detail = self.detail();
    checked.access.buffer = {
        .buffer = nullptr, .count = 0, .type = mpi::datatype_from_handle(MPI_BYTE)};
    checked.access.is_write = arguments.direction == Direction::write;
    (void)access_together(begin_collective(file, kind), file, checked.access, &moved);
    self.detail() = detail;
    return error;
  }
  error = access_together(begin_collective(file, kind), file, checked.access, &moved);
  if (error == MPI_SUCCESS) end_access(file, arguments, checked, moved, status);
  return error;
}

int access_all_later(RankState& self,
                     File& file,
                     const UserAccess& arguments,
                     CollectiveKind kind,
                     MPI_Request* request) {
  int error = check_no_split(self, file);
  CheckedAccess checked;
  if (error == MPI_SUCCESS) error = begin_access(self, file, arguments, &checked);
  if (error != MPI_SUCCESS) return error;
  if (arguments.pointer == Pointer::individual) file.position += checked.etypes;
  return start_together(file, kind, checked.access, request);
}

int begin_split(RankState& self,
                File& file,
                const UserAccess& arguments,
                CollectiveKind kind,
                std::string_view name) {
  MPI_Status status;
  if (const int error = access_all(self, file, arguments, kind, &status); error != MPI_SUCCESS)
    return error;
  file.split = {.begun = name, .moved_bytes = mpi::status_bytes(status)};
  return MPI_SUCCESS;
}

int end_split(RankState& self, File& file, std::string_view name, MPI_Status* status) {
  if (file.split.begun != name) {
    if (file.split.begun.empty())
      return self.fail(MPI_ERR_OTHER, "no split collective access of the file has begun");
    return self.fail(MPI_ERR_OTHER,
                     "the split collective access of the file has begun with %s_begin",
                     file.split.begun.data());
  }
  file.split.begun = {};
  if (status != MPI_STATUS_IGNORE)
    mpi::set_status(*status, MPI_ANY_SOURCE, MPI_ANY_TAG, file.split.moved_bytes, false);
  return MPI_SUCCESS;
}

UserAccess at(Direction direction, const UserBuffer& user, MPI_Offset offset) {
  return {direction, Pointer::explicit_offset, user, offset};
}

UserAccess by(Pointer pointer, Direction direction, const UserBuffer& user) {
  return {direction, pointer, user};
}

}  // namespace

namespace body {

// Each function in the directions read and write.
#define SORREL_FILE_ACCESS(verb)                                                                   \
  int File_##verb##_at(RankState& self, File& file, MPI_Offset offset, const UserBuffer& user,     \
                       MPI_Status* status) {                                                       \
    return access_now(self, file, at(Direction::verb, user, offset), status);                      \
  }                                                                                                \
  int File_##verb(RankState& self, File& file, const UserBuffer& user, MPI_Status* status) {       \
    return access_now(self, file, by(Pointer::individual, Direction::verb, user), status);         \
  }                                                                                                \
  int File_##verb##_shared(RankState& self, File& file, const UserBuffer& user,                    \
                           MPI_Status* status) {                                                   \
    return access_now(self, file, by(Pointer::shared, Direction::verb, user), status);             \
  }                                                                                                \
  int File_i##verb##_at(RankState& self, File& file, MPI_Offset offset, const UserBuffer& user,    \
                        MPI_Request* request) {                                                    \
    return access_later(self, file, at(Direction::verb, user, offset), request);                   \
  }                                                                                                \
  int File_i##verb(RankState& self, File& file, const UserBuffer& user, MPI_Request* request) {    \
    return access_later(self, file, by(Pointer::individual, Direction::verb, user), request);      \
  }                                                                                                \
  int File_i##verb##_shared(RankState& self, File& file, const UserBuffer& user,                   \
                            MPI_Request* request) {                                                \
    return access_later(self, file, by(Pointer::shared, Direction::verb, user), request);          \
  }                                                                                                \
  int File_##verb##_at_all(RankState& self, File& file, MPI_Offset offset, const UserBuffer& user, \
                           MPI_Status* status) {                                                   \
    return access_all(self, file, at(Direction::verb, user, offset),                               \
                      CollectiveKind::file_##verb##_all, status);                                  \
  }                                                                                                \
  int File_##verb##_all(RankState& self, File& file, const UserBuffer& user, MPI_Status* status) { \
    return access_all(self, file, by(Pointer::individual, Direction::verb, user),                  \
                      CollectiveKind::file_##verb##_all, status);                                  \
  }                                                                                                \
  int File_##verb##_ordered(RankState& self, File& file, const UserBuffer& user,                   \
                            MPI_Status* status) {                                                  \
    return access_all(self, file, by(Pointer::shared, Direction::verb, user),                      \
                      CollectiveKind::file_##verb##_ordered, status);                              \
  }                                                                                                \
  int File_i##verb##_at_all(RankState& self, File& file, MPI_Offset offset,                        \
                            const UserBuffer& user, MPI_Request* request) {                        \
    return access_all_later(self, file, at(Direction::verb, user, offset),                         \
                            CollectiveKind::file_##verb##_all, request);                           \
  }                                                                                                \
  int File_i##verb##_all(RankState& self, File& file, const UserBuffer& user,                      \
                         MPI_Request* request) {                                                   \
    return access_all_later(self, file, by(Pointer::individual, Direction::verb, user),            \
                            CollectiveKind::file_##verb##_all, request);                           \
  }                                                                                                \
  int File_##verb##_at_all_begin(RankState& self, File& file, MPI_Offset offset,                   \
                                 const UserBuffer& user) {                                         \
    return begin_split(self, file, at(Direction::verb, user, offset),                              \
                       CollectiveKind::file_##verb##_all, "MPI_File_" #verb "_at_all");            \
  }                                                                                                \
  int File_##verb##_all_begin(RankState& self, File& file, const UserBuffer& user) {               \
    return begin_split(self, file, by(Pointer::individual, Direction::verb, user),                 \
                       CollectiveKind::file_##verb##_all, "MPI_File_" #verb "_all");               \
  }                                                                                                \
  int File_##verb##_ordered_begin(RankState& self, File& file, const UserBuffer& user) {           \
    return begin_split(self, file, by(Pointer::shared, Direction::verb, user),                     \
                       CollectiveKind::file_##verb##_ordered, "MPI_File_" #verb "_ordered");       \
  }
SORREL_FILE_ACCESS(read)
SORREL_FILE_ACCESS(write)
#undef SORREL_FILE_ACCESS

#define SORREL_SPLIT_END(kind, Buffer)                                                     \
  int File_##kind##_end(RankState& self, File& file, Buffer /*buf*/, MPI_Status* status) { \
    return end_split(self, file, "MPI_File_" #kind, status);                               \
  }
SORREL_SPLIT_END(read_at_all, void*)
SORREL_SPLIT_END(read_all, void*)
SORREL_SPLIT_END(read_ordered, void*)
SORREL_SPLIT_END(write_at_all, const void*)
SORREL_SPLIT_END(write_all, const void*)
SORREL_SPLIT_END(write_ordered, const void*)
#undef SORREL_SPLIT_END

}  // namespace body

}  // namespace sorrel::abi
