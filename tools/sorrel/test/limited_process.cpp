#include "tools/sorrel/test/limited_process.hpp"

#include <csignal>
#include <cstddef>
#include <utility>

#include "tools/sorrel/common/child_command.hpp"
#include "tools/sorrel/common/command_output.hpp"

namespace sorrel::tool {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t text_bytes = std::size_t{64} << 10;

/// The signals for a program that is late, and the time that it has after each.
constexpr std::pair<int, milliseconds> signals[] = {
    {SIGUSR1, milliseconds(2000)}, {SIGTERM, milliseconds(3000)}, {SIGKILL, no_time_limit}};

}  // namespace

LimitedProcess run_limited(std::vector<std::string> words, milliseconds limit) {
  ChildCommand child(std::move(words), {.joins_streams = true, .last_bytes = text_bytes});
  const bool has_ended = child.wait(limit);
  for (const auto& [number, pause] : signals) {
    child.send(number);
    if (child.wait(pause)) break;
  }
  return {.error = child.error(),
          .status = child.status(),
          .is_late = !has_ended,
          .text = child.output()};
}

}  // namespace sorrel::tool
