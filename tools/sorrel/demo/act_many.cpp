// Act A: more ranks than cores, beside the other MPIs of this machine.

#include <algorithm>
#include <cstdlib>
#include <fmt/core.h>
#include <span>
#include <unistd.h>

#include "tools/sorrel/common/child_command.hpp"
#include "tools/sorrel/demo/act.hpp"
#include "tools/sorrel/machine/other_mpi.hpp"
#include "tools/sorrel/run/children.hpp"

namespace sorrel::tool {

namespace {

constexpr std::uint64_t few_ranks = 32;
constexpr std::uint64_t many_ranks = 4096;
/// Other MPIs may need minutes for more processes than cores.
constexpr std::chrono::seconds peer_limit{3};
constexpr std::size_t peers_max = 2;

bool is_right(const ChildCommand& child, std::uint64_t ranks) {
  return child.has_succeeded() &&
         child.output().find(fmt::format("{} ranks, 0 wrong sums\n", ranks)) != std::string::npos;
}

/// "Open MPI 4.1.4 takes 4.2 s"
std::string peer_text(const DemoStage& stage, const OtherMpi& mpi) {
  std::vector<std::string> words = mpi.start(few_ranks, stage.cores);
  words.insert(words.end(), {stage.programs + "/with_library", mpi.library,
                             fmt::format("{}/{}/many.so", stage.programs, mpi.family)});
  ChildCommand child(words, {.environment = mpi.environment(false, false)});
  const bool is_late = !child.run_to_end(peer_limit);
  end_children();
  if (is_late) return fmt::format("{} more than {} s", mpi.name, peer_limit.count());
  if (!is_right(child, few_ranks)) return fmt::format("{} fails", mpi.name);
  return fmt::format("{} {:.2f} s", mpi.name, child.seconds());
}

std::string text_of_peers(const DemoStage& stage) {
  std::string text;
  std::size_t count = 0;
  for (const OtherMpi& mpi : find_other_mpis(std::getenv, stage.installation)) {
    if (mpi.library.empty() || count == peers_max) continue;
    text += fmt::format(", {}", peer_text(stage, mpi));
    ++count;
  }
  return text;
}

}  // namespace

ActResult act_many(const DemoStage& stage) {
  const auto run = [&](std::uint64_t ranks) {
    return stage.run({"-n", fmt::format("{}", ranks)}, "many");
  };
  ChildCommand few(run(few_ranks), {});
  few.run_to_end(act_limit);
  if (!is_right(few, few_ranks))
    return {false, fmt::format("{} ranks: {}", few_ranks, few.text_of_end())};
  ChildCommand many(run(many_ranks), {});
  many.run_to_end(act_limit);
  const std::string text =
      fmt::format("{} ranks {:.2f} s{}", few_ranks, few.seconds(), text_of_peers(stage));
  if (!is_right(many, many_ranks))
    return {false, fmt::format("{}; {} ranks: {}", text, many_ranks, many.text_of_end())};
  return {true, fmt::format("{}; {} ranks {:.2f} s", text, many_ranks, many.seconds())};
}

}  // namespace sorrel::tool
