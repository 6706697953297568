#include "runtime/wait_collection.hpp"

#include <array>

#include "mpi/match/rank_state.hpp"
#include "runtime/rank_activity.hpp"
#include "runtime/source_lines.hpp"

namespace sorrel::runtime {

namespace {

std::string explanation_of(const mpi::RankState& rank) {
  const mpi::WaitExplanation& given = rank.wait_explanation;
  if (given.explain == nullptr) return {};
  std::array<char, 512> text{};
  given.explain(given.argument, text.data(), text.size());
  text.back() = '\0';
  return text.data();
}

/// The members of the communicator in whose collective the rank waits.
void add_members(WaitTable& table, const mpi::RankState& rank) {
  if (rank.wait.kind != mpi::WaitRecord::Kind::collective) return;
  const mpi::CommShared& shared = *rank.wait.comm->shared;
  table.add_members(shared.context(), shared.size(),
                    [&](std::int32_t member) { return shared.group()->world_rank(member); });
}

}  // namespace

WaitTable waits_of(const std::vector<std::unique_ptr<mpi::ProcessWorld>>& worlds) {
  std::vector<const mpi::RankState*> ranks;
  std::vector<RankActivity> activities;
  std::vector<const void*> sites;
  for (const auto& world : worlds) {
    for (std::int32_t i = world->first_own_rank(); i < world->last_own_rank(); ++i) {
      const mpi::RankState& rank = world->rank(i);
      if (rank.fiber.state != core::FiberState::waiting) continue;
      ranks.push_back(&rank);
      activities.push_back(activity_of(rank));
      sites.push_back(activities.back().call_site);
    }
  }
  const std::vector<std::string> places = source_lines(sites);
  WaitTable table;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    RankWait wait = description_of(activities[i]);
    wait.place = places[i];
    wait.explanation = explanation_of(*ranks[i]);
    table.add(std::move(wait));
    add_members(table, *ranks[i]);
  }
  return table;
}

}  // namespace sorrel::runtime
