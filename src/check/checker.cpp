#include "check/checker.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/check.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "mpi/base/error_string.hpp"
#include "mpi/datatype/recipe.hpp"
#include "mpi/match/request.hpp"
#include "mpi/rma/window.hpp"

namespace sorrel::check {

namespace {

using Compared = PendingBuffers::Compared;
using mpi::Comm;
using mpi::RankState;
using mpi::Request;

/// Whether the function sends one message with arguments buf, count, datatype, dest and tag.
bool is_send(Function function) {
  switch (function) {
    case Function::Send:
    case Function::Bsend:
    case Function::Ssend:
    case Function::Rsend:
    case Function::Isend:
    case Function::Ibsend:
    case Function::Issend:
    case Function::Irsend:
      return true;
    default:
      return false;
  }
}

/// A blocking send that may return before its message is received, or the same with a request.
bool is_standard_send(Function function) {
  return function == Function::Send || function == Function::Isend ||
         function == Function::Send_init;
}

/// Whether the call is a collective in which this member depends on no other, so that an MPI may
/// let it go on.
bool need_not_wait(RankState& self, const CheckedCall& call) {
  if (!call.has("root") || !call.has("comm")) return false;
  const Comm* comm = self.comm_of(call.handle<MPI_Comm>("comm"));
  const bool is_root = comm != nullptr && call.word("root") == comm->rank;
  switch (call.function()) {
    case Function::Bcast:
    case Function::Scatter:
    case Function::Scatterv:
      return is_root;
    case Function::Reduce:
    case Function::Gather:
    case Function::Gatherv:
      return !is_root;
    default:
      return false;
  }
}

/// Error classes that say what the system or another program has done, not what this program has
/// done wrong.
bool is_about_outside(int error_class) {
  switch (error_class) {
    case MPI_ERR_ACCESS:
    case MPI_ERR_BAD_FILE:
    case MPI_ERR_FILE_EXISTS:
    case MPI_ERR_FILE_IN_USE:
    case MPI_ERR_IO:
    case MPI_ERR_NO_MEM:
    case MPI_ERR_NO_SPACE:
    case MPI_ERR_NO_SUCH_FILE:
    case MPI_ERR_QUOTA:
    case MPI_ERR_READ_ONLY:
    case MPI_ERR_UNSUPPORTED_OPERATION:
      return true;
    default:
      return false;
  }
}

const char* kind_of_error(int error_class) {
  switch (error_class) {
    case MPI_ERR_TRUNCATE:
      return "message-truncated";
    case MPI_ERR_RMA_SYNC:
      return "rma-synchronization";
    case MPI_ERR_RMA_CONFLICT:
      return "rma-conflict";
    case MPI_ERR_RMA_RANGE:
    case MPI_ERR_RMA_SHARED:
    case MPI_ERR_RMA_ATTACH:
      return "rma-range";
    case MPI_ERR_REQUEST:
      return "request";
    default:
      return "argument";
  }
}

/// At most so many variables of `out` arguments hold handles that the program must free: the others
/// are predefined (MPI 5.0, 19.1.9), or have not been written.
std::size_t new_handle_count(const CheckedCall& call) {
  switch (call.function()) {
    case Function::Type_create_f90_complex:
    case Function::Type_create_f90_integer:
    case Function::Type_create_f90_real:
    case Function::Type_match_size:
    case Function::Type_get_value_index:
    case Function::Comm_get_parent:
      return 0;
    case Function::Improbe:
      return *call.pointer<const int>("flag") != 0 ? 1 : 0;
    case Function::Type_get_contents:
    case Function::Type_get_contents_c: {
      const mpi::Datatype* type = mpi::datatype_from_handle(call.handle<MPI_Datatype>("datatype"));
      return type == nullptr || type->recipe() == nullptr ? 0 : type->recipe()->types().size();
    }
    default:
      return SIZE_MAX;
  }
}

bool is_persistent_message(Function function) {
  switch (function) {
    case Function::Send_init:
    case Function::Bsend_init:
    case Function::Ssend_init:
    case Function::Rsend_init:
    case Function::Recv_init:
      return true;
    default:
      return false;
  }
}

/// Whether the call makes a persistent request, whose buffers are in use from its start on.
bool is_persistent(const CheckedCall& call) {
  return std::string_view(call.name()).find("_init") != std::string_view::npos;
}

/// The message that a call would send; nothing if its arguments are wrong, or if the receiver is
/// MPI_PROC_NULL.
std::optional<SentMessage> message_of(RankState& self,
                                      const CheckedCall& call,
                                      const CallPlace& place,
                                      const char* count,
                                      const char* datatype,
                                      const char* destination,
                                      const char* tag) {
  const Comm* comm = self.comm_of(call.handle<MPI_Comm>("comm"));
  const mpi::Datatype* type = mpi::datatype_from_handle(call.handle<MPI_Datatype>(datatype));
  const auto to = static_cast<std::int32_t>(call.word(destination));
  const std::int64_t number = call.word(count);
  if (comm == nullptr || type == nullptr || number < 0 || to < 0 || to >= comm->size())
    return std::nullopt;
  return SentMessage{.context = comm->shared->context(),
                     .receiver = comm->shared->group()->world_rank(to),
                     .tag = static_cast<std::int32_t>(call.word(tag)),
                     .place = place,
                     .signature = {*type, static_cast<std::uint64_t>(number)},
                     .is_standard = is_standard_send(call.function())};
}

/// The argument of a collective call that is its communicator; null: none.
const char* communicator_argument(const CheckedCall& call) {
  return call.has("comm")         ? "comm"
         : call.has("comm_old")   ? "comm_old"
         : call.has("local_comm") ? "local_comm"
                                  : nullptr;
}

/// The window that a call uses; null: none, or one that is not valid.
const mpi::Win* window_of(const CheckedCall& call) {
  if (!call.has("win")) return nullptr;
  switch (call.function()) {
    case Function::Win_allocate:
    case Function::Win_allocate_shared:
    case Function::Win_create:
    case Function::Win_create_dynamic:
      return nullptr;
    case Function::Win_free:
      return call.word("win") == 0 ? nullptr : mpi::win_of(*call.pointer<const MPI_Win>("win"));
    default:
      return mpi::win_of(call.handle<MPI_Win>("win"));
  }
}

/// What takes the place of the variable of a request, for operations on a target.
const void* target_key(const mpi::Win& win, std::int32_t target) {
  return &win.target(target);
}

std::uintptr_t word_of(std::intptr_t word) {
  return static_cast<std::uintptr_t>(word);
}

}  // namespace

/// A call in progress.
struct Checker::ActiveCall {
  ActiveCall(RankState& caller, RankCheck& caller_check, sorrel_checked_call& call_)
      : self(caller), rank(caller_check), raw(call_), call(call_) {}

