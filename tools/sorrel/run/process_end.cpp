#include "tools/sorrel/run/process_end.hpp"

#include <cstring>
#include <fmt/core.h>

#include "report/report_file.hpp"
#include "tools/sorrel/common/diagnostic.hpp"

namespace sorrel::tool {

std::string ProcessEnd::name() const {
  if (rank_count == 0) return fmt::format("process {} (spawned ranks)", process);
  const std::uint64_t last = first_rank + rank_count - 1;
  if (rank_count == 1) return fmt::format("process {} (rank {})", process, last);
  return fmt::format("process {} (ranks {}-{})", process, first_rank, last);
}

std::string ProcessEnd::what() const {
  if (signal) return fmt::format("was killed by signal {} ({})", *signal, strsignal(*signal));
  if (!wrapper.empty()) return fmt::format("has ended below {} in the middle of MPI", wrapper);
  return fmt::format("ended with status {} in the middle of MPI", status);
}

void print_process_end(const ProcessEnd& end) {
  print_diagnostic(fmt::format("{} {}", end.name(), end.what()));
}

void write_process_end(const ProcessEnd& end, const std::string& report_file) {
  const std::string what = end.what();
  const auto rank =
      end.rank_count == 1 ? std::optional(static_cast<std::int32_t>(end.first_rank)) : std::nullopt;
  report::ReportFile(report_file)
      .write({.kind = end.signal ? "killed" : "error",
              .status = end.status,
              .what = what,
              .rank = rank,
              .process = end.process,
              .signal = end.signal,
              .calls = {}});
}

void report_process_end(const ProcessEnd& end, const std::string& report_file) {
  print_process_end(end);
  write_process_end(end, report_file);
}

}  // namespace sorrel::tool
