#include "tools/sorrel/plan/plan_request.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <sstream>
#include <vector>

#include "tools/sorrel/common/command_line.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/common/numbers.hpp"

namespace sorrel::tool {

namespace {

constexpr const char* plan_usage = "sorrel plan [options] EXTENT [EXTENT [EXTENT]]";
constexpr const char* plan_description =
    "Chooses how to cut a regular grid over N ranks so that a step of a\n"
    "stencil code takes the least time, and says why. The extents are those\n"
    "of the array, in the order of its declaration.\n";
constexpr const char* plan_footer =
    "Examples:\n"
    "  sorrel plan 256 256 256 -n 32       on this machine, measured at\n"
    "                                      first use\n"
    "  sorrel plan 256 256 256 -n 32 --machine t3e-900-buffered\n"
    "  sorrel plan 4096 4096 -n 12 --periodic 01 --halo 2 --plot times.svg\n"
    "  sorrel plan 256 256 256 -n 32 --keep 2    the last dimension uncut\n"
    "  sorrel plan 256 256 256 -n 32 --levels 6  each level of a multigrid\n"
    "  sorrel plan 512 512 512 -n 64 --measure --machine cluster.json \\\n"
    "    --launch 'mpiexec -n 4 -ppn 1' --processes 4    four nodes, measured\n\n"
    "Exit status: 0; 1 if measuring failed; 2 if the command line or the\n"
    "machine file is wrong.";

/// The text of the options.
struct Words {
  std::string ranks;
  std::string machine;
  bool measure = false;
  bool force = false;
  std::string launch;
  std::string processes;
  bool json = false;
  std::string plot;
  std::vector<std::string> periodic;
  std::vector<std::string> keep;
  std::string element = "8";
  std::string fields = "1";
  std::string halo = "1";
  bool box = false;
  bool fortran = false;
  std::string flops;
  std::string bytes;
  std::string memory;
  std::string rows = "8";
  std::string levels;
  std::string steps;
};

std::unique_ptr<CLI::App> make_plan_app(Words& words) {
  auto app = make_app(plan_usage, plan_description, plan_footer);
  const auto option = [&](const char* name, std::string& value, const char* help,
                          const char* type) {
    app->add_option(name, value, help)->type_name(type);
  };
  option("-n,--ranks", words.ranks, "Number of ranks, 1 to 1000000", "N");
  option("--machine", words.machine, "A machine file, or the name of an installed one", "FILE");
  app->add_flag("--measure", words.measure, "Measure this machine again, and keep the result");
  app->add_flag("--force", words.force,
                "With --measure: keep the result even if the machine is busy");
  option("--launch", words.launch,
         "With --measure and --machine FILE: measure the nodes on which this command starts "
         "processes, and write FILE",
         "COMMAND");
  option("--processes", words.processes, "With --launch: how many processes it starts", "N");
  app->add_flag("--json", words.json, "Print JSON");
  option("--plot", words.plot, "Draw the predicted times of all cuts into this file (SVG)", "FILE");
  const auto dimensions = [&](const char* name, std::vector<std::string>& values,
                              const char* help) {
    app->add_option(name, values, help)
        ->type_name("DIMS")
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
  dimensions("--periodic", words.periodic, "Dimensions whose ends are neighbours, such as 02");
  dimensions("--keep", words.keep, "Dimensions that stay uncut, such as 0 or 12");
  option("--element", words.element, "Bytes of a cell of one field (default: 8)", "BYTES");
  option("--fields", words.fields, "Arrays that are exchanged together (default: 1)", "COUNT");
  option("--halo", words.halo, "Cells that the stencil reaches on each side (default: 1)", "WIDTH");
  app->add_flag("--box", words.box, "The stencil reads diagonal neighbours too");
  app->add_flag("--fortran", words.fortran, "The first dimension is contiguous, not the last");
  option("--flops", words.flops, "Floating-point operations per cell (default: 6 per 8 bytes)",
         "NUMBER");
  option("--bytes", words.bytes, "Bytes moved per cell (default: 3 times its size)", "NUMBER");
  option("--memory", words.memory, "Limit of a rank's blocks in bytes, or with K, M, G", "SIZE");
  option("--rows", words.rows, "Cuts in the table (default: 8)", "COUNT");
  option("--levels", words.levels,
         "Plan each level of a multigrid, the grid included; each halves the extents", "COUNT");
  option("--steps", words.steps, "With --levels: steps on each level in a cycle (default: 4)",
         "COUNT");
  return app;
}

/// Parses numbers one after the other; prints an error about the first that is wrong.
class NumberReader {
 public:
  [[nodiscard]] bool has_failed() const { return has_failed_; }

  std::int64_t count(const char* name,
                     const std::string& text,
                     std::int64_t least,
                     std::int64_t most) {
    const auto value = parse_count(text);
    const bool is_good = value && *value >= static_cast<std::uint64_t>(least) &&
                         *value <= static_cast<std::uint64_t>(most);
    if (is_good) return static_cast<std::int64_t>(*value);
    fail("{} must be a whole number from {} to {}, not '{}'", name, least, most, text);
    return least;
  }

  std::int64_t size(const char* name, const std::string& text) {
    const auto value = parse_size(text);
    if (value && *value > 0 && *value < std::uint64_t{1} << 60)
      return static_cast<std::int64_t>(*value);
    fail("{} must be a size, such as 64M or 2G, not '{}'", name, text);
    return 0;
  }

  double number(const char* name, const std::string& text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size() && value >= 0 && value <= 1e9)
      return value;
    fail("{} must be a number from 0 to 1e9, not '{}'", name, text);
    return 0;
  }

  template <typename... Values>
  void fail(fmt::format_string<Values...> format, Values&&... values) {
    if (!has_failed_) (void)report_error(format, std::forward<Values>(values)...);
    has_failed_ = true;
  }

 private:
  bool has_failed_ = false;
};

/// Sets the marks of the dimensions that the texts of an option name; the grid must have them.
void mark_dimensions(NumberReader& reader,
                     const char* option,
                     const std::vector<std::string>& texts,
                     std::size_t dimension_count,
                     grid::PerDimension<bool>& marks) {
  for (const std::string& dimensions : texts) {
    for (const char digit : dimensions) {
      if (digit < '0' || digit > '2')
        return reader.fail("{} must be some of the digits 0, 1, 2, not '{}'", option, dimensions);
      const auto d = static_cast<std::size_t>(digit - '0');
      if (d >= dimension_count)
        return reader.fail("{} names dimension {}; this grid has dimensions 0 to {}", option, d,
                           dimension_count - 1);
      marks[d] = true;
    }
  }
}

// The work of a Jacobi sweep over the doubles of a cell; each is read, fetched for writing, and
// written.
void set_work(grid::Problem& problem) {
  const double bytes = static_cast<double>(problem.element_bytes * problem.field_count);
  problem.flops_per_cell = 6 * std::max(1.0, bytes / 8);
  problem.bytes_per_cell = 3 * bytes;
}

PlanRequest read_options(NumberReader& reader,
                         const Words& words,
                         const std::vector<std::string>& extents) {
  PlanRequest request;
  grid::Problem& problem = request.problem;
  for (std::size_t d = 0; d < extents.size(); ++d)
    problem.extents[d] = reader.count("an extent", extents[d], 1, grid::extent_max);
  request.rank_count = static_cast<int>(reader.count("-n", words.ranks, 1, grid::rank_count_max));
  mark_dimensions(reader, "--periodic", words.periodic, extents.size(), problem.is_periodic);
  mark_dimensions(reader, "--keep", words.keep, extents.size(), problem.is_uncut);
  problem.element_bytes = reader.count("--element", words.element, 1, grid::element_bytes_max);
  problem.field_count =
      static_cast<int>(reader.count("--fields", words.fields, 1, grid::field_count_max));
  problem.halo_width = reader.count("--halo", words.halo, 1, grid::extent_max);
  problem.stencil = words.box ? grid::Stencil::box : grid::Stencil::star;
  problem.order = words.fortran ? grid::MemoryOrder::fortran : grid::MemoryOrder::c;
  set_work(problem);
  if (!words.flops.empty()) problem.flops_per_cell = reader.number("--flops", words.flops);
  if (!words.bytes.empty()) problem.bytes_per_cell = reader.number("--bytes", words.bytes);
  if (!words.memory.empty()) problem.memory_limit_bytes = reader.size("--memory", words.memory);
  request.table_rows = static_cast<int>(reader.count("--rows", words.rows, 1, 1'000'000));
  if (!words.levels.empty()) {
    grid::MultigridOptions& multigrid = request.multigrid.emplace();
    multigrid.level_count =
        static_cast<int>(reader.count("--levels", words.levels, 2, grid::level_count_max));
    if (!words.steps.empty())
      multigrid.steps = static_cast<int>(reader.count("--steps", words.steps, 1, grid::steps_max));
  }
  request.machine = words.machine;
  request.is_measured_anew = words.measure;
  request.is_kept_anyway = words.force;
  std::istringstream launcher(words.launch);
  for (std::string word; launcher >> word;)
    request.launcher.push_back(word);
  constexpr std::int64_t processes_max = 100'000;
  if (!request.launcher.empty())
    request.process_count = reader.count("--processes", words.processes, 1, processes_max);
  request.wants_json = words.json;
  request.picture = words.plot;
  return request;
}

}  // namespace

ReadRequest read_plan_request(Arguments arguments) {
  Words words;
  const auto app = make_plan_app(words);
  std::vector<std::string> options;
  std::vector<std::string> extents;
  if (const std::string problem = sort_arguments(*app, arguments, options, extents);
      !problem.empty())
    return {.request = std::nullopt, .status = report_error("{}", problem)};
  if (const auto status = parse_options(*app, options))
    return {.request = std::nullopt, .status = *status};
  if (extents.empty() || extents.size() > 3)
    return {.request = std::nullopt,
            .status = report_error("plan needs one to three extents, not {}; usage: {}",
                                   extents.size(), plan_usage)};
  if (words.ranks.empty())
    return {.request = std::nullopt, .status = report_error("plan needs -n, the number of ranks")};
  const bool has_launcher = words.launch.find_first_not_of(' ') != std::string::npos;
  if (words.measure && !words.machine.empty() && !has_launcher)
    return {.request = std::nullopt,
            .status = report_error("--measure measures this machine; it excludes --machine, unless "
                                   "--launch measures a cluster into that file")};
  if (has_launcher && (!words.measure || words.machine.empty() || words.processes.empty()))
    return {
        .request = std::nullopt,
        .status = report_error("--launch requires --measure, --machine FILE and --processes N")};
  if (!words.processes.empty() && !has_launcher)
    return {.request = std::nullopt, .status = report_error("--processes requires --launch")};
  if (words.force && !words.measure)
    return {.request = std::nullopt, .status = report_error("--force requires --measure")};
  if (!words.steps.empty() && words.levels.empty())
    return {.request = std::nullopt, .status = report_error("--steps requires --levels")};
  NumberReader reader;
  PlanRequest request = read_options(reader, words, extents);
  if (reader.has_failed()) return {.request = std::nullopt, .status = exit_invalid_input};
  return {.request = std::move(request), .status = 0};
}

}  // namespace sorrel::tool
