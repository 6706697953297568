// `sorrel complete COMMAND [OPTION]`, which the completions of shells call: the values that an
// option, or without one an argument of the command, can have. One in a line; none where any text
// is allowed.

#include <algorithm>
#include <filesystem>
#include <fmt/core.h>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "tools/sorrel/common/command.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/common/installation.hpp"
#include "tools/sorrel/docs/manual.hpp"
#include "tools/sorrel/view/job_list.hpp"

namespace sorrel::tool {

namespace {

using Values = std::vector<std::string>;

struct OptionValues {
  std::string_view command;
  std::string_view option;
  std::string_view values;  ///< with a space between two
};

constexpr OptionValues known_values[] = {
    {"run", "--balance", "off steal measured auto"},
    {"run", "--bind", "core none"},
    {"run", "--checkpoint", "memory"},
    {"run", "--host", "openmpi mpich abi none"},
    {"run", "--procs", "auto"},
    {"run", "--share", "fair yielding fixed"},
    {"test", "--only", "ranks network check schedules"},
    {"env", "--shell", "sh fish csh"},
};

Values words_of(std::string_view text) {
  Values words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

Values machine_names() {
  Values names;
  std::error_code error;
  const std::string folder = data_folder(find_installation(), "machines", "machines");
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem());
  }
  std::ranges::sort(names);
  return names;
}

Values argument_values(std::string_view command) {
  Values values;
  if (command == "docs") {
    for (const ManualPage& page : read_manual(data_folder(find_installation(), "manual", "docs")))
      values.push_back(page.name);
  } else if (command == "top" || command == "stack") {
    for (const RunningJob& job : running_jobs())
      values.push_back(fmt::format("{}", job.pid));
  }
  return values;
}

Values option_values(std::string_view command, std::string_view option) {
  if (command == "plan" && option == "--machine") return machine_names();
  const auto known = std::ranges::find_if(known_values, [&](const OptionValues& values) {
    return values.command == command && values.option == option;
  });
  return known == std::end(known_values) ? Values() : words_of(known->values);
}

}  // namespace

int complete_command(Arguments arguments) {
  if (arguments.empty() || arguments.size() > 2)
    return report_error("usage: sorrel complete COMMAND [OPTION]");
  const Values values = arguments.size() == 1 ? argument_values(arguments[0])
                                              : option_values(arguments[0], arguments[1]);
  for (const std::string& value : values)
    fmt::print("{}\n", value);
  return 0;
}

}  // namespace sorrel::tool
