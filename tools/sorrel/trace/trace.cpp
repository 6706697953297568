// `sorrel trace -o FILE FOLDER`: makes a trace of the parts that a job has left behind, because
// `sorrel run` was killed or was one of several on several machines.

#include <fmt/core.h>
#include <string>

#include "os/file_size_limit.hpp"
#include "tools/sorrel/common/command.hpp"
#include "tools/sorrel/common/command_line.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/common/interruptible_work.hpp"
#include "tools/sorrel/trace/merge.hpp"
#include "tools/sorrel/trace/otf2_merge.hpp"

namespace sorrel::tool {

namespace {

constexpr const char* trace_usage = "sorrel trace -o FILE FOLDER";
constexpr const char* trace_description =
    "Makes FILE, a trace in Perfetto's format, of the folder FILE.parts that\n"
    "`sorrel run --trace FILE` leaves behind when it is killed, or under a\n"
    "host MPI's launcher.\n"
    "Open FILE at https://ui.perfetto.dev or with trace_processor.\n"
    "If FILE ends with .otf2, it becomes a folder with an archive in OTF2.\n";
constexpr const char* trace_footer =
    "Example:\n"
    "  sorrel trace -o heat.trace heat.trace.parts";

int make_trace(const std::string& file, const std::string& folder) {
  os::make_file_size_limit_an_error();
  const Result<MergedTrace> merged =
      is_otf2_name(file) ? merge_otf2(folder, file) : merge_trace(folder, file);
  if (!merged.has_value()) return report_error("{}", merged.error());
  for (const std::string& warning : merged.value().warnings)
    print_diagnostic("warning: left out: " + warning);
  if (!merged.value().cut_off.empty()) return report_error("{}", merged.value().cut_off);
  fmt::print("{}: {} events of {} worker{}\n", file, merged.value().event_count,
             merged.value().part_count, merged.value().part_count == 1 ? "" : "s");
  return 0;
}

}  // namespace

int trace_command(Arguments arguments) {
  std::string file;
  const auto app = make_app(trace_usage, trace_description, trace_footer);
  app->add_option("-o,--output", file, "The file to write")->type_name("FILE");
  const SplitArguments split = split_arguments(*app, arguments);
  if (!split.error.empty()) return report_error("{}", split.error);
  if (const auto status = parse_options(*app, split.options)) return *status;
  if (split.program.size() != 1 || file.empty())
    return report_error("a file and a folder are needed; usage: {}", trace_usage);
  const std::string& folder = split.program.front();
  return run_interruptibly([&] { return make_trace(file, folder); }, [&] { remove_trace(file); });
}

}  // namespace sorrel::tool
