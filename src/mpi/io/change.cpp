#include "mpi/io/change.hpp"

#include "base/hash.hpp"
#include "mpi/collectives/agreement.hpp"
#include "mpi/comm/process_map.hpp"
#include "mpi/io/access.hpp"
#include "mpi/io/disk_error.hpp"
#include "mpi/io/pauses.hpp"
#include "mpi/io/shared_pointer.hpp"

namespace sorrel::mpi {

namespace {

Member begin_change(File& file) {
  return begin_collective(file, CollectiveKind::file_set);
}

/// MPI_ERR_NOT_SAME unless all members pass the same value.
int check_same(const Member& member, std::int64_t value, const char* argument) {
  bool is_same = true;
  if (const int error = compare_values(member, value, &is_same); error != MPI_SUCCESS) return error;
  return is_same ? MPI_SUCCESS
                 : member.self.fail(MPI_ERR_NOT_SAME, "%s differs between the ranks of the file",
                                    argument);
}

/// After the members' errno: the same error on all.
int conclude(const Member& member, const File& file, const char* action, int number) {
  int worst = 0;
  if (const int error = find_worst(member, number, &worst); error != MPI_SUCCESS) return error;
  return worst == 0 ? MPI_SUCCESS
                    : fail_disk(member.self, action, file.shared->path.c_str(), worst);
}

/// Waits for the nonblocking accesses of this rank. Programs change the view while accesses
/// by the previous one are in progress, although the standard does not allow it.
void wait_for_accesses(const File& file) {
  sleep_until(*file.owner, {.first_ns = 1'000, .last_ns = 200'000, .growth_divisor = 1},
              [&] { return file.outstanding_count == 0; });
}

struct Allocation {
  const os::DiskFile& disk;
  std::int64_t bytes;
};

}  // namespace

int set_file_size(File& file, std::int64_t bytes) {
  const Member member = begin_change(file);
  // Also: all accesses before this call have ended.
  if (const int error = check_same(member, bytes, "size"); error != MPI_SUCCESS) return error;
  const int number = member.comm.rank == 0 ? file.shared->disk.set_size(bytes) : 0;
  return conclude(member, file, "setting the size of", number);
}

int preallocate_file(File& file, std::int64_t bytes) {
  const Member member = begin_change(file);
  if (const int error = check_same(member, bytes, "size"); error != MPI_SUCCESS) return error;
  int number = 0;
  if (member.comm.rank == 0) {
    Allocation allocation{file.shared->disk, bytes};
    number = call_beside(
        member.self,
        [](void* argument) {
          const auto& wanted = *static_cast<Allocation*>(argument);
          return wanted.disk.allocate(wanted.bytes);
        },
        &allocation);
  }
  return conclude(member, file, "preallocating", number);
}

int set_file_view(File& file, const FileView::Arguments& arguments) {
  // All members have started the same collective ones, so these end.
  wait_for_accesses(file);
  const Member member = begin_change(file);
  RankState& self = member.self;
  // Equal names and equal etypes agree in this number.
  const std::int64_t common = static_cast<std::int64_t>(hash_of(arguments.representation.name())) +
                              static_cast<std::int64_t>(arguments.etype.size());
  if (const int error = check_same(member, common, "etype or datarep"); error != MPI_SUCCESS)
    return error;
  int error = file.view.set(arguments, self.detail());
  if (error == MPI_SUCCESS) {
    file.position = 0;
    if (member.comm.rank == 0) error = set_shared_pointer(file, 0);
  }
  const ErrorDetail detail = self.detail();
  const int common_error = agree(member, error);
  if (common_error == MPI_SUCCESS) return error;
  if (error != MPI_SUCCESS) {
    // Other ranks of the worker have used the place of the text meanwhile.
    self.detail() = detail;
    return error;
  }
  return self.fail(common_error, "another rank of the file cannot set its view");
}

int set_file_atomicity(File& file, bool is_atomic) {
  const Member member = begin_change(file);
  if (const int error = check_same(member, is_atomic ? 1 : 0, "flag"); error != MPI_SUCCESS)
    return error;
  file.is_atomic = is_atomic;
  return MPI_SUCCESS;
}

int sync_file(File& file) {
  const Member member = begin_change(file);
  // All members have written what they have to write.
  if (const int error = agree(member, MPI_SUCCESS); error != MPI_SUCCESS) return error;
  int number = 0;
  if (member.comm.rank == first_member_here(member.comm.shared->processes())) {
    number = call_beside(
        member.self, [](void* disk) { return static_cast<const os::DiskFile*>(disk)->sync(); },
        &file.shared->disk);
  }
  return conclude(member, file, "synchronizing", number);
}

int seek_shared_pointer(File& file, std::int64_t etypes) {
  const Member member = begin_change(file);
  if (const int error = check_same(member, etypes, "offset or whence"); error != MPI_SUCCESS)
    return error;
  const int error = member.comm.rank == 0 ? set_shared_pointer(file, etypes) : MPI_SUCCESS;
  return agree(member, error);
}

int find_shared_offset(File& file, std::int64_t* offset) {
  std::int64_t etypes = 0;
  const int error = advance_shared_pointer(file, 0, &etypes);
  *offset = file.view.offset_of(static_cast<std::uint64_t>(etypes) * file.view.etype_bytes());
  return error;
}

int find_file_size(File& file, std::int64_t* bytes) {
  const int number = file.shared->disk.get_size(bytes);
  return number == 0
             ? MPI_SUCCESS
             : fail_disk(*file.owner, "asking for the size of", file.shared->path.c_str(), number);
}

int find_end(File& file, std::int64_t* etypes) {
  std::int64_t bytes = 0;
  if (const int error = find_file_size(file, &bytes); error != MPI_SUCCESS) return error;
  *etypes = file.etypes_in(file.view.position_below(bytes));
  return MPI_SUCCESS;
}

}  // namespace sorrel::mpi
