#include "check/pending_buffers.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"

namespace sorrel::check {

namespace {

using mpi::Datatype;

/// Adds blocks of a buffer to its bytes; false if an argument is not valid.
class BufferBuilder {
 public:
  BufferBuilder(const CheckedCall& call, std::int32_t member_count)
      : call_(call), member_count_(static_cast<std::size_t>(member_count)) {}

  /// `blocks`: as many times count elements.
  void add(std::vector<UsedBuffer>& to,
           const char* buffer,
           const char* count,
           const char* datatype,
           bool is_written,
           std::size_t blocks = 1) const {
    add_elements(to, buffer, call_.word(count), datatype, is_written, blocks);
  }

  /// `number`: below 1: nothing.
  void add_elements(std::vector<UsedBuffer>& to,
                    const char* buffer,
                    std::int64_t number,
                    const char* datatype,
                    bool is_written,
                    std::size_t blocks = 1) const {
    const void* address = call_.pointer<const void>(buffer);
    const Datatype* type = mpi::datatype_from_handle(call_.handle<MPI_Datatype>(datatype));
    if (address == MPI_IN_PLACE || type == nullptr || number <= 0) return;
    UsedBuffer used{.bytes = {}, .is_written = is_written, .address = address};
    used.bytes.add(address, static_cast<std::uint64_t>(number) * blocks, *type);
    to.push_back(std::move(used));
  }

  void add_all(std::vector<UsedBuffer>& to,
               const char* buffer,
               const char* count,
               const char* datatype,
               bool is_written) const {
    add(to, buffer, count, datatype, is_written, member_count_);
  }

  /// A block for each member.
  void add_list(std::vector<UsedBuffer>& to,
                const char* buffer,
                const char* counts,
                const char* displacements,
                const char* datatype,
                bool is_written) const {
    const auto* address = call_.pointer<const std::byte>(buffer);
    const Datatype* type = mpi::datatype_from_handle(call_.handle<MPI_Datatype>(datatype));
    if (address == MPI_IN_PLACE || type == nullptr || call_.word(counts) == 0 ||
        call_.word(displacements) == 0)
      return;
    UsedBuffer used{.bytes = {}, .is_written = is_written, .address = address};
    for (std::size_t i = 0; i < member_count_; ++i) {
      const std::int64_t number = call_.count_at(counts, i);
      if (number <= 0) continue;
      used.bytes.add(address + displacement_at(displacements, i) * type->extent(),
                     static_cast<std::uint64_t>(number), *type);
    }
    to.push_back(std::move(used));
  }

 private:
  [[nodiscard]] std::int64_t displacement_at(const char* array, std::size_t i) const {
    return call_.is_large() ? call_.pointer<const MPI_Aint>(array)[i]
                            : call_.pointer<const int>(array)[i];
  }

