// `sorrel demo`: four acts that show in 20 seconds what Sorrel is for.

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fmt/core.h>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>
#include <vector>

#include "tools/sorrel/common/child_command.hpp"
#include "tools/sorrel/common/command.hpp"
#include "tools/sorrel/common/command_line.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/common/wrapped_text.hpp"
#include "tools/sorrel/demo/act.hpp"
#include "tools/sorrel/machine/worker_plan.hpp"

namespace sorrel::tool {

namespace {

constexpr const char* demo_usage = "sorrel demo [options]";
constexpr const char* demo_description =
    "Shows in 20 seconds what Sorrel is for, on this machine:\n"
    "  A  more ranks than cores, beside the other MPIs that are installed\n"
    "  B  a hang of 1000 ranks, explained\n"
    "  C  a process of a job is killed, and the job goes on\n"
    "  D  cores that wait for messages compute for other ranks\n"
    "The programs are installed with this command; nothing is compiled.\n";
constexpr const char* demo_footer =
    "Examples:\n"
    "  sorrel demo\n"
    "  sorrel demo --acts BD\n"
    "  sorrel demo --show hang\n\n"
    "Exit status: 0 if every act has shown what it is to show; 1 if one has\n"
    "not; 2 if the command line is wrong.";

struct Act {
  char letter;
  const char* program;  ///< of tools/demo
  const char* title;
  ActResult (*play)(const DemoStage& stage);
};

constexpr Act acts[] = {
    {'A', "many", "Many ranks: 100 sums over all of them, from start to end", act_many},
    {'B', "hang", "A hang of 1000 ranks", act_hang},
    {'C', "survive", "A job of 4 processes, one of which is killed", act_survive},
    {'D', "latency", "A network with a latency of 40 ms, the same work for few and many ranks",
     act_latency},
};

std::string folder_of_programs(const Installation& installation) {
  const std::string bin = installation.executable.substr(0, installation.executable.rfind('/'));
  return bin.substr(0, bin.rfind('/')) + "/libexec/sorrel/demo";
}

/// Whether standard output is a terminal on which a row of the picture takes one line.
bool has_room_for_rows() {
  constexpr unsigned columns_min = 80;
  winsize size{};
  if (isatty(STDOUT_FILENO) != 1 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return false;
  return size.ws_col == 0 || size.ws_col >= columns_min;
}

int show_source(const Installation& installation, const std::string& name) {
  const auto* act =
      std::ranges::find_if(acts, [&](const Act& known) { return known.program == name; });
  if (act == std::end(acts))
    return report_error("--show must be many, hang, survive or latency, not '{}'", name);
  const std::string file = data_folder(installation, "demo", "tools/demo") + "/" + name + ".c";
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) return report_error("{} cannot be read: install Sorrel again", file);
  fmt::print("{}", text.str());
  return 0;
}

/// Plays one act: its title, what it draws, and one line of what came of it.
bool play(const Act& act, const DemoStage& stage) {
  const char* bold = stage.has_colours ? "\033[1m" : "";
  const char* end = stage.has_colours ? "\033[0m" : "";
  fmt::print("\n{}{}  {}{}\n", bold, act.letter, act.title, end);
  std::fflush(stdout);
  const ActResult result = act.play(stage);
  const char* colour = !stage.has_colours ? "" : (result.is_true ? "\033[32m" : "\033[31m");
  fmt::print("{}{}{}", colour, wrapped_text(result.line, 3, 79), end);
  std::fflush(stdout);
  return result.is_true;
}

}  // namespace

std::vector<std::string> DemoStage::run(const std::vector<std::string>& options,
                                        const std::string& program) const {
  std::vector<std::string> words = {installation.executable, "run"};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back(programs + "/" + program);
  return words;
}

int demo_command(Arguments arguments) {
  std::string letters = "ABCD";
  std::string shown;
  const auto app = make_app(demo_usage, demo_description, demo_footer);
  app->add_option("--acts", letters, "Letters of the acts to play (ABCD)")->type_name("ACTS");
  app->add_option("--show", shown,
                  "Print the source of a program of the demo, and play nothing: many, hang, "
                  "survive or latency")
      ->type_name("NAME");
  const SplitArguments split = split_arguments(*app, arguments);
  if (!split.error.empty()) return report_error("{}", split.error);
  if (const auto status = parse_options(*app, split.options)) return *status;
  if (!split.program.empty())
    return report_error("demo takes no arguments, not '{}'; your program: `sorrel try {}`",
                        split.program.front(), split.program.front());
  DemoStage stage{.installation = find_installation()};
  if (!shown.empty()) return show_source(stage.installation, shown);
  if (letters.empty() || letters.find_first_not_of("ABCD") != std::string::npos)
    return report_error("--acts must be letters of ABCD, not '{}'", letters);
  stage.programs = folder_of_programs(stage.installation);
  if (access((stage.programs + "/many").c_str(), X_OK) != 0)
    return report_error("demo: its programs are not in {}: install Sorrel again", stage.programs);
  stage.cores = static_cast<std::uint64_t>(default_workers(read_machine_limits()));
  stage.is_live = has_room_for_rows();
  stage.has_colours = has_colours(STDOUT_FILENO);
  // Options of the user's configuration would change what the acts show.
  setenv("SORREL_CONFIG", "", 1);
  adopt_left_children();

  fmt::print("Sorrel {} on {} core{}\n", SORREL_VERSION, stage.cores, stage.cores == 1 ? "" : "s");
  const auto begin = std::chrono::steady_clock::now();
  bool is_true = true;
  for (const Act& act : acts) {
    if (letters.find(act.letter) != std::string::npos) is_true &= play(act, stage);
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  fmt::print("\n{:.0f} s. Now yours:\n\n   sorrel try ./app\n\n", seconds);
  return is_true ? 0 : 1;
}

}  // namespace sorrel::tool
