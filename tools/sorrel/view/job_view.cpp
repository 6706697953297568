#include "tools/sorrel/view/job_view.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fmt/core.h>
#include <map>
#include <optional>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/check.hpp"
#include "os/clock.hpp"
#include "os/kernel_wait.hpp"
#include "report/activity_table.hpp"

namespace sorrel::tool {

namespace {

using launch::RequestHandler;
using report::ViewRequest;
using report::ViewSpace;

constexpr std::int64_t answer_ns_max = 2'000'000'000;
constexpr std::int64_t poll_ns = 500'000;
/// For the answers of all processes together; only what they write takes memory.
constexpr std::size_t space_bytes = std::size_t{256} << 20;
constexpr std::size_t slot_bytes_min = std::size_t{1} << 20;

/// Asks the processes of one job.
class Look {
 public:
  Look(const RunningJob& job, ViewSpace space)
      : job_(job), space_(std::move(space)), is_awaited_(job.processes.size(), false) {}

  JobView take() {
    for (std::uint32_t i = 0; i < job_.processes.size(); ++i)
      ask(i);
    const std::int64_t give_up_ns = os::monotonic_ns() + answer_ns_max;
    while (take_answers() && os::monotonic_ns() < give_up_ns)
      os::sleep_ns(poll_ns);
    for (std::uint32_t i = 0; i < job_.processes.size(); ++i) {
      if (is_awaited_[i]) leave_out(i, reason_for_silence(i));
    }
    if (view_.view.rank_count == 0) view_.view.rank_count = job_.rank_count();
    view_.time_ns = os::monotonic_ns();
    for (const auto& worker : view_.view.workers)
      view_.threads.push_back(facts_of_thread(worker.thread));
    return std::move(view_);
  }

 private:
  [[nodiscard]] const JobProcess& process(std::uint32_t index) const {
    return job_.processes[index];
  }

  [[nodiscard]] pid_t pid(std::uint32_t index) const { return process(index).facts.pid; }

  void leave_out(std::uint32_t index, const std::string& reason) {
    const auto [first, last] = process(index).ranks();
    const std::string ranks =
        last == 0 ? ""
                  : fmt::format(" (rank{} {})", last - first == 1 ? "" : "s",
                                last - first == 1 ? fmt::format("{}", first)
                                                  : fmt::format("{}-{}", first, last - 1));
    view_.notes.push_back(fmt::format("process {}{} {}", pid(index), ranks, reason));
    view_.view.ranks.add_unknown(first, last);
    is_awaited_[index] = false;
  }

  /// Why no signal may be sent; empty: it may be.
  [[nodiscard]] std::string hindrance(std::uint32_t index,
                                      const std::optional<launch::ProcessMark>& mark) const {
    const auto facts = facts_of(pid(index));
    if (!mark || !facts || facts->state == 'Z') return "has ended";
    if (mark->handler == RequestHandler::program)
      return "has a handler of SIGUSR1 of its own, and cannot be looked into";
    if (mark->handler == RequestHandler::none)
      return "takes no requests: SIGUSR1 was ignored when it started";
    if (facts->state == 'T' || facts->state == 't')
      return fmt::format("is stopped; `kill -CONT {}` lets it go on", pid(index));
    if (!is_in_own_pid_namespace(pid(index))) return "runs in a container: look from inside";
    if (has_blocked(pid(index), thread_of(index, *mark), SIGUSR1)) return "blocks SIGUSR1";
    return "";
  }

  [[nodiscard]] pid_t thread_of(std::uint32_t index, const launch::ProcessMark& mark) const {
    return mark.thread != 0 ? mark.thread : pid(index);
  }

