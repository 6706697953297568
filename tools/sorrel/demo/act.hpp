//! The acts of `sorrel demo`: each runs installed programs with this command, and says in one line
//! what came of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "tools/sorrel/common/installation.hpp"

namespace sorrel::tool {

/// Where the acts are played.
struct DemoStage {
  Installation installation;
  std::string programs = {};  ///< the folder of the compiled tools/demo
  std::uint64_t cores = 1;    ///< that this process may use
  bool has_colours = false;
  bool is_live = false;  ///< lines can be drawn again

  /// `sorrel run` with these options of a program of the demo.
  [[nodiscard]] std::vector<std::string> run(const std::vector<std::string>& options,
                                             const std::string& program) const;
};

struct ActResult {
  bool is_true = false;  ///< what the act is to show has happened
  std::string line;
};

/// The longest that one command of an act may take, so that the demo ends on a busy machine, too.
inline constexpr std::chrono::seconds act_limit{15};

[[nodiscard]] ActResult act_many(const DemoStage& stage);
[[nodiscard]] ActResult act_hang(const DemoStage& stage);
[[nodiscard]] ActResult act_survive(const DemoStage& stage);
[[nodiscard]] ActResult act_latency(const DemoStage& stage);

}  // namespace sorrel::tool
