#include "mpi/io/open.hpp"

#include <bit>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "mpi/collectives/agreement.hpp"
#include "mpi/collectives/slots.hpp"
#include "mpi/comm/process_map.hpp"
#include "mpi/io/access.hpp"
#include "mpi/io/disk_error.hpp"
#include "mpi/io/shared_pointer.hpp"
#include "mpi/rma/create.hpp"
#include "mpi/rma/passive.hpp"

namespace sorrel::mpi {

namespace {

/// What a member publishes for the leader of its process, which sets the pointer.
struct OpenRequest {
  FileShared* shared = nullptr;
};

void name_comm(Comm& comm, const char* path) {
  comm.name = std::make_unique<std::string>("file " + std::string(path).substr(0, 60));
}

int open_disk(FileShared& shared, int amode, bool may_create) {
  const bool is_writable = (amode & (MPI_MODE_WRONLY | MPI_MODE_RDWR)) != 0;
  return shared.disk.open(shared.path.c_str(),
                          {.reads = (amode & MPI_MODE_WRONLY) == 0,
                           .writes = is_writable,
                           .creates = may_create && (amode & MPI_MODE_CREATE) != 0,
                           .is_exclusive = (amode & MPI_MODE_EXCL) != 0});
}

/// Sets the pointers of a file that was opened for appending.
int seek_end(File& file, std::int64_t* end) {
  if ((file.amode & MPI_MODE_APPEND) == 0) return 0;
  return file.shared->disk.get_size(end);
}

/// The leader's work, and the agreement of all: *number is the errno of the first process that
/// failed. On success `own.shared` is set on every member.
int open_shared(const Member& member,
                const OpenArguments& arguments,
                OpenRequest& own,
                int* number) {
  const Comm& comm = member.comm;
  const std::vector<std::int32_t> here = members_here(comm);
  const bool is_leader = comm.rank == here.front();
  if (is_leader)
    own.shared = new FileShared(arguments.path, static_cast<std::int32_t>(here.size()));
  const bool is_first = comm.rank == 0;
  int own_number = is_first ? open_disk(*own.shared, arguments.amode, true) : 0;
  int error = find_worst(member, own_number, number);
  if (error == MPI_SUCCESS && *number == 0 && comm.shared->processes() != nullptr) {
    if (is_leader && !is_first) own_number = open_disk(*own.shared, arguments.amode, false);
    error = find_worst(member, own_number, number);
  }
  const bool is_open = error == MPI_SUCCESS && *number == 0;
  for (const std::int32_t rank : here) {
    if (!is_leader) break;
    if (!is_open) {
      own.shared->release();
    } else if (rank != comm.rank) {
      const_cast<OpenRequest&>(comm.shared->slots().published_by<OpenRequest>(rank)).shared =
          own.shared;
    }
  }
  return error;
}

/// The shared pointer of members in several processes. Takes over `comm`.
int create_pointer(File& file, Comm& comm) {
  const WindowArguments arguments{
      .flavor = MPI_WIN_FLAVOR_ALLOCATE, .bytes = 8, .displacement_unit = 8};
  if (const int error = create_window(*file.owner, comm, arguments, &file.pointer_window);
      error != MPI_SUCCESS)
    return error;
  std::memset(file.pointer_window->base, 0, 8);
  if (const int error = agree({*file.owner, *file.comm}, MPI_SUCCESS); error != MPI_SUCCESS)
    return error;
  return lock_all(*file.pointer_window, true);
}

int free_pointer(File& file) {
  if (file.pointer_window == nullptr) return MPI_SUCCESS;
  const int error = unlock_all(*file.pointer_window);
  const int freed = free_window(*file.pointer_window);
  file.pointer_window = nullptr;
  return error != MPI_SUCCESS ? error : freed;
}

void describe_file(File& file, const Info& given) {
  file.info = given;
  file.hints = FileHints::from(given);
}

}  // namespace

int check_amode(RankState& self, int amode) {
  constexpr int access_bits = MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_RDWR;
  constexpr int known_bits = access_bits | MPI_MODE_CREATE | MPI_MODE_EXCL |
                             MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_UNIQUE_OPEN | MPI_MODE_SEQUENTIAL |
                             MPI_MODE_APPEND;
  if ((amode & ~known_bits) != 0)
    return self.fail(MPI_ERR_AMODE, "amode has bits that are not MPI_MODE_*: 0x%x",
                     static_cast<unsigned>(amode & ~known_bits));
  if (std::popcount(static_cast<unsigned>(amode & access_bits)) != 1)
    return self.fail(MPI_ERR_AMODE,
                     "amode must have one of MPI_MODE_RDONLY, MPI_MODE_WRONLY and MPI_MODE_RDWR");
  if ((amode & MPI_MODE_RDONLY) != 0 && (amode & (MPI_MODE_CREATE | MPI_MODE_EXCL)) != 0)
    return self.fail(MPI_ERR_AMODE,
                     "amode has MPI_MODE_CREATE or MPI_MODE_EXCL together with MPI_MODE_RDONLY");
  if ((amode & MPI_MODE_RDWR) != 0 && (amode & MPI_MODE_SEQUENTIAL) != 0)
    return self.fail(MPI_ERR_AMODE, "amode has MPI_MODE_SEQUENTIAL together with MPI_MODE_RDWR");
  return MPI_SUCCESS;
}

const char* path_of(const char* filename) {
  constexpr std::string_view prefixes[] = {"ufs:", "nfs:", "xfs:", "lustre:", "gpfs:", "testfs:"};
  for (const std::string_view prefix : prefixes) {
    if (std::string_view(filename).starts_with(prefix)) return filename + prefix.size();
  }
  return filename;
}

int open_file(RankState& self,
              Comm& own_comm,
              Comm* pointer_comm,
              const OpenArguments& arguments,
              File** result) {
  const Member member{self, own_comm};
  const auto give_up = [&](int error) {
    release(own_comm);
    if (pointer_comm != nullptr) release(*pointer_comm);
    return error;
  };
  name_comm(own_comm, arguments.path);
  own_comm.call = CollectiveCall({.kind = CollectiveKind::file_open});
  OpenRequest request;
  if (own_comm.size() > 1) own_comm.shared->slots().publish(own_comm, &request);
  bool is_same = true;
  if (const int error = compare_values(member, arguments.amode, &is_same); error != MPI_SUCCESS)
    return give_up(error);
  if (!is_same)
    return give_up(self.fail(MPI_ERR_NOT_SAME, "amode differs between the ranks of comm"));
  int number = 0;
  int error = open_shared(member, arguments, request, &number);
  // The leader has set the pointers of the other members.
  if (error == MPI_SUCCESS) error = local_barrier(member);
  if (error != MPI_SUCCESS) return give_up(error);
  if (number != 0) return give_up(fail_disk(self, "opening", arguments.path, number));
  auto* file = new File(self, own_comm, *request.shared, arguments.amode);
  describe_file(*file, arguments.info);
  if (pointer_comm != nullptr) {
    name_comm(*pointer_comm, arguments.path);
    error = create_pointer(*file, *pointer_comm);
  }
  number = seek_end(*file, &file->position);
  if (error == MPI_SUCCESS && own_comm.rank == 0 && file->position != 0)
    error = set_shared_pointer(*file, file->position);
  error = agree(member, error != MPI_SUCCESS || number == 0 ? error : error_class_of(number));
  if (error != MPI_SUCCESS) {
    delete file;
    return error;
  }
  *result = file;
  return MPI_SUCCESS;
}

int close_file(File& file) {
  RankState& self = *file.owner;
  const Member member = begin_collective(file, CollectiveKind::file_close);
  // No member uses the file any more.
  int error = agree(member, MPI_SUCCESS);
  if (error != MPI_SUCCESS) return error;
  error = free_pointer(file);
  const char* path = file.shared->path.c_str();
  const bool is_leader = file.comm->rank == first_member_here(file.comm->shared->processes());
  int number = is_leader ? file.shared->disk.close() : 0;
  int worst = 0;
  int mismatch = find_worst(member, number, &worst);
  if (mismatch == MPI_SUCCESS && (file.amode & MPI_MODE_DELETE_ON_CLOSE) != 0) {
    number = file.comm->rank == 0 ? os::delete_file(path) : worst;
    mismatch = find_worst(member, number, &worst);
  }
  if (error != MPI_SUCCESS) return error;
  if (mismatch != MPI_SUCCESS) return mismatch;
  return worst == 0 ? MPI_SUCCESS : fail_disk(self, "closing", path, worst);
}

}  // namespace sorrel::mpi
