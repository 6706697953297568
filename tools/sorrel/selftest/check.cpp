#include "tools/sorrel/selftest/check.hpp"

#include <cerrno>
#include <cstring>
#include <fmt/core.h>
#include <sys/wait.h>
#include <utility>

#include "tools/sorrel/common/command_output.hpp"
#include "tools/sorrel/common/diagnostic.hpp"

namespace sorrel::tool {

namespace {

using Verdict = CheckOutcome::Verdict;

/// How the command ended, if that is a failure; else "".
std::string failure_of(const CommandOutput& ended, std::chrono::milliseconds limit) {
  if (ended.error != 0) return fmt::format("cannot be started: {}", std::strerror(ended.error));
  if (ended.is_late) return fmt::format("had not ended after {} s", limit.count() / 1000);
  if (WIFSIGNALED(ended.status)) return fmt::format("ended by signal {}", WTERMSIG(ended.status));
  const int status = WEXITSTATUS(ended.status);
  return status == 0 ? "" : fmt::format("ended with status {}", status);
}

CheckOutcome failed(std::string reason, const CheckCommand& command, CommandOutput ended) {
  return {Verdict::failed, std::move(reason), command, std::move(ended.text)};
}

}  // namespace

CheckOutcome perform(const Check& check, std::chrono::milliseconds limit) {
  if (!check.compile.empty()) {
    CommandOutput ended = output_of(check.compile, limit);
    if (ended.error == ENOENT) return {Verdict::skipped, "no " + check.compile[0], {}, ""};
    if (WIFEXITED(ended.status) && WEXITSTATUS(ended.status) == exit_not_found)
      return {Verdict::skipped, ended.text.substr(0, ended.text.find('\n')), {}, ""};
    std::string failure = failure_of(ended, limit);
    // As the C++ headers say (include/sorrel/require_cxx20.hpp).
    if (!failure.empty() && ended.text.find("need C++20") != std::string::npos)
      return {Verdict::skipped, check.compile[0] + " lacks C++20", {}, ""};
    if (!failure.empty()) return failed(std::move(failure), check.compile, std::move(ended));
  }
  CommandOutput ended = output_of(check.run, limit);
  std::string failure = failure_of(ended, limit);
  const bool has_ended = ended.error == 0 && !ended.is_late;
  if (failure.empty() == check.must_fail || !has_ended) {
    if (failure.empty()) failure = "ended with status 0, as if nothing had happened";
    return failed(std::move(failure), check.run, std::move(ended));
  }
  for (const std::string& text : check.expected) {
    if (ended.text.find(text) == std::string::npos)
      return failed(fmt::format("its output lacks '{}'", text), check.run, std::move(ended));
  }
  return {};
}

}  // namespace sorrel::tool
