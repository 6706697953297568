// `sorrel env`: what a shell needs to find this installation.

#include <cstdlib>
#include <fmt/core.h>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>
#include <vector>

#include "tools/sorrel/common/command.hpp"
#include "tools/sorrel/common/command_line.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/common/installation.hpp"
#include "tools/sorrel/env/shell_settings.hpp"

namespace sorrel::tool {

namespace {

constexpr const char* env_usage = "sorrel env [--shell SHELL]";
constexpr const char* env_description =
    "Prints commands for a shell that make it find this installation: the\n"
    "command, mpicc and mpiexec before those of other MPIs, manual pages, and\n"
    "what CMake and pkg-config read. Nothing is printed that already holds.\n";
constexpr const char* env_footer =
    "Examples:\n"
    "  eval \"$(sorrel env)\"             in sh, bash and zsh\n"
    "  sorrel env --shell fish | source\n"
    "  eval `sorrel env --shell csh`\n\n"
    "Exit status: 0; 2 if the command line is wrong.";

std::optional<Shell> shell_of(const std::string& name) {
  if (name.empty() || name == "sh" || name == "bash" || name == "zsh") return Shell::posix;
  if (name == "fish") return Shell::fish;
  if (name == "csh" || name == "tcsh") return Shell::csh;
  return std::nullopt;
}

/// Folders that are not there, as without the component `development`, are left out.
std::vector<FolderVariable> variables_of(const Installation& installation) {
  const std::string prefix = installation.prefix();
  std::vector<FolderVariable> variables = {
      {.name = "PATH", .first = {installation.mpi_folder()}, .present = {prefix + "/bin"}}};
  const auto add = [&](const char* name, const std::string& folder, const char* file) {
    if (access((folder + file).c_str(), R_OK) == 0)
      variables.push_back({.name = name, .present = {folder}});
  };
  add("MANPATH", prefix + "/share/man", "/man1/sorrel.1");
  add("PKG_CONFIG_PATH", installation.library_dir + "/pkgconfig", "/sorrel-mpi.pc");
  if (!installation.include_dir.empty())
    variables.push_back({.name = "CMAKE_PREFIX_PATH", .present = {prefix}});
  return variables;
}

}  // namespace

int env_command(Arguments arguments) {
  std::string shell_name;
  const auto app = make_app(env_usage, env_description, env_footer);
  app->add_option("--shell", shell_name, "sh (default, also bash and zsh), fish or csh")
      ->type_name("SHELL");
  std::vector<std::string> options;
  std::vector<std::string> operands;
  const std::string error = sort_arguments(*app, arguments, options, operands);
  if (!error.empty()) return report_error("{}", error);
  if (const auto status = parse_options(*app, options)) return *status;
  if (!operands.empty()) return report_error("env takes no arguments; '{}' is one", operands[0]);
  const std::optional<Shell> shell = shell_of(shell_name);
  if (!shell) return report_error("--shell must be sh, fish or csh, not '{}'", shell_name);
  fmt::print("{}", shell_settings(variables_of(find_installation()), *shell,
                                  [](const char* name) { return std::getenv(name); }));
  return 0;
}

}  // namespace sorrel::tool