  RankState& self;
  RankCheck& rank;
  sorrel_checked_call& raw;
  CheckedCall call;

  struct Before {
    ArgumentKind kind;
    std::uintptr_t handle;
    const void* variable;
  };

  /// The values of inout handles when the call began.
  std::vector<Before> before;
  /// The numbers of the messages that it sends.
  std::vector<std::uint64_t> sent;
  /// A message of a matched probe that it receives.
  std::uintptr_t message = 0;
  /// The window of the call; null: none.
  const mpi::Win* win = nullptr;
  /// Number in PendingBuffers; 0: none.
  std::uint64_t buffers = 0;
};

/// The buffer of a partitioned send.
struct Checker::PartitionedBuffer {
  const void* buffer;
  const mpi::Datatype* type;
  /// Elements of each partition.
  std::int64_t count;
};

struct Checker::RankCheck {
  explicit RankCheck(FindingLog& findings) : buffers(findings) {}

  /// The innermost one; null outside of MPI.
  ActiveCall* active = nullptr;
  HandleTable handles;
  SentMessages sent;
  PendingBuffers buffers;
  /// Buffers of persistent messages, by handle.
  std::map<std::uintptr_t, std::vector<UsedBuffer>> persistent_buffers;
  /// By handle.
  std::map<std::uintptr_t, PartitionedBuffer> partitioned_sends;
  /// Where requests were made, by handle, while they exist.
  std::map<std::uintptr_t, CallPlace> request_places;
  /// Persistent sends, by handle: the message that each start sends.
  std::map<std::uintptr_t, SentMessage> persistent_sends;
  /// Messages of matched probes, by handle.
  std::map<std::uintptr_t, SentMessage> set_aside;
  /// What depended on the order in which messages came: how often, and what came of it.
  std::uint64_t decision_count = 0;
  std::uint64_t decisions = hash_of("");