  void ask(std::uint32_t index) {
    const auto mark = mark_of(pid(index));
    if (const std::string reason = hindrance(index, mark); !reason.empty())
      return leave_out(index, reason);
    if (mark->thread == 0 && add_if_asleep(index)) return;
    siginfo_t info{};
    info.si_signo = SIGUSR1;
    info.si_code = SI_QUEUE;
    info.si_pid = getpid();
    info.si_uid = getuid();
    const ViewRequest request{.sender = getpid(),
                              .descriptor = static_cast<std::uint32_t>(space_.descriptor()),
                              .slot = index};
    info.si_value.sival_ptr = reinterpret_cast<void*>(request.value());
    if (syscall(SYS_rt_tgsigqueueinfo, pid(index), thread_of(index, *mark), SIGUSR1, &info) == 0) {
      SORREL_ASSERT(!is_awaited_[index], "process %u is asked twice", index);
      is_awaited_[index] = true;
    } else {
      leave_out(index, errno == ESRCH ? "has ended" : std::strerror(errno));
    }
  }

  /// A process of one rank whose thread sleeps in a call that a signal would end.
  bool add_if_asleep(std::uint32_t index) {
    const auto [first, last] = process(index).ranks();
    if (last - first != 1) return false;
    const auto wait = os::kernel_wait_of_process(pid(index));
    if (!wait || wait->is_restarted) return false;
    view_.view.ranks.add(report::blocked_rank(first, wait->call));
    if (space_.kind() == report::ViewKind::stacks)
      append(view_.view.stacks[{wait->call, report::unknown_calls}], first);
    return true;
  }

  /// Whether answers are missing.
  bool take_answers() {
    bool is_missing = false;
    for (std::uint32_t i = 0; i < job_.processes.size(); ++i) {
      if (!is_awaited_[i]) continue;
      const auto text = space_.text(i);
      if (!text) {
        is_missing |= kill(pid(i), 0) == 0;
        continue;
      }
      view_.view.add(*text);
      for (const auto& worker : view_.view.workers)
        processes_.try_emplace(worker.thread, pid(i));
      is_awaited_[i] = false;
    }
    return is_missing;
  }

  [[nodiscard]] std::string reason_for_silence(std::uint32_t index) const {
    const auto facts = facts_of(pid(index));
    if (!facts || facts->state == 'Z') return "has ended";
    if (facts->state == 'T' || facts->state == 't')
      return fmt::format("is stopped; `kill -CONT {}` lets it go on", pid(index));
    return fmt::format("has not answered within {} s", answer_ns_max / 1'000'000'000);
  }

  [[nodiscard]] WorkerThreadFacts facts_of_thread(pid_t thread) const {
    const pid_t process = processes_.at(thread);
    const auto facts = thread_facts_of(process, thread);
    return {.process = process, .facts = facts.value_or(ThreadFacts{})};
  }

  const RunningJob& job_;
  ViewSpace space_;
  std::vector<bool> is_awaited_;
  /// The process of each worker's thread.
  std::map<pid_t, pid_t> processes_;
  JobView view_;
};

}  // namespace

Result<JobView> look_into(const RunningJob& job, report::ViewKind kind) {
  constexpr std::size_t page_bytes = 4096;
  const std::size_t count = job.processes.size();
  SORREL_ASSERT(count != 0, "job %d has no processes", static_cast<int>(job.pid));
  const std::size_t slot_bytes =
      std::max(slot_bytes_min, space_bytes / count / page_bytes * page_bytes);
  const auto slots = static_cast<std::uint32_t>(count);
  auto segment = os::SharedSegment::create(
      ViewSpace::bytes_needed(slots, static_cast<std::uint32_t>(slot_bytes)));
  if (!segment.is_valid()) {
    return Error{fmt::format("cannot create memory for the answers: {}{}", std::strerror(errno),
                             errno == EFBIG ? " (limit of file sizes, ulimit -f)" : "")};
  }
  ViewSpace space(std::move(segment), slots, static_cast<std::uint32_t>(slot_bytes), kind);
  return Look(job, std::move(space)).take();
}

std::string text_of_ranks_of(const JobView& view) {
  return fmt::format("{} rank{}", view.view.rank_count, view.view.rank_count == 1 ? "" : "s");
}

}  // namespace sorrel::tool
