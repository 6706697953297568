#include "runtime/wrapped_job.hpp"

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.hpp"
#include "base/text.hpp"
#include "launch/job_claims.hpp"
#include "os/shared_segment.hpp"
#include "runtime/config.hpp"

extern char** environ;

namespace sorrel::runtime {

namespace {

std::string path_of_executable() {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size() - 1);
  return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : "";
}

std::string read_to_end(int descriptor) {
  std::string text;
  std::array<char, 1024> piece{};
  for (;;) {
    const ssize_t count = read(descriptor, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(count));
  }
}

/// The output of a command, without the last newline; if the command cannot be started, the reason.
std::string output_of(std::array<const char*, 6> words) {
  SORREL_ASSERT(words.front() != nullptr && words.back() == nullptr, "a command without an end");
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return text_of("cannot make a pipe: %s", std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  pid_t child = 0;
  const int error = posix_spawn(&child, words[0], &actions, nullptr,
                                const_cast<char* const*>(words.data()), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text =
      error == 0 ? "" : text_of("cannot start %s: %s", words[0], std::strerror(error));
  if (error == 0) {
    text = read_to_end(ends[0]);
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  close(ends[0]);
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

}  // namespace

void record_failure(const Config& config) {
  // Relaxed: nothing is read through it.
  if (config.claims != nullptr) config.claims->has_failed.store(1, std::memory_order_relaxed);
}

std::string claim_job(Config& config, int claims_descriptor) {
  // Mapped until the process ends.
  static auto& segment = *new os::SharedSegment;
  segment = os::SharedSegment::adopt(claims_descriptor, sizeof(launch::JobClaims));
  const char* wrapper = config.wrapper.name.c_str();
  if (!segment.is_valid()) {
    return text_of("%s has closed descriptor %d, by which `sorrel run` passes the job on", wrapper,
                   claims_descriptor);
  }
  auto& claims = *reinterpret_cast<launch::JobClaims*>(segment.base());
  SORREL_ASSERT(config.claims == nullptr && config.own_process < claims.pids.size(),
                "process %u claims the job", config.own_process);
  config.claims = &claims;
  std::atomic<std::int32_t>& claimed = claims.pids[config.own_process];
  const std::int32_t pid = claims.pid_namespace == launch::own_pid_namespace()
                               ? getpid()
                               : launch::JobClaims::unknown_pid;
  if (config.memory == nullptr) {
    // Relaxed: the launcher reads nothing else through it.
    claimed.store(pid, std::memory_order_relaxed);
    return "";
  }
  std::int32_t unclaimed = 0;
  if (claimed.compare_exchange_strong(unclaimed, pid, std::memory_order_relaxed)) return "";
  return text_of(
      "%s has started a second MPI program; only a job of one process can run several programs",
      wrapper);
}

std::string wrapped_sharing_error(const Config& config) {
  const std::string program = path_of_executable();
  if (program.empty() || program == config.wrapper.program) return "";
  const std::string ranks = std::to_string(config.rank_count);
  return output_of({config.wrapper.command.c_str(), "preflight", program.c_str(), ranks.c_str(),
                    config.wrapper.name.c_str(), nullptr});
}

}  // namespace sorrel::runtime
