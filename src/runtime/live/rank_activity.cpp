#include "runtime/live/rank_activity.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "base/printable.hpp"
#include "check/checked_job.hpp"
#include "core/later_balance.hpp"
#include "core/scheduler.hpp"
#include "mpi/match/call_site.hpp"
#include "mpi/match/request.hpp"
#include "mpi/match/wait.hpp"
#include "os/clock.hpp"

namespace sorrel::runtime {

namespace {

using mpi::RankState;
using mpi::Request;
using mpi::WaitRecord;

/// Reads a value that another thread may be changing.
template <class T>
[[gnu::no_sanitize("thread")]] T read_racy(const T& value) {
  return __atomic_load_n(&value, __ATOMIC_RELAXED);
}

/// The first operation of the rank's requests that is not complete; its communicator.
const mpi::Comm* add_request(RankActivity& activity, const mpi::RequestList& list) {
  const mpi::Comm* comm = nullptr;
  for (std::int32_t i = 0; i < list.count; ++i) {
    const Request* request = list[i];
    if (request == nullptr || request->completion.is_done()) continue;
    // No rank waits for a persistent request that has not been started.
    if (request->life == Request::Life::persistent && !request->is_active) continue;
    if (comm != nullptr) {
      ++activity.other_count;
      continue;
    }
    comm = request->comm;
    if (request->kind == Request::Kind::operation) {
      request->operation->name(activity.operation);
      activity.awaited = request->operation->awaited_rank();
      continue;
    }
    activity.direction = request->kind == Request::Kind::receive ? "from" : "to";
    activity.peer = request->peer;
    activity.tag = request->tag;
  }
  return comm;
}

/// The communicator of the operation that the rank waits for; null: none.
const mpi::Comm* add_operation(RankActivity& activity, const RankState& rank) {
  switch (rank.wait.kind) {
    case WaitRecord::Kind::none:
      return nullptr;
    case WaitRecord::Kind::collective:
      return rank.wait.comm;
    case WaitRecord::Kind::probe:
      activity.direction = "from";
      activity.peer = rank.wait_detail.peer;
      activity.tag = rank.wait_detail.tag;
      return rank.wait.comm;
    case WaitRecord::Kind::window:
      activity.direction = "for";
      activity.peer = rank.wait_detail.peer;
      return rank.wait.comm;
    case WaitRecord::Kind::requests:
      return add_request(activity, {rank.wait_detail.requests, rank.wait_detail.request_count});
  }
  return nullptr;
}

/// Where the program called MPI: in a Fortran binding, where the program called that.
const void* call_site_of(const RankState& rank) {
  const void* site = rank.fiber.call_site;
  if (rank.services_if_used == nullptr) return site;
  const mpi::RankServices& services = *rank.services_if_used;
  if (services.traced_site != nullptr) site = services.traced_site;
  return mpi::site_in_program(rank, site);
}

}  // namespace

void add_name(FixedText<MPI_MAX_OBJECT_NAME>& text, const RankState& rank, const mpi::Comm& comm) {
  if (&comm == &rank.world_comm) {
    text.add("MPI_COMM_WORLD");
  } else if (&comm == &rank.self_comm) {
    text.add("MPI_COMM_SELF");
  } else if (comm.name != nullptr && !comm.name->empty()) {
    add_printable(text, *comm.name);
  } else {
    text.add(comm.inter == nullptr ? "communicator " : "intercommunicator ");
    text.add(comm.shared->context()).add(" (");
    if (comm.inter != nullptr) text.add(local_size_of(comm)).add(" and ");
    text.add(comm.size());
    text.add(" ranks)");
  }
}

bool runs_flow_of(const RankState& rank) {
  return !rank.fiber.is_guest && core::Worker::current() == rank.worker &&
         mpi::is_in_main_fiber(rank);
}

bool stays_suspended(const core::Fiber& fiber) {
  // Idle workers may take a fiber that is ready, and a thread may go on.
  return fiber.state == core::FiberState::waiting ||
         (fiber.state == core::FiberState::ready && !fiber.is_guest &&
          !core::are_fibers_lent(fiber.worker->scheduler()));
}

const core::Worker* borrower_of(const RankState& rank) {
  SORREL_ASSERT(rank.worker != nullptr, "rank %d has no worker", rank.world_rank);
  core::Scheduler& scheduler = rank.worker->scheduler();
  for (std::uint32_t i = 0; i < scheduler.worker_count(); ++i) {
    if (scheduler.worker(i).borrowed() == &rank.fiber) return &scheduler.worker(i);
  }
  return nullptr;
}

RankActivity outline_of(const RankState& rank) {
  RankActivity activity;
  activity.rank = rank.world_rank;
  activity.worker = rank.worker->index();
  activity.state = read_racy(rank.fiber.state);
  if (activity.state == core::FiberState::lent) {
    if (const core::Worker* borrower = borrower_of(rank)) activity.worker = borrower->index();
  }
  activity.phase = read_racy(rank.phase);
  activity.call = read_racy(rank.fiber.call);
  activity.call_site = read_racy(rank.fiber.call_site);
  activity.is_in_wait = read_racy(rank.wait.kind) != WaitRecord::Kind::none;
  return activity;
}

RankActivity activity_of(const RankState& rank) {
  RankActivity activity = outline_of(rank);
  activity.call_site = call_site_of(rank);
  activity.call = check::name_of_call(rank);
  const mpi::Comm* comm = add_operation(activity, rank);
  if (comm == nullptr) return activity;
  add_name(activity.comm, rank, *comm);
  SORREL_ASSERT(comm->shared != nullptr, "rank %d waits in a communicator that has ended",
                rank.world_rank);
  const mpi::CommShared& shared = *comm->shared;
  if (rank.wait.kind == WaitRecord::Kind::collective) {
    activity.collective = shared.context();
  } else if (activity.peer >= 0) {
    activity.awaited = shared.group()->world_rank(activity.peer);
  }
  return activity;
}

FixedText<48> peer_of(const RankActivity& activity) {
  FixedText<48> text;
  if (!activity.operation.is_empty()) {
    text.add(activity.operation.text());
  } else if (activity.peer == MPI_ANY_SOURCE) {
    text.add("from any");
  } else if (activity.peer != MPI_UNDEFINED) {
    text.add(activity.direction).add(" ").add(activity.peer);
  } else {
    text.add("-");
  }
  if (activity.other_count > 0) text.add(" +").add(activity.other_count).add(" more");
  return text;
}

FixedText<80> peer_of(const program::OutsideSubject& subject) {
  constexpr std::int64_t tenth_ns = 100'000'000;
  const std::int64_t tenths =
      std::max<std::int64_t>(os::monotonic_ns() - subject.began_ns, 0) / tenth_ns;
  FixedText<80> text;
  text.add(subject.kind);
  if (subject.handle != 0) text.add(" ").add_hex(subject.handle);
  return text.add(", ").add(tenths / 10).add(".").add(tenths % 10).add(" s");
}

FixedText<16> tag_of(const RankActivity& activity) {
  FixedText<16> text;
  if (activity.tag >= 0) return text.add(activity.tag);
  return text.add(activity.tag == MPI_ANY_TAG ? "any" : "-");
}

report::RankWait description_of(const RankActivity& activity) {
  return {.rank = activity.rank,
          .state = {},
          .call = activity.call,
          .peer = peer_of(activity).c_str(),
          .tag = tag_of(activity).c_str(),
          .comm = activity.comm.is_empty() ? "-" : activity.comm.c_str(),
          .place = {},
          .explanation = {},
          .awaited = activity.awaited,
          .collective = activity.collective};
}

}  // namespace sorrel::runtime
