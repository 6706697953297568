#include "tools/sorrel/run/process_choice.hpp"

#include <algorithm>
#include <bit>
#include <fmt/core.h>

#include "tools/sorrel/common/numbers.hpp"

namespace sorrel::tool {

namespace {

constexpr std::uint32_t eager_bytes_least = 4096;
/// The largest payload that a mailbox between processes takes in one packet.
constexpr std::uint32_t eager_bytes_most = 16384;

void choose_count(const ChoiceInput& input,
                  const ProgramReport& program,
                  const KernelFeatures& features,
                  ProcessChoice& choice) {
  if (!program.own_process_reason.empty()) {
    choice.processes = input.ranks;
    choice.process_reason = program.own_process_reason;
  } else if (input.ranks > input.ranks_per_process_max) {
    const std::uint64_t most = std::max<std::uint64_t>(input.ranks_per_process_max, 1);
    choice.processes = (input.ranks + most - 1) / most;
    choice.process_reason =
        fmt::format("the system's limit of memory maps allows {} of its ranks in one", most);
  } else if (program.has_tls && !features.fsgsbase && input.ranks <= input.cores) {
    choice.processes = input.ranks;
    choice.process_reason =
        "the program has thread-locals, which without FSGSBASE cost a system call per switch, and "
        "there is a core for every rank";
  } else {
    choice.processes = 1;
    choice.process_reason = program.has_tls
                                ? "the program's data can be private to a rank, thread-locals too"
                                : "the program's data can be private to a rank";
  }
}

void choose_limit(const MachineProbe& probe, ProcessChoice& choice) {
  // A message by rendezvous waits for two more handovers, each until a worker polls. A copy that
  // takes no longer than a few handovers is cheaper.
  const double bytes = 16 * probe.handover_ns * probe.copy_bytes_per_ns;
  choice.eager_bytes = std::clamp(std::bit_ceil(static_cast<std::uint32_t>(std::min(bytes, 1e9))),
                                  eager_bytes_least, eager_bytes_most);
  choice.limit_reason = fmt::format(
      "a core sees another core's write after {:.0f} ns, a thread wakes after {:.1f} us, "
      "memory is copied at {:.1f} GB/s",
      probe.handover_ns, probe.wake_ns / 1e3, probe.copy_bytes_per_ns);
  if (probe.date.empty()) return;
  choice.limit_reason +=
      fmt::format("; measured {}, other work {:.0f} %{}", probe.date, 100 * probe.other_work,
                  probe.is_of_a_quiet_machine() ? "" : ", not kept");
}

}  // namespace

ProcessChoice choose_processes(const ChoiceInput& input,
                               const ProgramReport& program,
                               const KernelFeatures& features,
                               const MachineProbe& probe) {
  ProcessChoice choice;
  choose_count(input, program, features, choice);
  choose_limit(probe, choice);
  return choice;
}

std::string describe(const ProcessChoice& choice) {
  return fmt::format("{} process{}: {}; messages up to {} are copied at once: {}", choice.processes,
                     choice.processes == 1 ? "" : "es", choice.process_reason,
                     format_size(choice.eager_bytes), choice.limit_reason);
}

}  // namespace sorrel::tool
