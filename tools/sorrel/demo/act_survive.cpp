// Act C: a process of a job is killed, and the job goes on.

#include <algorithm>
#include <csignal>
#include <fmt/core.h>
#include <string_view>

#include "tools/sorrel/common/child_command.hpp"
#include "tools/sorrel/demo/act.hpp"
#include "tools/sorrel/run/children.hpp"

namespace sorrel::tool {

namespace {

constexpr int job_ranks = 64;
constexpr int job_processes = 4;
constexpr int job_steps = 100;  // of tools/demo/survive.c
constexpr int kill_at_step = 60;
constexpr std::chrono::milliseconds output_tick{20};

/// The last line of a job that has computed everything once.
std::string right_end() {
  const long total =
      static_cast<long>(job_ranks) * (job_ranks - 1) / 2 * job_steps * (job_steps + 1) / 2;
  return fmt::format("step {}, total {}\n", job_steps, total);
}

/// Waits until the program has printed something more; false: it has ended.
bool await_output(ChildCommand& child, std::size_t before) {
  while (child.output().size() <= before) {
    if (!child.progress(output_tick) || child.seconds() > static_cast<double>(act_limit.count()))
      return child.output().size() > before;
  }
  return true;
}

/// The number of the checkpoint from which the job went on, or "".
std::string checkpoint_in(const std::string& errors) {
  constexpr std::string_view words = "goes on from checkpoint ";
  const std::size_t found = errors.find(words);
  if (found == std::string::npos) return "";
  const std::size_t begin = found + words.size();
  const std::size_t end = errors.find_first_not_of("0123456789", begin);
  return end == std::string::npos ? "" : errors.substr(begin, end - begin);
}

/// Waits until the job has printed a further step after a process of it was killed; "" or what
/// went wrong.
std::string await_recovery(ChildCommand& child) {
  while (checkpoint_in(child.errors()).empty()) {
    if (!child.progress(output_tick)) return child.text_of_end();
    if (child.seconds() > static_cast<double>(act_limit.count())) return "did not go on";
  }
  // What was printed before the kill may have been read only now.
  child.progress(std::chrono::milliseconds(0));
  return await_output(child, child.output().size()) ? "" : "printed nothing more";
}

}  // namespace

ActResult act_survive(const DemoStage& stage) {
  ChildCommand child(
      stage.run({"-n", fmt::format("{}", job_ranks), "--procs", fmt::format("{}", job_processes),
                 "--checkpoint", "memory", "--every", "200ms"},
                "survive"),
      {});
  const std::string sign = fmt::format("step {},", kill_at_step);
  while (child.output().find(sign) == std::string::npos) {
    if (!await_output(child, child.output().size()))
      return {false, fmt::format("the job {} before it was killed", child.text_of_end())};
  }
  std::vector<pid_t> pids = children(child.pid());
  if (pids.empty()) return {false, "the job has no processes that could be killed"};
  const pid_t killed = *std::ranges::max_element(pids);
  const double time_of_kill = child.seconds();
  kill(killed, SIGKILL);
  const std::string error = await_recovery(child);
  if (!error.empty()) return {false, fmt::format("after kill -9 {} the job {}", killed, error)};
  const double pause = child.seconds() - time_of_kill;
  const bool has_ended = child.run_to_end(act_limit);
  const std::string checkpoint = checkpoint_in(child.errors());
  if (!has_ended || !child.has_succeeded() || !child.output().ends_with(right_end()))
    return {false, fmt::format("after kill -9 {} the job went on, and {}", killed,
                               has_ended ? child.text_of_end() : "did not end in time")};
  return {true, fmt::format("kill -9 {} at step {}: {:.2f} s later the job goes on from checkpoint "
                            "{}, and its result is right",
                            killed, kill_at_step, pause, checkpoint)};
}

}  // namespace sorrel::tool
