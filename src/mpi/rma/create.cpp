#include "mpi/rma/create.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "mpi/collectives/agreement.hpp"
#include "mpi/collectives/slots.hpp"
#include "mpi/comm/process_map.hpp"
#include "mpi/rma/leader_exchange.hpp"
#include "mpi/rma/mapped_memory.hpp"

namespace sorrel::mpi {

namespace {

/// What a member publishes for the leader of its process, which answers in it.
struct CreationRequest {
  const WindowArguments* arguments;
  WinShared* shared = nullptr;
  int error = MPI_SUCCESS;
  /// In a shared window: the memory of this member.
  std::byte* address = nullptr;
};

/// What the processes tell each other of a member.
struct MemberText {
  std::uint64_t window;
  std::int64_t bytes;
  std::int64_t displacement_unit;
  std::uint64_t worker;
};

/// The requests of the members of this process, by rank.
struct Requests {
  const Comm& comm;
  CreationRequest& own;

  [[nodiscard]] CreationRequest& of(std::int32_t rank) const {
    // A communicator of one member has no slots.
    if (comm.size() == 1) return own;
    return const_cast<CreationRequest&>(comm.shared->slots().published_by<CreationRequest>(rank));
  }
};

std::size_t segment_bytes(const WindowArguments& arguments) {
  const auto bytes = static_cast<std::size_t>(arguments.bytes);
  if (!arguments.is_noncontiguous) return bytes;
  return (bytes + arguments.alignment - 1) / arguments.alignment * arguments.alignment;
}

/// Allocates the segments of a shared window, one behind the other in the order of the ranks.
int allocate_segments(const Requests& requests,
                      const std::vector<std::int32_t>& members,
                      WinShared& shared) {
  std::size_t total = 0;
  std::size_t alignment = 1;
  for (const std::int32_t rank : members) {
    const WindowArguments& arguments = *requests.of(rank).arguments;
    total += segment_bytes(arguments);
    alignment = std::max(alignment, arguments.alignment);
  }
  shared.memory = WindowMemory::allocate(total, alignment);
  if (shared.memory.base() == nullptr) return MPI_ERR_NO_MEM;
  std::size_t offset = 0;
  for (const std::int32_t rank : members) {
    CreationRequest& request = requests.of(rank);
    request.address = shared.memory.base() + offset;
    offset += segment_bytes(*request.arguments);
  }
  return MPI_SUCCESS;
}

/// The memory that the leader allocates for several members. Without it, members have their own.
int allocate_together(const Member& member,
                      const Requests& requests,
                      const std::vector<std::int32_t>& members,
                      WinShared& shared) {
  const bool is_shared = shared.flavor() == MPI_WIN_FLAVOR_SHARED;
  if (member.comm.shared->processes() == nullptr)
    return is_shared ? allocate_segments(requests, members, shared) : MPI_SUCCESS;
  std::vector<std::int64_t> own_bytes;
  for (const std::int32_t rank : members)
    own_bytes.push_back(requests.of(rank).arguments->bytes);
  const WindowArguments& arguments = *requests.own.arguments;
  const bool is_contiguous = is_shared && !arguments.is_noncontiguous;
  const int error =
      map_together(member, shared, own_bytes, is_contiguous ? std::size_t{1} : arguments.alignment);
  if (error != MPI_SUCCESS) return is_shared ? error : MPI_SUCCESS;
  for (const std::int32_t rank : members)
    requests.of(rank).address = shared.entry(rank).address;
  return MPI_SUCCESS;
}

/// On the leader: creates the shared part for the members of this process. May suspend.
void create_shared(const Member& member, const Requests& requests) {
  const WindowArguments& arguments = *requests.own.arguments;
  const std::vector<std::int32_t> members = members_here(member.comm);
  auto* shared = new WinShared(arguments.flavor, member.comm.size());
  // The members' own references, taken for them: the first to finish must not delete it.
  shared->retain(static_cast<std::int32_t>(members.size()));
  const bool has_memory =
      arguments.flavor == MPI_WIN_FLAVOR_SHARED || arguments.flavor == MPI_WIN_FLAVOR_ALLOCATE;
  const int error =
      has_memory ? allocate_together(member, requests, members, *shared) : MPI_SUCCESS;
  for (const std::int32_t rank : members) {
    requests.of(rank).shared = shared;
    requests.of(rank).error = error;
  }
}

/// Sets the entry of this rank: what other ranks of the process need to access its memory.
void set_own_entry(Win& win, const WindowArguments& arguments, std::byte* address) {
  WinTarget& own = win.shared->entry(win.rank);
  own.address = arguments.device == nullptr ? address : nullptr;
  own.device = arguments.device;
  own.bytes = arguments.bytes;
  own.displacement_unit = arguments.displacement_unit;
  own.window = &win;
  if (own.accumulate_lock == nullptr) own.accumulate_lock = &win.accumulate_lock;
  own.world_rank = win.owner->world_rank;
  own.worker = win.owner->world->endpoint_of(*win.owner->worker).worker;
  own.is_here = true;
  win.base = address;
  win.attribute_size = arguments.bytes;
  win.attribute_displacement_unit = static_cast<int>(arguments.displacement_unit);
  win.attribute_flavor = arguments.flavor;
}

/// On the leaders: tells the other processes of the members here, and sets their members' entries.
int exchange_entries(const Member& member, WinShared& shared) {
  const ProcessMap& processes = *member.comm.shared->processes();
  std::vector<MemberText> own;
  for (const std::int32_t rank : processes.own_members()) {
    const WinTarget& target = shared.target(rank);
    own.push_back({.window = reinterpret_cast<std::uintptr_t>(target.window),
                   .bytes = target.bytes,
                   .displacement_unit = target.displacement_unit,
                   .worker = target.worker});
  }
  std::vector<std::vector<MemberText>> all;
  if (const int error = exchange_of_leaders(member, own, &all); error != MPI_SUCCESS) return error;
  for (std::int32_t i = 0; i < processes.count(); ++i) {
    if (i == processes.own_index()) continue;
    const auto& texts = all[static_cast<std::size_t>(i)];
    for (std::size_t k = 0; k < texts.size(); ++k) {
      const std::int32_t rank = processes.members(i)[k];
      WinTarget& target = shared.entry(rank);
      target.window = reinterpret_cast<Win*>(texts[k].window);
      target.bytes = texts[k].bytes;
      target.displacement_unit = texts[k].displacement_unit;
      target.worker = static_cast<std::uint32_t>(texts[k].worker);
      target.world_rank = member.comm.shared->group()->world_rank(rank);
    }
  }
  return MPI_SUCCESS;
}

int explain(RankState& self, int error) {
  if (error == MPI_ERR_NO_MEM) return self.fail(error, "memory for the window is not available");
  if (error == MPI_ERR_RMA_SHARED)
    return self.fail(error, "the ranks of comm live in processes that cannot share memory");
  return error;
}

void set_name(Comm& comm) {
  comm.name = std::make_unique<std::string>("window " + std::to_string(comm.shared->context()) +
                                            " (" + std::to_string(comm.size()) + " ranks)");
}

}  // namespace

Win::Win(RankState& self, Comm& own_comm, WinShared& all)
    : rank(own_comm.rank),
      shared(&all),
      owner(&self),
      comm(&own_comm),
      errhandler(errhandler_of(MPI_ERRORS_ARE_FATAL)) {
  ++owner->window_count;
}

Win::~Win() {
  header.kind = ObjectKind::freed;
  --owner->window_count;
  mpi::release(*errhandler);
  shared->release();
  mpi::release(*comm);
}

int create_window(RankState& self, Comm& own_comm, const WindowArguments& arguments, Win** result) {
  own_comm.call = CollectiveCall({.kind = CollectiveKind::win_create});
  CreationRequest request{.arguments = &arguments};
  if (own_comm.size() > 1) own_comm.shared->slots().publish(own_comm, &request);
  const auto give_up = [&](int error) {
    release(own_comm);
    return error;
  };
  if (const int error = local_barrier({self, own_comm}); error != MPI_SUCCESS)
    return give_up(error);
  const bool is_leader = own_comm.rank == first_member_here(own_comm.shared->processes());
  if (is_leader) create_shared({self, own_comm}, {.comm = own_comm, .own = request});
  if (const int error = local_barrier({self, own_comm}); error != MPI_SUCCESS)
    return give_up(error);
  WinShared& shared = *request.shared;
  auto win = std::make_unique<Win>(self, own_comm, shared);
  std::byte* address = request.address;
  if (arguments.flavor == MPI_WIN_FLAVOR_CREATE) {
    address = static_cast<std::byte*>(arguments.base);
  } else if (arguments.flavor == MPI_WIN_FLAVOR_ALLOCATE && address == nullptr) {
    win->memory =
        WindowMemory::allocate(static_cast<std::size_t>(arguments.bytes), arguments.alignment);
    address = win->memory.base();
    if (address == nullptr) request.error = MPI_ERR_NO_MEM;
  }
  set_own_entry(*win, arguments, address);
  set_name(own_comm);
  // Also the barrier after which the entries of this process are complete.
  if (const int error = agree({self, own_comm}, request.error); error != MPI_SUCCESS)
    return explain(self, error);
  if (own_comm.shared->processes() != nullptr) {
    const int error = is_leader ? exchange_entries({self, own_comm}, shared) : MPI_SUCCESS;
    if (error != MPI_SUCCESS) return error;
    // Messages for the window may come as soon as one member has gone on.
    if (const int mismatch = barrier({self, own_comm}); mismatch != MPI_SUCCESS) return mismatch;
    if (is_leader) shared.segment.close_descriptor();
  }
  *result = win.release();
  return MPI_SUCCESS;
}

int free_window(Win& win) {
  win.comm->call = CollectiveCall({.kind = CollectiveKind::win_free});
  if (const int error = barrier({*win.owner, *win.comm}); error != MPI_SUCCESS) return error;
  delete &win;
  return MPI_SUCCESS;
}

}  // namespace sorrel::mpi