  void decide(std::int64_t result) {
    ++decision_count;
    decisions = hash_of(std::to_string(result), decisions);
  }

  /// A message that was too long has been reported; the error of its receive follows.
  bool is_truncation_reported = false;
  /// A finding says why the call fails.
  bool is_error_explained = false;
};

Checker::Checker(const std::string& folder, std::int32_t rank_count)
    : findings_(folder), collectives_(findings_), windows_(findings_) {
  (void)check_of(rank_count - 1);
}

Checker::~Checker() = default;

Checker::RankCheck& Checker::check_of(std::int32_t rank) {
  SORREL_ASSERT(rank >= 0, "rank %d", rank);
  const auto index = static_cast<std::size_t>(rank);
  while (ranks_.size() <= index)
    ranks_.push_back(std::make_unique<RankCheck>(findings_));
  SORREL_ASSERT(ranks_[index] != nullptr, "rank %d is not checked", rank);
  return *ranks_[index];
}

Checker::RankCheck& Checker::check_of(const RankState& self) {
  return check_of(self.world_rank);
}

const Checker::ActiveCall* Checker::active_call_of(std::int32_t rank) const {
  const auto index = static_cast<std::size_t>(rank);
  return index < ranks_.size() ? ranks_[index]->active : nullptr;
}

CallPlace Checker::place_of(const ActiveCall& active) const {
  return {.rank = active.self.world_rank,
          .name = active.call.name(),
          .site = active.call.site(),
          .script = active.call.script()};
}

const char* Checker::kept_place(std::string_view script) {
  if (script.empty()) return nullptr;
  const auto known = script_places_.find(script);
  return (known != script_places_.end() ? known : script_places_.emplace(script).first)->c_str();
}

int Checker::begin(RankState& self, sorrel_checked_call& raw) {
  RankCheck& rank = check_of(self);
  auto* active = new ActiveCall(self, rank, raw);
  raw.state = active;
  raw.outer = rank.active != nullptr ? &rank.active->raw : nullptr;
  rank.active = active;
  self.services().traced_site = raw.site;
  if (!mpi::is_running(self.phase)) return 0;
  rank.buffers.settle();
  active->call.for_each_handle(
      [&](const std::intptr_t& handle, ArgumentKind kind, Direction direction) {
        if (direction == Direction::inout && is_own_object(word_of(handle)))
          active->before.push_back({kind, word_of(handle), &handle});
      });
  begin_sends(*active);
  begin_buffers(*active);
  begin_window(*active);
  if (active->call.function() == Function::Finalize) {
    report_leaks(rank);
    findings_.add_outcome(self.world_rank, rank.decision_count, rank.decisions);
  }
  int change = begin_collective(*active);
  if (is_standard_send(active->call.function())) change |= sorrel_check_synchronous;
  return change;
}

void Checker::end(sorrel_checked_call& raw, int error_class) {
  auto* active = static_cast<ActiveCall*>(raw.state);
  SORREL_CHECK(active != nullptr && &active->raw == &raw, "a call ends that has not begun");
  RankCheck& rank = active->rank;
  rank.buffers.settle();
  rank.is_error_explained = false;
  if (error_class != MPI_SUCCESS) {
    for (const std::uint64_t number : active->sent)
      rank.sent.remove(number);
    rank.buffers.drop(active->buffers);
    // A wait completes requests also where one of them has failed.
    if (mpi::is_running(active->self.phase)) track_requests(*active);
  } else if (mpi::is_running(active->self.phase)) {
    track_handles(*active);
    track_partitions(*active);
    track_window(*active);
    track_decision(*active);
    track_matched_probe(*active);
  }
  rank.active = raw.outer == nullptr ? nullptr : static_cast<ActiveCall*>(raw.outer->state);
  active->self.services().traced_site = raw.outer == nullptr ? nullptr : raw.outer->site;
  delete active;
}

void Checker::begin_sends(ActiveCall& active) {
  const CheckedCall& call = active.call;
  switch (call.function()) {
    case Function::Sendrecv:
    case Function::Isendrecv:
      return add_send(active, "sendcount", "sendtype", "dest", "sendtag");
    case Function::Sendrecv_replace:
    case Function::Isendrecv_replace:
      return add_send(active, "count", "datatype", "dest", "sendtag");
    case Function::Start:
      if (const auto* handle = call.pointer<const MPI_Request>("request"); handle != nullptr)
        start_persistent(active, *handle);
      return;
    case Function::Startall: {
      const auto* handles = call.pointer<const MPI_Request>("array_of_requests");
      for (std::intptr_t i = 0; handles != nullptr && i < call.word("count"); ++i)
        start_persistent(active, handles[i]);
      return;
    }
    case Function::Mrecv:
    case Function::Imrecv:
      if (const auto* handle = call.pointer<const MPI_Message>("message"); handle != nullptr)
        active.message = reinterpret_cast<std::uintptr_t>(*handle);
      return;
    default:
      if (is_send(call.function())) add_send(active, "count", "datatype", "dest", "tag");
      return;
  }
}

void Checker::add_send(ActiveCall& active,
                       const char* count,
                       const char* datatype,
                       const char* destination,
                       const char* tag) {
  auto message =
      message_of(active.self, active.call, place_of(active), count, datatype, destination, tag);
  if (message) active.sent.push_back(active.rank.sent.add(*std::move(message)));
}

void Checker::start_persistent(ActiveCall& active, MPI_Request handle) {
  const auto found = active.rank.persistent_sends.find(reinterpret_cast<std::uintptr_t>(handle));
  if (found != active.rank.persistent_sends.end())
    active.sent.push_back(active.rank.sent.add(found->second));
}

int Checker::begin_collective(ActiveCall& active) {
  const CheckedCall& call = active.call;
  if (!collectives_.has(call)) return 0;
  const char* name = communicator_argument(call);
  if (name == nullptr) return 0;
  const Comm* comm = active.self.comm_of(call.handle<MPI_Comm>(name));
  if (comm == nullptr) return 0;
  if (!collectives_.add(active.self, *comm, call)) end_mismatch(active);
  // Between processes, a comparison of the calls waits for all members.
  return comm->inter == nullptr && comm->shared->processes() == nullptr ? sorrel_check_barrier : 0;
}

void Checker::end_mismatch(const ActiveCall& active) {
  active.self.world->job().end_job(
      &active.self, 1,
      text_of("rank %d: %s does not match the collective call of another rank, so that no rank can "
              "continue",
              active.self.world_rank, active.call.name())
          .c_str());
}

std::optional<CollectiveRecord> Checker::record_between_processes(RankState& self, MPI_Comm* comm) {
  const ActiveCall* active = check_of(self).active;
  if (active == nullptr || !mpi::is_running(self.phase)) return std::nullopt;
  const CheckedCall& call = active->call;
  if (call.function() == Function::Finalize) {
    *comm = MPI_COMM_WORLD;
  } else {
    const char* name = collectives_.has(call) ? communicator_argument(call) : nullptr;
    if (name == nullptr || CollectiveOrder::may_return_early(call)) return std::nullopt;
    *comm = call.handle<MPI_Comm>(name);
  }
  const Comm* members = self.comm_of(*comm);
  if (members == nullptr || members->inter != nullptr || members->shared->processes() == nullptr)
    return std::nullopt;
  CollectiveRecord record = collectives_.record_of(self, *members, call);
  const CodeSite site = findings_.site_of(place_of(*active));
  record.path.add(site.path);
  record.offset = site.offset;
  record.script.add(site.script);
  return record;
}

void Checker::add_difference(RankState& self,
                             const CollectiveRecord& own,
                             const CollectiveRecord& other) {
  const ActiveCall& active = *check_of(self).active;
  if (!collectives_.add_difference(own, place_of(active), other)) end_mismatch(active);
}

void Checker::begin_buffers(ActiveCall& active) {
  const CheckedCall& call = active.call;
  // Calls without a communicator have buffers of their own rank only.
  const Comm* comm = call.has("comm") ? active.self.comm_of(call.handle<MPI_Comm>("comm"))
                                      : &active.self.self_comm;
  if (comm == nullptr) return;
  std::vector<UsedBuffer> used = buffers_of(call, *comm);
  if (used.empty()) return;
  // The library may reject the call for the same reason.
  const bool is_aliased = active.rank.buffers.find_aliases(used, place_of(active));
  active.rank.is_error_explained = is_aliased;
  if (is_persistent(call)) return;
  const Function function = call.function();
  const bool is_received = function == Function::Irecv || function == Function::Imrecv ||
                           function == Function::Isendrecv;
  active.buffers = active.rank.buffers.begin(std::move(used), place_of(active),
                                             is_aliased || !call.has("request") ? Compared::nothing
                                             : is_received ? Compared::everything
                                                           : Compared::sent);
}

/// Which of several requests was complete, or whether one was, may differ in another run.
void Checker::track_decision(ActiveCall& active) {
  const CheckedCall& call = active.call;
  switch (call.function()) {
    case Function::Waitany:
      return active.rank.decide(*call.pointer<const int>("indx"));
    case Function::Testany:
      if (*call.pointer<const int>("flag") != 0)
        active.rank.decide(*call.pointer<const int>("indx"));
      return;
    case Function::Waitsome:
    case Function::Testsome:
      return active.rank.decide(*call.pointer<const int>("outcount"));
    case Function::Probe:
    case Function::Mprobe:
      if (call.word("source") != MPI_ANY_SOURCE) return;
      active.rank.decide(call.pointer<const MPI_Status>("status") == MPI_STATUS_IGNORE
                             ? MPI_ANY_SOURCE
                             : call.pointer<const MPI_Status>("status")->MPI_SOURCE);
      return;
    case Function::Iprobe:
    case Function::Improbe:
    case Function::Test:
    case Function::Testall:
      // How often a program polls is no result.
    case Function::Fetch_and_op:
    case Function::Compare_and_swap:
    case Function::Get_accumulate:
    case Function::Rget_accumulate:
    case Function::Win_lock:
    case Function::File_read_shared:
    case Function::File_write_shared:
    case Function::File_iread_shared:
    case Function::File_iwrite_shared:
      // Which rank comes first shows in memory, or in a file, later.
      ++active.rank.decision_count;
      return;
    default:
      return;
  }
}

void Checker::begin_window(ActiveCall& active) {
  const CheckedCall& call = active.call;
  if (call.has("comm") || call.has("request") || call.has("array_of_requests"))
    windows_.on_communication(active.self.world_rank);
  active.win = window_of(call);
  if (active.win == nullptr) return;
  if (call.has("target_rank")) {
    active.rank.is_error_explained =
        active.rank.buffers.find_aliases(origin_buffers_of(call), place_of(active));
    return windows_.begin(*active.win, call, place_of(active));
  }
  switch (call.function()) {
    case Function::Win_free:
      windows_.free(*active.win, place_of(active));
      break;
    case Function::Win_fence:
    case Function::Win_complete:
    case Function::Win_unlock:
    case Function::Win_unlock_all:
    case Function::Win_flush:
    case Function::Win_flush_all:
    case Function::Win_flush_local:
    case Function::Win_flush_local_all:
      break;
    default:
      return;
  }
  windows_.begin_synchronization(*active.win, call);
  const bool is_one = call.has("rank");
  const auto target = static_cast<std::int32_t>(is_one ? call.word("rank") : 0);
  for (std::int32_t i = target; i < (is_one ? target + 1 : active.win->size()); ++i)
    active.rank.buffers.complete_all(active.win, target_key(*active.win, i));
}

void Checker::track_window(ActiveCall& active) {
  const CheckedCall& call = active.call;
  // A window that has been freed is no longer there.
  if (active.win == nullptr || call.function() == Function::Win_free) return;
  if (!call.has("target_rank")) return windows_.end_synchronization(*active.win, call);
  const auto target = static_cast<std::int32_t>(call.word("target_rank"));
  if (target < 0) return;
  windows_.add(*active.win, call, place_of(active));
  std::vector<UsedBuffer> used = origin_buffers_of(call);
  if (used.empty()) return;
  // Results from a target in another process come later.
  const std::uint64_t number = active.rank.buffers.begin(
      std::move(used), place_of(active),
      active.win->target(target).is_here ? Compared::everything : Compared::sent);
  active.rank.buffers.set_target(number, active.win, target_key(*active.win, target));
  if (!call.has("request")) return;
  const auto* request = call.pointer<const std::intptr_t>("request");
  active.rank.buffers.set_request(number, word_of(*request), call.own_variable(request));
}

void Checker::track_handles(ActiveCall& active) {
  const CheckedCall& call = active.call;
  RankCheck& rank = active.rank;
  const CallPlace place = place_of(active);
  std::size_t new_count_max = new_handle_count(call);
  bool has_request = false;
  call.for_each_handle([&](const std::intptr_t& handle, ArgumentKind kind, Direction direction) {
    const std::uintptr_t own = word_of(handle);
    if (direction != Direction::out || new_count_max == 0) return;
    --new_count_max;
    if (!is_own_object(own)) return;
    rank.handles.add({.kind = kind, .handle = own, .made = place});
    if (kind != ArgumentKind::request) return;
    has_request = true;
    rank.request_places[own] = place;
    rank.buffers.set_request(active.buffers, own, call.own_variable(&handle));
    if (call.function() == Function::Psend_init) {
      rank.partitioned_sends[own] = {
          .buffer = call.pointer<const void>("buf"),
          .type = mpi::datatype_from_handle(call.handle<MPI_Datatype>("datatype")),
          .count = call.word("count")};
    }
    if (!is_persistent_message(call.function())) return;
    const Comm* comm = active.self.comm_of(call.handle<MPI_Comm>("comm"));
    rank.persistent_buffers[own] = buffers_of(call, *comm);
    const bool is_receive = call.function() == Function::Recv_init;
    const auto message =
        is_receive ? std::nullopt
                   : message_of(active.self, call, place, "count", "datatype", "dest", "tag");
    if (message) rank.persistent_sends[own] = *message;
  });
  if (!has_request) rank.buffers.drop(active.buffers);
  track_requests(active);
}

/// The program must not change a partition of a send from here on until the send is complete.
void Checker::track_partitions(ActiveCall& active) {
  const CheckedCall& call = active.call;
  std::int64_t first = 0;
  std::int64_t last = 0;
  const int* list = nullptr;
  switch (call.function()) {
    case Function::Pready:
      first = last = call.word("partition");
      break;
    case Function::Pready_range:
      first = call.word("partition_low");
      last = call.word("partition_high");
      break;
    case Function::Pready_list:
      last = call.word("length") - 1;
      list = call.pointer<const int>("array_of_partitions");
      break;
    default:
      return;
  }
  const auto handle = reinterpret_cast<std::uintptr_t>(call.handle<MPI_Request>("request"));
  const auto found = active.rank.partitioned_sends.find(handle);
  if (found == active.rank.partitioned_sends.end()) return;
  const PartitionedBuffer& send = found->second;
  for (std::int64_t i = first; i <= last; ++i) {
    const std::uint64_t number = active.rank.buffers.begin(
        partition_of(send.buffer, *send.type, send.count, list == nullptr ? i : list[i]),
        place_of(active), Compared::sent);
    active.rank.buffers.set_request(number, handle, nullptr);
  }
}

/// The handle is in its variable as before the call.
void Checker::track_kept_request(ActiveCall& active, std::uintptr_t handle, const void* variable) {
  RankCheck& rank = active.rank;
  const Function function = active.call.function();
  const bool is_start = function == Function::Start || function == Function::Startall;
  SORREL_ASSERT(is_own_object(handle), "the handle %zu is no request", std::size_t{handle});
  const auto* request = reinterpret_cast<const Request*>(handle);
  if (rank.partitioned_sends.contains(handle)) {
    if (!is_start && !request->is_active) rank.buffers.complete_partitions(handle);
    return;
  }
  const auto buffers = rank.persistent_buffers.find(handle);
  if (buffers == rank.persistent_buffers.end() || buffers->second.empty()) return;
  if (is_start && request->is_active) {
    // A message that has come within this call is in the buffer already.
    const std::uint64_t number = rank.buffers.begin(
        buffers->second, place_of(active),
        buffers->second.front().is_written ? Compared::everything : Compared::sent);
    rank.buffers.set_request(number, handle, variable);
  } else if (!is_start && !request->is_active) {
    rank.buffers.complete(handle, variable);
  }
}

void Checker::track_ended_request(ActiveCall& active, std::uintptr_t handle, const void* variable) {
  RankCheck& rank = active.rank;
  if (active.call.function() == Function::Request_free) {
    rank.buffers.forget(handle);
  } else {
    rank.buffers.complete(handle, variable);
    windows_.complete(active.self.world_rank, handle, variable);
  }
  rank.request_places.erase(handle);
  rank.persistent_sends.erase(handle);
  rank.persistent_buffers.erase(handle);
  rank.partitioned_sends.erase(handle);
}

/// Handles that the call has ended are no longer in their variables.
void Checker::track_requests(ActiveCall& active) {
  RankCheck& rank = active.rank;
  for (const ActiveCall::Before& before : active.before) {
    SORREL_ASSERT(before.variable != nullptr, "a handle without a variable");
    const auto after = *static_cast<const std::uintptr_t*>(before.variable);
    const bool is_kept = after == before.handle;
    if (!is_kept) rank.handles.remove(before.kind, before.handle);
    if (before.kind != ArgumentKind::request) continue;
    const void* const variable = active.call.own_variable(before.variable);
    if (is_kept) {
      track_kept_request(active, before.handle, variable);
    } else {
      track_ended_request(active, before.handle, variable);
    }
  }
  if (active.call.function() != Function::Cancel) return;
  for (const ActiveCall::Before& before : active.before)
    rank.buffers.forget(before.handle);
}

/// A matched probe takes its message out of the order of its envelope.
void Checker::track_matched_probe(ActiveCall& active) {
  const CheckedCall& call = active.call;
  if (call.function() != Function::Mprobe && call.function() != Function::Improbe) return;
  if (new_handle_count(call) == 0) return;
  const auto handle = reinterpret_cast<std::uintptr_t>(*call.pointer<const MPI_Message>("message"));
  if (!is_own_object(handle)) return;
  const auto* message = reinterpret_cast<const mpi::Message*>(handle);
  const Comm* comm = active.self.comm_of(call.handle<MPI_Comm>("comm"));
  if (comm == nullptr) return;
  const std::int32_t source = comm->shared->group()->world_rank(message->envelope.source);
  auto sent = check_of(source).sent.take(message->envelope.context, active.self.world_rank,
                                         message->envelope.tag);
  if (sent) active.rank.set_aside[handle] = *std::move(sent);
}

void Checker::report_leaks(RankCheck& rank) {
  for (const MadeHandle& made : rank.handles.take_all()) {
    std::string text = text_of("the %s of %s is not freed before MPI_Finalize (%s)",
                               noun_of(made.kind), made.made.name, end_of(made.kind));
    if (made.kind == ArgumentKind::request) {
      const auto* request = reinterpret_cast<const Request*>(made.handle);
      if (request->is_active)
        text = text_of("the request of %s is not completed before MPI_Finalize (%s)",
                       made.made.name, end_of(made.kind));
    }
    findings_.add({.kind = leak_of(made.kind), .place = made.made, .text = text});
  }
}

void Checker::on_error(RankState& self, int error_class, const char* detail, bool is_fatal) {
  RankCheck& rank = check_of(self);
  const bool is_known =
      std::exchange(rank.is_error_explained, false) ||
      (error_class == MPI_ERR_TRUNCATE && std::exchange(rank.is_truncation_reported, false));
  if (is_known || (!is_fatal && is_about_outside(error_class))) return;
  const CallPlace place =
      rank.active != nullptr
          ? place_of(*rank.active)
          : CallPlace{.rank = self.world_rank, .name = self.fiber.call, .site = nullptr};
  // The program raises it.
  if (place.name != nullptr && std::string_view(place.name).ends_with("_call_errhandler")) return;
  findings_.add({.kind = kind_of_error(error_class),
                 .place = place,
                 .text = text_of("%s%s%s", mpi::error_string(error_class),
                                 *detail == '\0' ? "" : ": ", detail)});
}

void Checker::on_receive(const Request& receive, const mpi::Envelope& envelope, std::size_t bytes) {
  const RankState& self = *receive.owner;
  RankCheck& rank = check_of(self);
  const mpi::CommShared& shared = *receive.comm->shared;
  const bool is_remote = envelope.source >= 0 && envelope.source < shared.size() &&
                         !self.world->is_here(shared.group()->world_rank(envelope.source));
  rank.buffers.on_arrival(receive.buffer, is_remote);
  if (receive.peer == MPI_ANY_SOURCE) rank.decide(envelope.source);
  std::optional<SentMessage> sent;
  ActiveCall* active = rank.active;
  if (active != nullptr && active->message != 0) {
    if (const auto found = rank.set_aside.find(active->message); found != rank.set_aside.end()) {
      sent = std::move(found->second);
      rank.set_aside.erase(found);
    }
  }
  if (!sent) {
    if (envelope.source < 0 || envelope.source >= shared.size()) return;
    const std::int32_t source = shared.group()->world_rank(envelope.source);
    sent = check_of(source).sent.take(envelope.context, self.world_rank, envelope.tag);
  }
  if (!sent) return;
  const auto made = rank.request_places.find(
      reinterpret_cast<std::uintptr_t>(handle_of(const_cast<Request&>(receive))));
  CallPlace place{.rank = self.world_rank, .name = self.fiber.call, .site = self.fiber.call_site};
  if (made != rank.request_places.end()) {
    place = made->second;
  } else if (active != nullptr) {
    place = place_of(*active);
  }
  compare_types(*sent, place, receive, bytes);
}

void Checker::compare_types(const SentMessage& sent,
                            const CallPlace& receiver,
                            const Request& receive,
                            std::size_t bytes) {
  const TypeSignature expected(*receive.type, receive.element_count);
  if (bytes > expected.bytes()) {
    check_of(*receive.owner).is_truncation_reported = true;
    findings_.add(
        {.kind = "message-truncated",
         .place = receiver,
         .text = text_of("the message of %s does not fit: %s sent, %s expected", sent.place.name,
                         sent.signature.text().c_str(), expected.text().c_str())});
    findings_.add_place(sent.place, "the send");
    return;
  }
  const TypeSignature::Difference difference = sent.signature.compared_with(expected);
  if (difference.kind != TypeSignature::Difference::Kind::type) return;
  findings_.add({.kind = "message-type",
                 .place = receiver,
                 .text = text_of("the datatypes of send and receive differ: element %llu is %s in "
                                 "%s and %s in %s",
                                 static_cast<unsigned long long>(difference.position),
                                 difference.here.example->label(), sent.place.name,
                                 difference.there.example->label(), receiver.name)});
  findings_.add_place(sent.place, "the send");
}

void Checker::on_deadlock(std::span<const std::int32_t> ranks) {
  constexpr std::size_t place_count_max = 16;
  const ActiveCall* first = nullptr;
  bool is_hidden = false;
  std::vector<const ActiveCall*> waiting;
  for (const std::int32_t number : ranks) {
    const ActiveCall* active = active_call_of(number);
    if (active == nullptr) continue;
    if (first == nullptr) first = active;
    is_hidden =
        is_hidden || active->rank.sent.has_standard() || need_not_wait(active->self, active->call);
    waiting.push_back(active);
  }
  if (first == nullptr) return;
  findings_.add(
      {.kind = is_hidden ? "deadlock-unbuffered" : "deadlock",
       .place = place_of(*first),
       .text = is_hidden ? text_of("%zu ranks wait for ever where messages are not buffered and "
                                   "collectives wait for all members",
                                   ranks.size())
                         : text_of("%zu ranks wait for ever", ranks.size())});
  for (std::size_t i = 1; i < std::min(waiting.size(), place_count_max); ++i)
    findings_.add_place(place_of(*waiting[i]), "waits, too");
}

const char* Checker::name_of_call(const RankState& self) const {
  const ActiveCall* active = active_call_of(self.world_rank);
  return active != nullptr ? active->call.name() : self.fiber.call;
}

void Checker::on_crash(const RankState& self,
                       const char* what,
                       const void* site,
                       const char* script) {
  const ActiveCall* active = active_call_of(self.world_rank);
  const CallPlace outside{.rank = self.world_rank, .name = "", .site = site, .script = script};
  findings_.add({.kind = "crash",
                 .place = active == nullptr ? outside : place_of(*active),
                 .text = text_of("the rank crashes: %s", what)});
}

void Checker::on_missing_finalize(const RankState& self) {
  findings_.add({.kind = "finalize",
                 .place = {.rank = self.world_rank, .name = "", .site = nullptr},
                 .text = "the rank ends without MPI_Finalize"});
}

}  // namespace sorrel::check
