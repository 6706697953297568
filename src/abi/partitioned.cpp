// Partitioned communication. MPI 5.0, 4.
#include "abi/body.hpp"
#include "abi/check.hpp"
#include "mpi/match/wait.hpp"
#include "mpi/partitioned/partitioned_receive.hpp"
#include "mpi/partitioned/partitioned_send.hpp"

namespace sorrel::abi {

namespace {

using mpi::PartitionedArguments;
using mpi::PartitionedReceive;
using mpi::PartitionedSend;
using mpi::Request;

/// The arguments that both functions have, as the user passed them.
struct UserPartitions {
  UserBuffer partition;
  int partitions;
  int peer;
  const char* peer_name;
  int tag;
  MPI_Info info;
};

/// Checks all arguments; finds the type.
int check_partitions(RankState& self,
                     const Comm& comm,
                     const UserPartitions& user,
                     mpi::Datatype** type) {
  if (user.partitions < 0)
    return self.fail(MPI_ERR_ARG, "partitions is %d; it must not be negative", user.partitions);
  UserBuffer whole = user.partition;
  const MPI_Count partition_count = user.partitions;
  if (__builtin_mul_overflow(whole.count, partition_count, &whole.count))
    return self.fail(MPI_ERR_COUNT, "count is %lld; %d partitions of that size are too large",
                     static_cast<long long>(user.partition.count), user.partitions);
  if (user.partition.count < 0) return fail_count(self, user.partition.count);
  if (const int error = check_buffer(self, whole, type); error != MPI_SUCCESS) return error;
  if (!is_tag(user.tag)) return fail_tag(self, user.tag);
  if (const int error = check_info(self, user.info); error != MPI_SUCCESS) return error;
  return user.peer == MPI_PROC_NULL ? MPI_SUCCESS
                                    : check_rank(self, comm, user.peer_name, user.peer);
}

PartitionedArguments arguments_of(const UserPartitions& user, mpi::Datatype& type) {
  return {.buffer = user.partition.buffer,
          .partition_count = static_cast<std::size_t>(user.partitions),
          .count = static_cast<std::size_t>(user.partition.count),
          .type = type,
          .peer = user.peer,
          .tag = user.tag};
}

/// The request of a handle, or null. Adds its communicator; the request of all sends that are
/// complete at once has none.
Request* request_of(MPI_Request handle, FailedComm& failed) {
  auto* request = mpi::object_of<Request>(handle);
  if (request != nullptr && request->life != Request::Life::endless) failed.add(*request->comm);
  return request;
}

int check_partition(RankState& self, const char* what, int partition, std::size_t count) {
  if (partition >= 0 && static_cast<std::size_t>(partition) < count) return MPI_SUCCESS;
  return self.fail(MPI_ERR_ARG, "%s is %d; it must be in 0..%d", what, partition,
                   static_cast<int>(count) - 1);
}

/// The active partitioned send of a request.
int find_send(RankState& self, FailedComm& failed, MPI_Request handle, PartitionedSend** send) {
  const Request* request = request_of(handle, failed);
  *send = request == nullptr ? nullptr : PartitionedSend::of(*request);
  if (*send == nullptr) return self.fail(MPI_ERR_REQUEST, "request is not of MPI_Psend_init");
  if (!request->is_active)
    return self.fail(MPI_ERR_REQUEST, "request is not active; call MPI_Start first");
  return MPI_SUCCESS;
}

int check_unready(RankState& self, const PartitionedSend& send, const char* what, int partition) {
  const int error = check_partition(self, what, partition, send.partition_count());
  if (error != MPI_SUCCESS) return error;
  if (!send.is_ready(static_cast<std::size_t>(partition))) return MPI_SUCCESS;
  return self.fail(MPI_ERR_ARG, "%s is %d, and that partition is ready already", what, partition);
}

}  // namespace

namespace body {

int Psend_init(RankState& self,
               Comm& comm,
               const void* buf,
               int partitions,
               MPI_Count count,
               MPI_Datatype datatype,
               int dest,
               int tag,
               MPI_Info info,
               MPI_Request* request) {
  const UserPartitions user{
      {const_cast<void*>(buf), count, datatype}, partitions, dest, "destination", tag, info};
  mpi::Datatype* type = nullptr;
  if (const int error = check_partitions(self, comm, user, &type); error != MPI_SUCCESS)
    return error;
  Request* made = nullptr;
  const int error = PartitionedSend::make(self, comm, arguments_of(user, *type), &made);
  if (error == MPI_SUCCESS) *request = handle_of(*made);
  return error;
}

int Precv_init(RankState& self,
               Comm& comm,
               void* buf,
               int partitions,
               MPI_Count count,
               MPI_Datatype datatype,
               int source,
               int tag,
               MPI_Info info,
               MPI_Request* request) {
  const UserPartitions user{{buf, count, datatype}, partitions, source, "source", tag, info};
  mpi::Datatype* type = nullptr;
  if (const int error = check_partitions(self, comm, user, &type); error != MPI_SUCCESS)
    return error;
  *request = handle_of(PartitionedReceive::make(self, comm, arguments_of(user, *type)));
  return MPI_SUCCESS;
}

int Pready(RankState& self, FailedComm& failed, int partition, MPI_Request request) {
  PartitionedSend* send = nullptr;
  int error = find_send(self, failed, request, &send);
  if (error == MPI_SUCCESS) error = check_unready(self, *send, "partition", partition);
  if (error == MPI_SUCCESS) send->set_ready(static_cast<std::size_t>(partition));
  return error;
}

int Pready_range(RankState& self,
                 FailedComm& failed,
                 int partition_low,
                 int partition_high,
                 MPI_Request request) {
  PartitionedSend* send = nullptr;
  int error = find_send(self, failed, request, &send);
  if (error == MPI_SUCCESS)
    error = check_partition(self, "partition_low", partition_low, send->partition_count());
  if (error == MPI_SUCCESS)
    error = check_partition(self, "partition_high", partition_high, send->partition_count());
  if (error == MPI_SUCCESS && partition_high < partition_low)
    error = self.fail(MPI_ERR_ARG, "partition_high is %d; it must be at least partition_low, %d",
                      partition_high, partition_low);
  for (int i = partition_low; error == MPI_SUCCESS && i <= partition_high; ++i)
    error = check_unready(self, *send, "a partition of the range", i);
  for (int i = partition_low; error == MPI_SUCCESS && i <= partition_high; ++i)
    send->set_ready(static_cast<std::size_t>(i));
  return error;
}

int Pready_list(RankState& self,
                FailedComm& failed,
                int length,
                const int array_of_partitions[],
                MPI_Request request) {
  PartitionedSend* send = nullptr;
  int error = find_send(self, failed, request, &send);
  if (error == MPI_SUCCESS && length < 0)
    error = self.fail(MPI_ERR_ARG, "length is %d; it must not be negative", length);
  // One by one, since a partition may be in the list twice.
  for (int i = 0; error == MPI_SUCCESS && i < length; ++i) {
    const int partition = array_of_partitions[i];
    error = check_unready(self, *send, "an element of array_of_partitions", partition);
    if (error == MPI_SUCCESS) send->set_ready(static_cast<std::size_t>(partition));
  }
  return error;
}

int Parrived(RankState& self, FailedComm& failed, MPI_Request request, int partition, int* flag) {
  // MPI 5.0, 4.2.2: as for an inactive request.
  if (request == MPI_REQUEST_NULL) {
    *flag = 1;
    return MPI_SUCCESS;
  }
  const Request* found = request_of(request, failed);
  const PartitionedReceive* receive = found == nullptr ? nullptr : PartitionedReceive::of(*found);
  if (receive == nullptr) return self.fail(MPI_ERR_REQUEST, "request is not of MPI_Precv_init");
  const int error = check_partition(self, "partition", partition, receive->partition_count());
  if (error != MPI_SUCCESS) return error;
  const auto has_arrived = [&] {
    return !found->is_active || found->completion.is_done() ||
           receive->has_arrived(static_cast<std::size_t>(partition));
  };
  if (!has_arrived()) mpi::make_progress(self);
  *flag = has_arrived() ? 1 : 0;
  return MPI_SUCCESS;
}

}  // namespace body

}  // namespace sorrel::abi
