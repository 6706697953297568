// Files: opening, closing, properties. MPI 5.0, 14.2, 14.5.3, 14.6.
#include "mpi/io/file.hpp"

#include <cstring>

#include "abi/body.hpp"
#include "abi/check.hpp"
#include "abi/file_checks.hpp"
#include "abi/known_hints.hpp"
#include "mpi/comm/memory_kinds.hpp"
#include "mpi/io/change.hpp"
#include "mpi/io/disk_error.hpp"
#include "mpi/io/open.hpp"
#include "mpi/io/rank_files.hpp"
#include "mpi/job/comm_create.hpp"
#include "mpi/match/environment_info.hpp"

namespace sorrel::abi {

namespace {

using mpi::DatarepFunctions;
using mpi::File;
using mpi::Info;

int check_size(RankState& self, MPI_Offset size) {
  return size >= 0 ? MPI_SUCCESS
                   : self.fail(MPI_ERR_ARG, "size is %lld; it must not be negative",
                               static_cast<long long>(size));
}

int check_writable(RankState& self, const File& file) {
  return file.may_write() ? MPI_SUCCESS
                          : self.fail(MPI_ERR_READ_ONLY, "the file was opened for reading only");
}

/// The file has no access in progress.
int check_idle(RankState& self, const File& file) {
  if (const int error = check_no_split(self, file); error != MPI_SUCCESS) return error;
  if (file.outstanding_count != 0)
    return self.fail(MPI_ERR_OTHER, "%d nonblocking accesses of the file have not ended",
                     file.outstanding_count);
  return MPI_SUCCESS;
}

int open(RankState& self,
         MPI_Comm handle,
         const char* filename,
         int amode,
         MPI_Info info,
         MPI_File* fh) {
  Comm* comm = self.comm_of(handle);
  if (comm == nullptr) return self.fail(MPI_ERR_COMM, "invalid communicator handle");
  if (comm->inter != nullptr) return fail_inter(self, nullptr);
  SORREL_NOT_NULL(filename);
  SORREL_NOT_NULL(fh);
  Info hints;
  int error = mpi::check_amode(self, amode);
  if (error == MPI_SUCCESS) error = take_hints(self, info, &hints);
  if (error != MPI_SUCCESS) return error;
  Comm* own_comm = nullptr;
  Comm* pointer_comm = nullptr;
  error = comm_duplicate(self, *comm, &own_comm);
  if (error == MPI_SUCCESS && own_comm->shared->processes() != nullptr)
    error = comm_duplicate(self, *comm, &pointer_comm);
  if (error != MPI_SUCCESS) return error;
  File* made = nullptr;
  error = open_file(self, *own_comm, pointer_comm, {mpi::path_of(filename), amode, hints}, &made);
  if (error == MPI_SUCCESS) *fh = handle_of(*made);
  return error;
}

int add_representation(RankState& self, const char* datarep, const DatarepFunctions& functions) {
  SORREL_NOT_NULL(datarep);
  if (functions.extent == nullptr)
    return self.fail(MPI_ERR_ARG, "dtype_file_extent_fn is a null pointer");
  const std::size_t length = ::strnlen(datarep, MPI_MAX_DATAREP_STRING);
  if (length == 0 || length == MPI_MAX_DATAREP_STRING)
    return self.fail(MPI_ERR_ARG, "datarep has %zu characters; it must have 1 to %d", length,
                     MPI_MAX_DATAREP_STRING - 1);
  return mpi::RankFiles::of(self).representations.add({datarep, length}, functions, self.detail());
}

/// The handle of a type for the program, which frees it.
MPI_Datatype shared_handle(mpi::Datatype& type) {
  type.retain();
  return mpi::handle_of(type);
}

}  // namespace

namespace body {

int File_preallocate(RankState& self, File& file, MPI_Offset size) {
  int error = check_size(self, size);
  if (error == MPI_SUCCESS) error = check_writable(self, file);
  return error != MPI_SUCCESS ? error : mpi::preallocate_file(file, size);
}

int File_set_size(RankState& self, File& file, MPI_Offset size) {
  int error = check_size(self, size);
  if (error == MPI_SUCCESS) error = check_writable(self, file);
  if (error == MPI_SUCCESS) error = check_idle(self, file);
  return error != MPI_SUCCESS ? error : mpi::set_file_size(file, size);
}

int File_get_size(RankState& /*self*/, File& file, MPI_Offset* size) {
  return mpi::find_file_size(file, size);
}

int File_get_group(RankState& /*self*/, File& file, MPI_Group* group) {
  *group = mpi::make_group_handle(
      {.group = file.comm->shared->group(), .session_sends = file.comm->session_sends});
  return MPI_SUCCESS;
}

int File_get_amode(RankState& /*self*/, File& file, int* amode) {
  *amode = file.amode;
  return MPI_SUCCESS;
}

int File_set_info(RankState& self, File& file, MPI_Info info) {
  if (const int error = take_hints(self, info, &file.info); error != MPI_SUCCESS) return error;
  file.hints = mpi::FileHints::from(file.info);
  return MPI_SUCCESS;
}

int File_get_info(RankState& self, File& file, MPI_Info* info_used) {
  constexpr std::string_view asserted[] = {mpi::asserted_memory_kinds_key};
  auto info = std::make_unique<Info>();
  file.hints.describe(*info, self.detail());
  int error = copy_known_hints(self, file.info, asserted, info.get());
  if (error == MPI_SUCCESS) error = describe_memory_kinds(self, *info);
  *info_used = mpi::make_info_handle(std::move(info));
  return error;
}

int File_set_atomicity(RankState& self, File& file, int flag) {
  const int error = check_idle(self, file);
  return error != MPI_SUCCESS ? error : mpi::set_file_atomicity(file, flag != 0);
}

int File_get_atomicity(RankState& /*self*/, File& file, int* flag) {
  *flag = file.is_atomic ? 1 : 0;
  return MPI_SUCCESS;
}

int File_sync(RankState& self, File& file) {
  const int error = check_idle(self, file);
  return error != MPI_SUCCESS ? error : mpi::sync_file(file);
}

int File_set_view(RankState& self,
                  File& file,
                  MPI_Offset disp,
                  mpi::Datatype& etype,
                  mpi::Datatype& filetype,
                  const char* datarep,
                  MPI_Info info) {
  SORREL_NOT_NULL(datarep);
  if (!etype.is_committed() || !filetype.is_committed()) return fail_uncommitted(self);
  const mpi::Representation* representation =
      mpi::RankFiles::of(self).representations.find(datarep);
  if (representation == nullptr)
    return self.fail(MPI_ERR_UNSUPPORTED_DATAREP, "datarep is '%.64s', which is not registered",
                     datarep);
  if (const int error = check_no_split(self, file); error != MPI_SUCCESS) return error;
  const bool is_sequential = (file.amode & MPI_MODE_SEQUENTIAL) != 0;
  if (is_sequential != (disp == MPI_DISPLACEMENT_CURRENT))
    return self.fail(MPI_ERR_ARG,
                     "disp must be MPI_DISPLACEMENT_CURRENT for a file opened with "
                     "MPI_MODE_SEQUENTIAL, and for no other");
  if (is_sequential) {
    if (const int error = find_shared_offset(file, &disp); error != MPI_SUCCESS) return error;
  }
  if (disp < 0)
    return self.fail(MPI_ERR_ARG, "disp is %lld; it must not be negative",
                     static_cast<long long>(disp));
  if (const int error = File_set_info(self, file, info); error != MPI_SUCCESS) return error;
  return mpi::set_file_view(file, {.displacement = disp,
                                   .etype = etype,
                                   .filetype = filetype,
                                   .representation = *representation,
                                   .is_for_writing = file.may_write()});
}

int File_get_view(RankState& /*self*/,
                  File& file,
                  MPI_Offset* disp,
                  MPI_Datatype* etype,
                  MPI_Datatype* filetype,
                  char* datarep) {
  *disp = file.view.displacement();
  *etype = shared_handle(file.view.etype());
  *filetype = shared_handle(file.view.filetype());
  const std::string_view name = file.view.representation().name();
  std::memcpy(datarep, name.data(), name.size() + 1);
  return MPI_SUCCESS;
}

int File_get_type_extent(RankState& self,
                         File& file,
                         mpi::Datatype& datatype,
                         mpi::IntegerPointer extent) {
  MPI_Aint bytes = 0;
  const int error = file.view.representation().extent_of(datatype, &bytes, self.detail());
  if (error == MPI_SUCCESS) extent.set(bytes);
  return error;
}

int Register_datarep(RankState& self,
                     const char* datarep,
                     MPI_Datarep_conversion_function* read_conversion_fn,
                     MPI_Datarep_conversion_function* write_conversion_fn,
                     MPI_Datarep_extent_function* dtype_file_extent_fn,
                     void* extra_state) {
  return add_representation(self, datarep,
                            {.read = read_conversion_fn,
                             .write = write_conversion_fn,
                             .extent = dtype_file_extent_fn,
                             .extra_state = extra_state});
}

int Register_datarep_c(RankState& self,
                       const char* datarep,
                       MPI_Datarep_conversion_function_c* read_conversion_fn,
                       MPI_Datarep_conversion_function_c* write_conversion_fn,
                       MPI_Datarep_extent_function* dtype_file_extent_fn,
                       void* extra_state) {
  return add_representation(self, datarep,
                            {.large_read = read_conversion_fn,
                             .large_write = write_conversion_fn,
                             .extent = dtype_file_extent_fn,
                             .extra_state = extra_state});
}

}  // namespace body

extern "C" {

int PMPI_File_open(MPI_Comm comm, const char* filename, int amode, MPI_Info info, MPI_File* fh) {
  RankState* running = mpi::current_rank();
  SORREL_CALL_ON_THREAD(running, File_open, comm, filename, amode, info, fh);
  return call_without_file(running, "MPI_File_open", [&](RankState& self) {
    return open(self, comm, filename, amode, info, fh);
  });
}
SORREL_WEAK(MPI_File_open)

int PMPI_File_close(MPI_File* fh) {
  RankState* running = mpi::current_rank();
  SORREL_CALL_ON_THREAD(running, File_close, fh);
  if (fh == nullptr)
    return call_without_file(running, "MPI_File_close",
                             [&](RankState& self) { return fail_null(self, "fh"); });
  int result = MPI_SUCCESS;
  const int error = call_on_file(running, *fh, "MPI_File_close", [&](RankState& self, File& file) {
    if (const int busy = check_idle(self, file); busy != MPI_SUCCESS) return busy;
    const int failed = mpi::close_file(file);
    // The handler gets the file as long as it exists.
    if (failed != MPI_SUCCESS) result = raise(self, file, failed);
    delete &file;
    *fh = MPI_FILE_NULL;
    return MPI_SUCCESS;
  });
  return error != MPI_SUCCESS ? error : result;
}
SORREL_WEAK(MPI_File_close)

int PMPI_File_delete(const char* filename, MPI_Info info) {
  RankState* running = mpi::current_rank();
  SORREL_CALL_ON_THREAD(running, File_delete, filename, info);
  return call_without_file(running, "MPI_File_delete", [&](RankState& self) {
    SORREL_NOT_NULL(filename);
    if (const int error = check_info(self, info); error != MPI_SUCCESS) return error;
    const char* path = mpi::path_of(filename);
    const int number = os::delete_file(path);
    return number == 0 ? MPI_SUCCESS : mpi::fail_disk(self, "deleting", path, number);
  });
}
SORREL_WEAK(MPI_File_delete)

}  // extern "C"

}  // namespace sorrel::abi
