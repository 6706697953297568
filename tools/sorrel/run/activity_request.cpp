#include "tools/sorrel/run/activity_request.hpp"

#include <algorithm>
#include <csignal>
#include <fmt/core.h>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <utility>

#include "base/check.hpp"
#include "os/clock.hpp"
#include "os/kernel_wait.hpp"
#include "report/activity_table.hpp"

namespace sorrel::tool {

namespace {

constexpr std::int64_t answer_ns_max = 1'000'000'000;

/// Whether a process runs the same file as this one: it has not begun to run the program.
bool is_before_exec(pid_t pid) {
  struct stat own{};
  struct stat other{};
  return stat("/proc/self/exe", &own) == 0 &&
         stat(fmt::format("/proc/{}/exe", pid).c_str(), &other) == 0 &&
         own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

/// What a process does with a signal.
struct Disposition {
  bool is_blocked = false;
  /// It has a handler, or ignores it.
  bool has_action = false;
};

Disposition disposition_of(pid_t pid, int number) {
  Disposition disposition;
  if (is_before_exec(pid)) return disposition;
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string field; status >> field;) {
    if (field != "SigBlk:" && field != "SigIgn:" && field != "SigCgt:") continue;
    std::uint64_t mask = 0;
    status >> std::hex >> mask;
    const bool is_set = (mask >> (number - 1) & 1) != 0;
    (field == "SigBlk:" ? disposition.is_blocked : disposition.has_action) |= is_set;
  }
  return disposition;
}

}  // namespace

void ActivityRequest::request(core::JobMemory& memory, const std::vector<Recipient>& recipients) {
  SORREL_ASSERT(recipients.size() == plan_.shape.process_count, "%zu recipients in %u processes",
                recipients.size(), plan_.shape.process_count);
  const bool is_new = number_ == 0;
  if (is_new) open(memory);
  for (std::uint32_t i = 0; i < recipients.size(); ++i) {
    const auto [pid, is_wrapper] = recipients[i];
    if (pid == 0) continue;
    const Disposition disposition = disposition_of(pid, SIGUSR1);
    if (!disposition.has_action && (is_wrapper || !disposition.is_blocked)) continue;
    // Relaxed: a signal sent meanwhile may be either's.
    const bool is_for_program = disposition.is_blocked || memory.process(i).handles_requests.load(
                                                              std::memory_order_relaxed) == 0;
    if (!is_for_program && (!is_new || is_left_asleep(i, pid))) continue;
    if (kill(pid, SIGUSR1) == 0 && is_new) ++awaited_count_;
  }
}

void ActivityRequest::open(core::JobMemory& memory) {
  number_ = memory.request_activity();
  asleep_ = {};
  awaited_count_ = 0;
  give_up_ns_ = os::monotonic_ns() + answer_ns_max;
}

bool ActivityRequest::is_left_asleep(std::uint32_t process, pid_t pid) {
  const LaunchedProcess& own = plan_.processes[process];
  if (own.rank_count != 1) return false;
  const auto wait = os::kernel_wait_of_process(pid);
  if (!wait || wait->is_restarted) return false;
  asleep_.add(report::blocked_rank(static_cast<std::int32_t>(own.first_rank), wait->call));
  return true;
}

std::optional<report::WaitTable> ActivityRequest::take_table(core::JobMemory& memory) {
  SORREL_ASSERT(number_ != 0, "nothing was requested");
  std::size_t answer_count = 0;
  for (std::uint32_t i = 0; i < plan_.shape.process_count; ++i)
    answer_count += memory.activity_text(i, number_) ? 1 : 0;
  if (answer_count < awaited_count_ && os::monotonic_ns() < give_up_ns_) return std::nullopt;
  const std::uint32_t number = std::exchange(number_, 0);
  if (answer_count == 0 && awaited_count_ > 0) return std::nullopt;
  report::WaitTable table = std::exchange(asleep_, {});
  for (std::uint32_t i = 0; i < plan_.shape.process_count; ++i) {
    const auto text = memory.activity_text(i, number);
    if (text && !text->empty()) {
      table.add(*text);
    } else {
      const LaunchedProcess& process = plan_.processes[i];
      table.add_unknown(static_cast<std::int32_t>(process.first_rank),
                        static_cast<std::int32_t>(process.first_rank + process.rank_count));
    }
  }
  return table;
}

}  // namespace sorrel::tool