  const CheckedCall& call_;
  const std::size_t member_count_;
};

}  // namespace

std::vector<UsedBuffer> buffers_of(const CheckedCall& call, const mpi::Comm& comm) {
  std::vector<UsedBuffer> used;
  const BufferBuilder builder(call, comm.size());
  const bool is_root = call.has("root") && call.word("root") == comm.rank;
  switch (call.function()) {
    case Function::Send:
    case Function::Bsend:
    case Function::Ssend:
    case Function::Rsend:
    case Function::Isend:
    case Function::Ibsend:
    case Function::Issend:
    case Function::Irsend:
    case Function::Send_init:
    case Function::Bsend_init:
    case Function::Ssend_init:
    case Function::Rsend_init:
      builder.add(used, "buf", "count", "datatype", false);
      return used;
    case Function::Recv:
    case Function::Irecv:
    case Function::Recv_init:
    case Function::Imrecv:
    case Function::Mrecv:
      builder.add(used, "buf", "count", "datatype", true);
      return used;
    case Function::Sendrecv:
    case Function::Isendrecv:
      builder.add(used, "sendbuf", "sendcount", "sendtype", false);
      builder.add(used, "recvbuf", "recvcount", "recvtype", true);
      return used;
    default:
      break;
  }
  if (comm.inter != nullptr) return used;
  switch (call.function()) {
    case Function::Bcast:
    case Function::Ibcast:
      builder.add(used, "buffer", "count", "datatype", !is_root);
      return used;
    case Function::Reduce:
    case Function::Ireduce:
      builder.add(used, "sendbuf", "count", "datatype", false);
      if (is_root) builder.add(used, "recvbuf", "count", "datatype", true);
      return used;
    case Function::Allreduce:
    case Function::Iallreduce:
    case Function::Scan:
    case Function::Iscan:
    case Function::Exscan:
    case Function::Iexscan:
      builder.add(used, "sendbuf", "count", "datatype", false);
      builder.add(used, "recvbuf", "count", "datatype", true);
      return used;
    case Function::Reduce_scatter_block:
    case Function::Ireduce_scatter_block:
      builder.add_all(used, "sendbuf", "recvcount", "datatype", false);
      builder.add(used, "recvbuf", "recvcount", "datatype", true);
      return used;
    case Function::Gather:
    case Function::Igather:
      builder.add(used, "sendbuf", "sendcount", "sendtype", false);
      if (is_root) builder.add_all(used, "recvbuf", "recvcount", "recvtype", true);
      return used;
    case Function::Scatter:
    case Function::Iscatter:
      if (is_root) builder.add_all(used, "sendbuf", "sendcount", "sendtype", false);
      builder.add(used, "recvbuf", "recvcount", "recvtype", true);
      return used;
    case Function::Allgather:
    case Function::Iallgather:
      builder.add(used, "sendbuf", "sendcount", "sendtype", false);
      builder.add_all(used, "recvbuf", "recvcount", "recvtype", true);
      return used;
    case Function::Alltoall:
    case Function::Ialltoall:
      builder.add_all(used, "sendbuf", "sendcount", "sendtype", false);
      builder.add_all(used, "recvbuf", "recvcount", "recvtype", true);
      return used;
    case Function::Gatherv:
    case Function::Igatherv:
      builder.add(used, "sendbuf", "sendcount", "sendtype", false);
      if (is_root) builder.add_list(used, "recvbuf", "recvcounts", "displs", "recvtype", true);
      return used;
    case Function::Scatterv:
    case Function::Iscatterv:
      if (is_root) builder.add_list(used, "sendbuf", "sendcounts", "displs", "sendtype", false);
      builder.add(used, "recvbuf", "recvcount", "recvtype", true);
      return used;
    case Function::Allgatherv:
    case Function::Iallgatherv:
      builder.add(used, "sendbuf", "sendcount", "sendtype", false);
      builder.add_list(used, "recvbuf", "recvcounts", "displs", "recvtype", true);
      return used;
    case Function::Alltoallv:
    case Function::Ialltoallv:
      builder.add_list(used, "sendbuf", "sendcounts", "sdispls", "sendtype", false);
      builder.add_list(used, "recvbuf", "recvcounts", "rdispls", "recvtype", true);
      return used;
    default:
      return used;
  }
}

std::vector<UsedBuffer> origin_buffers_of(const CheckedCall& call) {
  std::vector<UsedBuffer> used;
  const BufferBuilder builder(call, 1);
  // An operation that only reads the target has no data at the origin.
  const bool has_origin = !call.has("op") || call.handle<MPI_Op>("op") != MPI_NO_OP;
  switch (call.function()) {
    case Function::Compare_and_swap:
      builder.add_elements(used, "origin_addr", 1, "datatype", false);
      builder.add_elements(used, "compare_addr", 1, "datatype", false);
      builder.add_elements(used, "result_addr", 1, "datatype", true);
      return used;
    case Function::Fetch_and_op:
      if (has_origin) builder.add_elements(used, "origin_addr", 1, "datatype", false);
      builder.add_elements(used, "result_addr", 1, "datatype", true);
      return used;
    default:
      break;
  }
  const bool is_get = call.function() == Function::Get || call.function() == Function::Rget;
  if (call.has("origin_count") && has_origin)
    builder.add(used, "origin_addr", "origin_count", "origin_datatype", is_get);
  if (call.has("result_count"))
    builder.add(used, "result_addr", "result_count", "result_datatype", true);
  return used;
}

std::vector<UsedBuffer> partition_of(const void* buffer,
                                     const mpi::Datatype& type,
                                     std::int64_t count,
                                     std::int64_t partition) {
  std::vector<UsedBuffer> used(1);
  used.front().address = buffer;
  const auto number = static_cast<std::uint64_t>(count);
  used.front().bytes.add(static_cast<const std::byte*>(buffer) + partition * count * type.extent(),
                         number, type);
  return used;
}

bool PendingBuffers::overlaps(const Operation& operation, const Operation& other) {
  for (const UsedBuffer& own : operation.buffers) {
    for (const UsedBuffer& theirs : other.buffers) {
      if ((own.is_written || theirs.is_written) && own.bytes.overlap_with(theirs.bytes))
        return true;
    }
  }
  return false;
}

std::uint64_t PendingBuffers::begin(std::vector<UsedBuffer> buffers,
                                    const CallPlace& place,
                                    bool is_received) {
  Operation operation{
      .number = next_++, .place = place, .buffers = std::move(buffers), .is_received = is_received};
  bool is_alone = true;
  for (Operation& other : operations_) {
    if (!overlaps(operation, other)) continue;
    // The operations change each other's buffers.
    is_alone = false;
    std::ranges::fill(other.hashes, std::nullopt);
    findings_.add({.kind = "buffer-overlap",
                   .place = place,
                   .text = text_of("a buffer of %s overlaps one of %s, which is not complete",
                                   place.name, other.place.name)});
    findings_.add_place(other.place, "the operation in progress");
    break;
  }
  for (const UsedBuffer& used : operation.buffers) {
    // What other operations write to is not watched.
    const bool is_watched =
        is_alone && (!used.is_written || (is_received && used.address != nullptr));
    operation.hashes.push_back(is_watched ? used.bytes.hash() : std::nullopt);
  }
  operations_.push_back(std::move(operation));
  return operations_.back().number;
}

void PendingBuffers::set_request(std::uint64_t number,
                                 std::uintptr_t request,
                                 const void* variable) {
  const auto operation = std::ranges::find(operations_, number, &Operation::number);
  if (operation == operations_.end()) return;
  operation->request = request;
  operation->variable = variable;
}

void PendingBuffers::set_target(std::uint64_t number, const mpi::Win* win, const void* target) {
  const auto operation = std::ranges::find(operations_, number, &Operation::number);
  if (operation == operations_.end()) return;
  operation->win = win;
  operation->target = target;
}

void PendingBuffers::drop(std::uint64_t number) {
  std::erase_if(operations_, [=](const Operation& it) { return it.number == number; });
}

void PendingBuffers::forget(std::uintptr_t request) {
  std::erase_if(operations_, [=](const Operation& it) { return it.request == request; });
}

void PendingBuffers::compare(const Operation& operation, const char* when) {
  for (std::size_t i = 0; i < operation.buffers.size(); ++i) {
    const UsedBuffer& used = operation.buffers[i];
    if (!operation.hashes[i] || operation.hashes[i] == used.bytes.hash()) continue;
    const bool is_read = !used.is_written;
    findings_.add({.kind = "buffer-changed",
                   .place = operation.place,
                   .text = text_of("the program has changed the %s buffer of %s %s",
                                   is_read ? "send" : "receive", operation.place.name, when)});
  }
}

void PendingBuffers::complete(std::uintptr_t request, const void* variable) {
  settle();
  const auto has_request = [=](const Operation& it) { return it.request == request; };
  const auto count = std::ranges::count_if(operations_, has_request);
  if (count == 0) return;
  auto operation = std::ranges::find_if(operations_, [&](const Operation& it) {
    return has_request(it) && (count == 1 || it.variable == variable);
  });
  // Several sends that were complete at once share a request. If the program has copied the
  // handles, it is not known which of them this is.
  if (operation == operations_.end()) return forget(request);
  compare(*operation, "before the completion");
  operations_.erase(operation);
}

void PendingBuffers::complete_all(const mpi::Win* win, const void* target) {
  settle();
  std::erase_if(operations_, [&](const Operation& operation) {
    if (operation.win != win || operation.target != target) return false;
    compare(operation, "before the synchronization");
    return true;
  });
}

void PendingBuffers::complete_partitions(std::uintptr_t request) {
  settle();
  std::erase_if(operations_, [&](const Operation& operation) {
    if (operation.request != request) return false;
    compare(operation, "before the completion");
    return true;
  });
}

void PendingBuffers::on_arrival(const void* buffer) {
  for (Operation& operation : operations_) {
    if (!operation.is_received || operation.is_unsettled) continue;
    const bool is_its = std::ranges::any_of(operation.buffers, [=](const UsedBuffer& used) {
      return used.is_written && used.address == buffer;
    });
    if (!is_its) continue;
    compare(operation, "before the message came");
    operation.is_unsettled = true;
    return;
  }
}

void PendingBuffers::settle() {
  for (Operation& operation : operations_) {
    if (!std::exchange(operation.is_unsettled, false)) continue;
    for (std::size_t i = 0; i < operation.buffers.size(); ++i)
      operation.hashes[i] = operation.buffers[i].bytes.hash();
    // Its data has come.
    operation.is_received = false;
  }
}

}  // namespace sorrel::check
