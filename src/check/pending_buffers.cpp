#include "check/pending_buffers.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/check.hpp"
#include "base/text.hpp"
#include "mpi/comm/topology/topology.hpp"

namespace sorrel::check {

namespace {

using mpi::Datatype;

/// The ranks that a collective exchanges blocks with, in the order of its blocks.
class Peers {
 public:
  explicit Peers(std::int32_t member_count) : count_(static_cast<std::size_t>(member_count)) {}

  explicit Peers(const std::vector<int>& neighbors)
      : count_(neighbors.size()), neighbors_(neighbors) {}

  [[nodiscard]] std::size_t count() const { return count_; }

  /// Whether each block has a peer.
  [[nodiscard]] bool are_all() const {
    return std::ranges::find(neighbors_, MPI_PROC_NULL) == neighbors_.end();
  }

  /// Beyond the rim of a grid there is none.
  [[nodiscard]] bool has(std::size_t i) const {
    SORREL_ASSERT(i < count_, "block %zu of %zu", i, count_);
    return neighbors_.empty() || neighbors_[i] != MPI_PROC_NULL;
  }

 private:
  const std::size_t count_;
  const std::span<const int> neighbors_;
};

/// Adds the buffers of a call, unless an argument is not valid.
class BufferBuilder {
 public:
  explicit BufferBuilder(const CheckedCall& call) : call_(call) {}

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

  /// A block for each peer: `counts` names one count for all or a list, `displacements` null or a
  /// list, `datatype` one type or, as "sendtypes", a list.
  void add_blocks(std::vector<UsedBuffer>& to,
                  const char* buffer,
                  const char* counts,
                  const char* displacements,
                  const char* datatype,
                  bool is_written,
                  const Peers& peers) const {
    if (displacements == nullptr && peers.are_all())
      return add(to, buffer, counts, datatype, is_written, peers.count());
    const auto* address = call_.pointer<const std::byte>(buffer);
    if (address == MPI_IN_PLACE) return;
    const bool has_list = std::string_view(counts).ends_with('s');
    const bool has_types = std::string_view(datatype).ends_with('s');
    if ((has_list && call_.word(counts) == 0) || (has_types && call_.word(datatype) == 0) ||
        (displacements != nullptr && call_.word(displacements) == 0))
      return;
    UsedBuffer used{.bytes = {}, .is_written = is_written, .address = address};
    for (std::size_t i = 0; i < peers.count(); ++i) {
      const std::int64_t number = has_list ? call_.count_at(counts, i) : call_.word(counts);
      const Datatype* type =
          mpi::datatype_from_handle(has_types ? call_.pointer<const MPI_Datatype>(datatype)[i]
                                              : call_.handle<MPI_Datatype>(datatype));
      if (type == nullptr) return;
      if (number <= 0 || !peers.has(i)) continue;
      std::int64_t begin = static_cast<std::int64_t>(i) * number * type->extent();
      if (displacements != nullptr)
        begin = displacement_at(displacements, i) * (has_types ? 1 : type->extent());
      used.bytes.add(address + begin, static_cast<std::uint64_t>(number), *type);
    }
    to.push_back(std::move(used));
  }

  /// Packed data behind `position`: that of `count` elements.
  void add_packed(std::vector<UsedBuffer>& to,
                  const char* buffer,
                  const char* count,
                  bool is_written) const {
    const Datatype* type = mpi::datatype_from_handle(call_.handle<MPI_Datatype>("datatype"));
    if (type == nullptr || call_.word("position") == 0 || call_.word(count) <= 0) return;
    const std::int64_t position = has_large_position() ? *call_.pointer<const MPI_Aint>("position")
                                                       : *call_.pointer<const int>("position");
    UsedBuffer used{.bytes = {},
                    .is_written = is_written,
                    .address = call_.pointer<const std::byte>(buffer) + position};
    used.bytes.add(used.address, static_cast<std::uint64_t>(call_.word(count)) * type->size(),
                   *mpi::datatype_from_handle(MPI_BYTE));
    to.push_back(std::move(used));
  }

 private:
  [[nodiscard]] bool has_large_position() const {
    return call_.is_large() || call_.function() == Function::Pack_external ||
           call_.function() == Function::Unpack_external;
  }

  [[nodiscard]] std::int64_t displacement_at(const char* array, std::size_t i) const {
    const bool is_address = call_.is_large() || call_.function() == Function::Neighbor_alltoallw ||
                            call_.function() == Function::Ineighbor_alltoallw ||
                            call_.function() == Function::Neighbor_alltoallw_init;
    return is_address ? call_.pointer<const MPI_Aint>(array)[i]
                      : call_.pointer<const int>(array)[i];
  }

