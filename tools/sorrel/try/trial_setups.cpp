#include "tools/sorrel/try/trial_setups.hpp"

#include <algorithm>
#include <fmt/core.h>

#include "tools/sorrel/common/shell_line.hpp"
#include "tools/sorrel/inspect/mpi_interface.hpp"

namespace sorrel::tool {

namespace {

constexpr std::uint64_t ranks_a_core[] = {1, 2, 4, 8, 16};
/// Processes are tried with one for each core, up to this number.
constexpr std::uint64_t processes_max = 16;

void append(std::vector<std::string>& words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
}

TrialSetup of_sorrel(const TrialSubject& subject,
                     std::uint64_t ranks,
                     const std::vector<std::string>& options) {
  std::vector<std::string> start = {"sorrel", "run", "-n", fmt::format("{}", ranks)};
  append(start, options);
  TrialSetup setup{.label = shell_line(start), .command = start, .ranks = ranks};
  append(setup.command, subject.program);
  setup.command[0] = subject.sorrel;
  return setup;
}

TrialSetup of_mpi(const TrialSubject& subject, const OtherMpi& mpi, std::uint64_t ranks) {
  const std::vector<std::string> start = mpi.start(ranks, subject.cores);
  std::vector<std::string> shown = start;
  shown[0] = mpi.launcher.substr(mpi.launcher.rfind('/') + 1);
  TrialSetup setup{.label = fmt::format("{} ({})", shell_line(shown), mpi.name),
                   .command = start,
                   .environment = mpi.environment(subject.is_standard, subject.is_python),
                   .ranks = ranks,
                   .is_sorrel = false};
  append(setup.command, subject.program);
  return setup;
}

}  // namespace

std::vector<std::uint64_t> usual_rank_counts(std::uint64_t cores) {
  std::vector<std::uint64_t> counts;
  for (const std::uint64_t factor : ranks_a_core)
    counts.push_back(factor * cores);
  return counts;
}

std::vector<OtherMpi> mpis_for(const ProgramReport& program, const std::vector<OtherMpi>& found) {
  std::vector<OtherMpi> fitting;
  for (const OtherMpi& mpi : found) {
    const bool is_fit =
        program.is_interpreter || (program.uses_mpi && !mpi.standard_library.empty()) ||
        std::ranges::any_of(program.needed, [&](const os::NeededLibrary& library) {
          const MpiInterface* interface = translated_interface(library.name);
          return interface != nullptr && interface->family == mpi.family && !mpi.library.empty();
        });
    if (is_fit) fitting.push_back(mpi);
  }
  return fitting;
}

std::vector<TrialSetup> first_setups(const TrialSubject& subject) {
  std::vector<TrialSetup> setups;
  for (const std::uint64_t ranks : subject.rank_counts) {
    setups.push_back(of_sorrel(subject, ranks, {}));
    if (ranks != subject.rank_counts.front()) continue;
    for (const OtherMpi& mpi : subject.mpis)
      setups.push_back(of_mpi(subject, mpi, ranks));
  }
  return setups;
}

std::vector<TrialSetup> further_setups(const TrialSubject& subject, std::uint64_t ranks) {
  std::vector<TrialSetup> setups;
  const std::uint64_t processes = std::min({subject.cores, ranks, processes_max});
  if (processes > 1)
    setups.push_back(of_sorrel(subject, ranks, {"--procs", fmt::format("{}", processes)}));
  for (const char* balance : {"steal", "measured"})
    setups.push_back(of_sorrel(subject, ranks, {"--balance", balance}));
  if (subject.uses_openmp) setups.push_back(of_sorrel(subject, ranks, {"--omp"}));
  if (ranks == subject.rank_counts.front()) return setups;
  for (const OtherMpi& mpi : subject.mpis)
    setups.push_back(of_mpi(subject, mpi, ranks));
  return setups;
}

}  // namespace sorrel::tool
