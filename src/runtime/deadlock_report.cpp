#include "runtime/deadlock_report.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <optional>
#include <vector>

#include "mpi/p2p/request.hpp"
#include "mpi/p2p/wait.hpp"
#include "mpi/rank_state.hpp"
#include "runtime/source_lines.hpp"

namespace sorrel::runtime {

namespace {

using mpi::RankState;
using mpi::Request;
using mpi::WaitNote;

// More rows than a screen has help nobody.
constexpr std::size_t row_count_max = 40;

/// One thing that a rank waits for.
struct Wait {
  const mpi::Comm* comm = nullptr;
  const char* direction = "";
  std::int32_t peer = MPI_UNDEFINED;  ///< Rank of the communicator, or MPI_ANY_SOURCE.
  std::int32_t tag = MPI_UNDEFINED;
  std::int32_t other_count = 0;  ///< Further requests of the same call.
};

[[gnu::format(printf, 2, 3)]] void append(std::string& text, const char* format, ...) {
  char piece[256];
  va_list values;
  va_start(values, format);
  std::vsnprintf(piece, sizeof piece, format, values);
  va_end(values);
  text += piece;
}

Wait wait_of(const RankState& rank) {
  const WaitNote& note = rank.wait;
  Wait wait;
  // A note keeps what earlier waits of another kind have left in it.
  if (note.kind == WaitNote::Kind::collective) wait.comm = note.comm;
  if (note.kind == WaitNote::Kind::probe) {
    wait.comm = note.comm;
    wait.direction = "from";
    wait.peer = rank.wait_detail.peer;
    wait.tag = rank.wait_detail.tag;
  }
  if (note.kind != WaitNote::Kind::requests) return wait;
  const mpi::RequestList list{rank.wait_detail.requests, rank.wait_detail.request_count};
  for (std::int32_t i = 0; i < list.count; ++i) {
    const Request* request = list[i];
    if (request == nullptr || request->completion.is_done()) continue;
    if (wait.comm != nullptr) {
      ++wait.other_count;
      continue;
    }
    wait.comm = request->comm;
    wait.direction = request->kind == Request::Kind::receive ? "from" : "to";
    wait.peer = request->peer;
    wait.tag = request->tag;
  }
  return wait;
}

bool is_waiting(const RankState& rank) {
  return rank.fiber.state == core::FiberState::waiting;
}

/// A rank of the job that this one waits for, if it can be named.
std::optional<std::int32_t> awaited_rank(const RankState& rank) {
  const Wait wait = wait_of(rank);
  if (wait.comm == nullptr) return std::nullopt;
  const mpi::CommShared& shared = *wait.comm->shared;
  if (rank.wait.kind != WaitNote::Kind::collective) {
    return wait.peer < 0 ? std::nullopt : std::optional(shared.group()->world_rank(wait.peer));
  }
  // The first member that is not in a collective of this communicator is who keeps the others
  // waiting.
  for (std::int32_t i = 0; i < shared.size(); ++i) {
    // Of ranks in other processes nothing is known here.
    if (!rank.world->is_here(shared.group()->world_rank(i))) continue;
    const RankState& member = shared.member(i);
    const bool is_there = is_waiting(member) && member.wait.kind == WaitNote::Kind::collective &&
                          member.wait.comm->shared == &shared;
    if (!is_there) return shared.group()->world_rank(i);
  }
  return std::nullopt;
}

std::string name_of(const RankState& rank, const mpi::Comm* comm) {
  if (comm == nullptr) return "-";
  if (comm == &rank.world_comm) return "MPI_COMM_WORLD";
  if (comm == &rank.self_comm) return "MPI_COMM_SELF";
  if (comm->name != nullptr && !comm->name->empty()) return *comm->name;
  std::string name;
  append(name, "communicator %u (%d ranks)", comm->shared->context(), comm->size());
  return name;
}

void append_row(std::string& text, const RankState& rank, const std::string& place) {
  const Wait wait = wait_of(rank);
  std::string peer = "-";
  if (wait.peer == MPI_ANY_SOURCE) {
    peer = "from any";
  } else if (wait.peer != MPI_UNDEFINED) {
    peer.clear();
    append(peer, "%s %d", wait.direction, wait.peer);
  }
  std::string tag = wait.tag == MPI_ANY_TAG ? "any" : "-";
  if (wait.tag >= 0) tag = std::to_string(wait.tag);
  if (wait.other_count > 0) append(peer, " +%d more", wait.other_count);
  append(text, "%6d  %-18s %-16s %8s  %-24s %s\n", rank.world_rank, rank.call, peer.c_str(),
         tag.c_str(), name_of(rank, wait.comm).c_str(), place.c_str());
}

void append_table(std::string& text, const std::vector<const RankState*>& waiting) {
  const std::size_t row_count = std::min(waiting.size(), row_count_max);
  std::vector<const void*> sites;
  for (std::size_t i = 0; i < row_count; ++i)
    sites.push_back(waiting[i]->call_site);
  const std::vector<std::string> places = source_lines(sites);
  append(text, "%6s  %-18s %-16s %8s  %-24s %s\n", "rank", "waits in", "for", "tag", "communicator",
         "at");
  for (std::size_t i = 0; i < row_count; ++i)
    append_row(text, *waiting[i], places[i]);
  if (waiting.size() > row_count)
    append(text, "        … and %zu more ranks\n", waiting.size() - row_count);
}

/// Follows who waits for whom until a rank comes twice or the trail ends.
void append_trail(std::string& text,
                  mpi::World& world,
                  const std::vector<const RankState*>& waiting) {
  std::vector<bool> is_visited(static_cast<std::size_t>(world.size()));
  for (const RankState* start : waiting) {
    std::vector<std::int32_t> trail;
    std::optional<std::int32_t> at = start->world_rank;
    while (at && !is_visited[static_cast<std::size_t>(*at)]) {
      is_visited[static_cast<std::size_t>(*at)] = true;
      trail.push_back(*at);
      if (!world.is_here(*at)) break;
      const RankState& rank = world.rank(*at);
      if (!is_waiting(rank)) {
        append(text, "rank %d has ended, and rank %d waits for it\n", *at,
               trail.size() > 1 ? trail[trail.size() - 2] : *at);
        return;
      }
      at = awaited_rank(rank);
    }
    const auto begin =
        at && world.is_here(*at) ? std::find(trail.begin(), trail.end(), *at) : trail.end();
    if (begin == trail.end()) continue;
    text += "cycle: ";
    for (auto step = begin; step != trail.end(); ++step)
      append(text, "%d waits for ", *step);
    append(text, "%d\n", *begin);
    return;
  }
}

}  // namespace

std::string deadlock_report(mpi::World& world) {
  std::vector<const RankState*> waiting;
  for (std::int32_t i = world.first_own_rank(); i < world.last_own_rank(); ++i) {
    if (is_waiting(world.rank(i))) waiting.push_back(&world.rank(i));
  }
  std::string text;
  const std::int32_t own_count = world.last_own_rank() - world.first_own_rank();
  if (own_count < world.size()) {
    append(
        text,
        "sorrel: deadlock: every process waits, and nothing is under way; in process %u %zu of %d "
        "ranks wait\n",
        world.own_process(), waiting.size(), own_count);
  } else {
    const bool has_ended_ranks = waiting.size() < static_cast<std::size_t>(world.size());
    append(text, "sorrel: deadlock: %zu of %d ranks wait%s, and nothing is under way\n",
           waiting.size(), world.size(), has_ended_ranks ? ", the others have ended" : "");
  }
  append_table(text, waiting);
  append_trail(text, world, waiting);
  return text;
}

}  // namespace sorrel::runtime
