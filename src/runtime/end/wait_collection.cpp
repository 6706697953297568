#include "runtime/end/wait_collection.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "base/check.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "mpi/match/rank_state.hpp"
#include "mpi/match/request.hpp"
#include "mpi/match/wait.hpp"
#include "runtime/live/rank_activity.hpp"
#include "runtime/python/lines.hpp"
#include "symbols/source_lines.hpp"

namespace sorrel::runtime {

namespace {

std::string explanation_of(const mpi::RankState& rank) {
  const mpi::WaitExplanation& given = rank.wait_explanation;
  if (given.explain == nullptr) return {};
  std::array<char, 512> text{};
  given.explain(given.argument, text.data(), text.size());
  text.back() = '\0';
  return printable(text.data());
}

/// What a rank waits for that a message could be.
struct Wanted {
  mpi::Envelope envelope;
  const mpi::Comm* comm;
};

std::vector<Wanted> wanted_by(const mpi::RankState& rank) {
  std::vector<Wanted> wanted;
  const mpi::WaitDetail& detail = rank.wait_detail;
  const auto add = [&](const mpi::Comm& comm, std::int32_t source, std::int32_t tag) {
    wanted.push_back({.envelope = {.context = comm.shared->context(), .source = source, .tag = tag},
                      .comm = &comm});
  };
  if (rank.wait.kind == mpi::WaitRecord::Kind::probe) add(*rank.wait.comm, detail.peer, detail.tag);
  if (rank.wait.kind != mpi::WaitRecord::Kind::requests) return wanted;
  const mpi::RequestList list{detail.requests, detail.request_count};
  SORREL_ASSERT(list.count >= 0, "rank %d waits for %d requests", rank.world_rank, list.count);
  for (std::int32_t i = 0; i < list.count; ++i) {
    const mpi::Request* request = list[i];
    if (request != nullptr && request->kind == mpi::Request::Kind::receive &&
        request->message.is_linked())
      add(*request->comm, request->peer, request->tag);
  }
  return wanted;
}

/// In what a message differs from a receive: bits.
enum Difference : std::uint32_t { in_tag = 1, in_source = 2, in_comm = 4 };

std::uint32_t difference(const mpi::Envelope& message, const mpi::Envelope& wanted) {
  const bool has_tag = wanted.tag == MPI_ANY_TAG || wanted.tag == message.tag;
  const bool has_source = wanted.source == MPI_ANY_SOURCE || wanted.source == message.source;
  return (has_tag ? 0U : in_tag) | (has_source ? 0U : in_source) |
         (wanted.context == message.context ? 0U : in_comm);
}

std::string name_of(const mpi::RankState& rank, const mpi::Comm& comm) {
  FixedText<MPI_MAX_OBJECT_NAME> name;
  add_name(name, rank, comm);
  return name.c_str();
}

/// "it waits for tag 7", of the receive that differs least; empty if the rank waits for none.
std::string reason_for(const mpi::RankState& rank,
                       const mpi::Envelope& message,
                       const std::vector<Wanted>& wanted) {
  const auto nearest = std::ranges::min_element(wanted, {}, [&](const Wanted& receive) {
    return std::popcount(difference(message, receive.envelope));
  });
  if (nearest == wanted.end()) return {};
  const std::uint32_t what = difference(message, nearest->envelope);
  std::string text;
  const auto add = [&](Difference bit, const std::string& words) {
    if ((what & bit) != 0) text += (text.empty() ? ": it waits " : ", ") + words;
  };
  add(in_source, text_of("for rank %d", nearest->envelope.source));
  add(in_tag, text_of("for tag %d", nearest->envelope.tag));
  add(in_comm, "on " + name_of(rank, *nearest->comm));
  return text;
}

/// The communicator with this context, as far as it can be found.
std::string comm_name(const mpi::RankState& rank,
                      std::uint32_t context,
                      const std::vector<Wanted>& wanted) {
  for (const mpi::Comm* comm : {&rank.world_comm, &rank.self_comm}) {
    if (comm->shared->context() == context) return name_of(rank, *comm);
  }
  for (const Wanted& receive : wanted) {
    if (receive.envelope.context == context) return name_of(rank, *receive.comm);
  }
  return text_of("communicator %u", context);
}

/// The messages of the program that have come to a rank, those alike as one.
void add_unreceived(report::WaitTable& table, const mpi::RankState& rank) {
  constexpr std::size_t kind_count_max = 4;

  struct Kind {
    mpi::Envelope envelope;
    std::size_t bytes;
    std::uint64_t count;
  };

  std::vector<Kind> kinds;
  std::uint64_t left_out = 0;
  rank.unexpected.for_each([&](const mpi::MatchEntry& entry) {
    if (!entry.envelope.is_user_tag()) return;
    const std::size_t bytes = static_cast<const mpi::Message&>(entry).bytes;
    const auto found = std::ranges::find_if(kinds, [&](const Kind& kind) {
      return kind.envelope == entry.envelope && kind.bytes == bytes;
    });
    if (found != kinds.end()) {
      ++found->count;
    } else if (kinds.size() < kind_count_max) {
      kinds.push_back({.envelope = entry.envelope, .bytes = bytes, .count = 1});
    } else {
      ++left_out;
    }
  });
  const std::vector<Wanted> wanted = wanted_by(rank);
  for (const Kind& kind : kinds) {
    const std::string name = comm_name(rank, kind.envelope.context, wanted);
    table.add(report::Unreceived{
        .rank = rank.world_rank,
        .count = kind.count,
        .text = text_of("from %d with tag %d (%zu bytes, %s)", kind.envelope.source,
                        kind.envelope.tag, kind.bytes, name.c_str()) +
                reason_for(rank, kind.envelope, wanted)});
  }
  if (left_out > 0)
    table.add(
        report::Unreceived{.rank = rank.world_rank, .count = left_out, .text = "of other kinds"});
}

/// The members of the communicator in whose collective the rank waits.
void add_members(report::WaitTable& table, const mpi::RankState& rank) {
  if (rank.wait.kind != mpi::WaitRecord::Kind::collective) return;
  SORREL_ASSERT(rank.wait.comm != nullptr, "rank %d waits in a collective of no communicator",
                rank.world_rank);
  const mpi::CommShared& shared = *rank.wait.comm->shared;
  table.add_members(shared.context(), shared.size(),
                    [&](std::int32_t member) { return shared.group()->world_rank(member); });
}

}  // namespace

report::WaitTable waits_of(const std::vector<std::unique_ptr<mpi::ProcessWorld>>& worlds) {
  std::vector<const mpi::RankState*> ranks;
  std::vector<RankActivity> activities;
  std::vector<const void*> sites;
  for (const auto& world : worlds) {
    world->for_each_rank([&](const mpi::RankState& rank) {
      if (rank.fiber.state != core::FiberState::waiting) return;
      ranks.push_back(&rank);
      activities.push_back(activity_of(rank));
      sites.push_back(activities.back().call_site);
    });
  }
  const std::vector<std::string> places = symbols::source_lines(sites);
  SORREL_ASSERT(places.size() == ranks.size() && activities.size() == ranks.size(),
                "%zu places, %zu activities of %zu ranks", places.size(), activities.size(),
                ranks.size());
  if (has_python_lines()) find_python(PythonSearch::again);
  report::WaitTable table;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    report::RankWait wait = description_of(activities[i]);
    wait.place = places[i];
    // In a process that is a rank, the calling thread is the rank's.
    symbols::SourceText line;
    const bool is_own = ranks.size() == 1 && core::Worker::peek_user() == ranks[i];
    if (has_python_lines() &&
        (is_own ? describe_python({&line, 1})
                : describe_python_of(static_cast<std::size_t>(ranks[i]->place),
                                     PythonState::at_rest, {&line, 1})) > 0)
      wait.place = line.data();
    wait.explanation = explanation_of(*ranks[i]);
    table.add(std::move(wait));
    add_members(table, *ranks[i]);
    add_unreceived(table, *ranks[i]);
  }
  return table;
}

}  // namespace sorrel::runtime