  const CheckedCall& call_;
};

/// The names of the arguments of one side of a collective; a function has some of them.
struct Side {
  const char* buffer;
  const char* count;
  const char* counts;
  const char* displacements;
  const char* datatype;
  const char* datatypes;
  bool is_written;
};

constexpr Side send_side{"sendbuf",  "sendcount", "sendcounts", "sdispls",
                         "sendtype", "sendtypes", false};
constexpr Side receive_side{"recvbuf",  "recvcount", "recvcounts", "rdispls",
                            "recvtype", "recvtypes", true};

/// A block for each peer, if the function has counts of blocks or `has_blocks`; else one block.
void add_side(std::vector<UsedBuffer>& to,
              const BufferBuilder& builder,
              const CheckedCall& call,
              const Side& side,
              bool has_blocks,
              const Peers& peers) {
  const char* datatype = call.has(side.datatypes) ? side.datatypes : side.datatype;
  if (call.has(side.counts)) {
    // A function with displacements of one side only calls them displs.
    builder.add_blocks(to, side.buffer, side.counts,
                       call.has(side.displacements) ? side.displacements : "displs", datatype,
                       side.is_written, peers);
  } else if (has_blocks) {
    builder.add_blocks(to, side.buffer, side.count, nullptr, datatype, side.is_written, peers);
  } else {
    builder.add(to, side.buffer, side.count, datatype, side.is_written);
  }
}

void add_reduction(std::vector<UsedBuffer>& to,
                   const BufferBuilder& builder,
                   const CheckedCall& call,
                   const mpi::Comm& comm,
                   bool receives) {
  if (call.has("recvcounts")) {
    if (call.word("recvcounts") == 0) return;
    std::int64_t all = 0;
    for (std::int32_t i = 0; i < comm.size(); ++i)
      all += call.count_at("recvcounts", static_cast<std::size_t>(i));
    const auto own = call.count_at("recvcounts", static_cast<std::size_t>(comm.rank));
    builder.add_elements(to, "sendbuf", all, "datatype", false);
    builder.add_elements(to, "recvbuf", own, "datatype", true);
  } else if (call.has("recvcount")) {
    builder.add(to, "sendbuf", "recvcount", "datatype", false,
                static_cast<std::size_t>(comm.size()));
    builder.add(to, "recvbuf", "recvcount", "datatype", true);
  } else {
    builder.add(to, "sendbuf", "count", "datatype", false);
    if (receives) builder.add(to, "recvbuf", "count", "datatype", true);
  }
}

/// The buffers of a collective on an intracommunicator. The table of functions (abi/functions.txt)
/// names their arguments alike in all collectives, with and without a request.
void add_collective(std::vector<UsedBuffer>& to,
                    const BufferBuilder& builder,
                    const CheckedCall& call,
                    const mpi::Comm& comm) {
  const bool has_root = call.has("root");
  const bool is_root = has_root && call.word("root") == comm.rank;
  if (has_root && call.has("buffer"))
    return builder.add(to, "buffer", "count", "datatype", !is_root);
  if (!call.has("sendbuf")) return;
  const auto is_named = [name = std::string_view(call.name())](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  };
  const bool scatters = is_named("catter");
  if (call.has("op")) return add_reduction(to, builder, call, comm, !has_root || is_root);
  if (is_named("eighbor_")) {
    if (comm.topology == nullptr) return;
    const mpi::Neighborhood edges = comm.topology->neighborhood_of(comm.rank);
    add_side(to, builder, call, send_side, is_named("lltoall"), Peers(edges.destinations));
    return add_side(to, builder, call, receive_side, true, Peers(edges.sources));
  }
  const Peers members(comm.size());
  if (!has_root || is_root || !scatters)
    add_side(to, builder, call, send_side, scatters || is_named("lltoall"), members);
  if (!has_root || is_root || scatters)
    add_side(to, builder, call, receive_side, !scatters, members);
}

}  // namespace

std::vector<UsedBuffer> buffers_of(const CheckedCall& call, const mpi::Comm& comm) {
  std::vector<UsedBuffer> used;
  const BufferBuilder builder(call);
  // Sends and receives of one message; partitions and files have buffers of another kind.
  const bool has_message = call.has("buf") && call.has("datatype") && !call.has("partitions") &&
                           !call.has("fh") && call.direction("buf") != Direction::inout;
  if (has_message) {
    builder.add(used, "buf", "count", "datatype", call.direction("buf") == Direction::out);
  } else if (call.has("sendbuf") && call.has("dest")) {
    if (call.word("dest") != MPI_PROC_NULL)
      builder.add(used, "sendbuf", "sendcount", "sendtype", false);
    if (call.word("source") != MPI_PROC_NULL)
      builder.add(used, "recvbuf", "recvcount", "recvtype", true);
  } else if (call.has("inoutbuf")) {
    builder.add(used, "inbuf", "count", "datatype", false);
    builder.add(used, "inoutbuf", "count", "datatype", true);
  } else if (call.has("inbuf") && call.has("incount")) {
    builder.add(used, "inbuf", "incount", "datatype", false);
    builder.add_packed(used, "outbuf", "incount", true);
  } else if (call.has("inbuf")) {
    builder.add_packed(used, "inbuf", "outcount", false);
    builder.add(used, "outbuf", "outcount", "datatype", true);
  } else if (comm.inter == nullptr) {
    add_collective(used, builder, call, comm);
  }
  return used;
}

std::vector<UsedBuffer> origin_buffers_of(const CheckedCall& call) {
  std::vector<UsedBuffer> used;
  const BufferBuilder builder(call);
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
  SORREL_ASSERT(count >= 0 && partition >= 0, "partition %lld of %lld elements",
                static_cast<long long>(partition), static_cast<long long>(count));
  std::vector<UsedBuffer> used(1);
  used.front().address = buffer;
  const auto number = static_cast<std::uint64_t>(count);
  used.front().bytes.add(static_cast<const std::byte*>(buffer) + partition * count * type.extent(),
                         number, type);
  return used;
}

bool PendingBuffers::find_aliases(const std::vector<UsedBuffer>& buffers, const CallPlace& place) {
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    for (std::size_t k = i + 1; k < buffers.size(); ++k) {
      if (!buffers[i].is_written && !buffers[k].is_written) continue;
      if (!buffers[i].bytes.overlap_with(buffers[k].bytes)) continue;
      findings_.add(
          {.kind = "buffer-overlap",
           .place = place,
           .text = text_of("two buffers of %s overlap, of which it writes to at least one",
                           place.name)});
      return true;
    }
  }
  return false;
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
                                    Compared compared) {
  Operation operation{.number = next_++,
                      .place = place,
                      .buffers = std::move(buffers),
                      .is_received = compared == Compared::everything};
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
        is_alone && compared != Compared::nothing &&
        (!used.is_written || (operation.is_received && used.address != nullptr));
    operation.hashes.push_back(is_watched ? used.bytes.hash() : std::nullopt);
  }
  SORREL_ASSERT(operations_.empty() || operations_.back().number < operation.number,
                "operation %llu is numbered twice",
                static_cast<unsigned long long>(operation.number));
  operations_.push_back(std::move(operation));
  SORREL_ASSERT(operations_.back().hashes.size() == operations_.back().buffers.size(),
                "%zu hashes of %zu buffers", operations_.back().hashes.size(),
                operations_.back().buffers.size());
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
  SORREL_ASSERT(operation.hashes.size() == operation.buffers.size(), "%zu hashes of %zu buffers",
                operation.hashes.size(), operation.buffers.size());
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
    return has_request(it) && (count == 1 || (variable != nullptr && it.variable == variable));
  });
  // Several sends that were complete at once share a request. If the program has copied the
  // handles, or its variables are not known, it is not known which of them this is. None of them
  // was complete before, so none of their buffers may have changed.
  if (operation == operations_.end()) {
    for (const Operation& shared : operations_) {
      if (has_request(shared)) compare(shared, "before the completion");
    }
    return forget(request);
  }
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

void PendingBuffers::on_arrival(const void* buffer, bool is_remote) {
  for (Operation& operation : operations_) {
    if (!operation.is_received || operation.is_unsettled) continue;
    const bool is_its = std::ranges::any_of(operation.buffers, [=](const UsedBuffer& used) {
      return used.is_written && used.address == buffer;
    });
    if (!is_its) continue;
    compare(operation, "before the message came");
    if (is_remote) {
      operation.is_received = false;
      std::ranges::fill(operation.hashes, std::nullopt);
      return;
    }
    operation.is_unsettled = true;
    return;
  }
}

void PendingBuffers::settle() {
  for (Operation& operation : operations_) {
    if (!std::exchange(operation.is_unsettled, false)) continue;
    SORREL_ASSERT(operation.is_received, "operation %llu has its data already",
                  static_cast<unsigned long long>(operation.number));
    for (std::size_t i = 0; i < operation.buffers.size(); ++i)
      operation.hashes[i] = operation.buffers[i].bytes.hash();
    // Its data has come.
    operation.is_received = false;
  }
}

}  // namespace sorrel::check
