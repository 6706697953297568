#include "tools/sorrel/common/command_line.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <fmt/core.h>
#include <utility>

#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/common/wrapped_text.hpp"

namespace sorrel::tool {

namespace {

/// The option called `name` (with its dashes), or null. "-np" is the usual spelling of "-n".
const CLI::Option* find_option(CLI::App& app, const std::string& name) {
  const std::string known = name == "-np" || name == "--np" || name == "--n" ? "-n" : name;
  if (known.size() < 2 || known[0] != '-') return nullptr;
  if (known[1] != '-' && known.size() != 2) return nullptr;
  return app.get_option_no_throw(known);
}

bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}

std::string long_name(const CLI::Option& option) {
  return "--" + option.get_lnames().front();
}

std::string unknown_option(CLI::App& app, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames())
      names.push_back("--" + name);
    for (const std::string& name : option->get_snames())
      names.push_back("-" + name);
  }
  // The match ignores the number of dashes.
  std::string bare = word.substr(0, word.find('='));
  if (bare.size() > 2 && bare[1] != '-') bare.insert(0, "-");
  const std::string near = near_match(bare, names);
  if (!near.empty()) return fmt::format("unknown option {}; did you mean {}?", word, near);
  return fmt::format("unknown option {}; see `{} --help`", word, app.get_name());
}

/// CLI11's help with two changes. The usage line has the program and its arguments. Descriptions
/// are wrapped, which CLI11 does from version 2.5 on.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(std::string usage) : usage_(std::move(usage)) {}

  std::string make_usage(const CLI::App* /*app*/, std::string /*name*/) const override {
    return "Usage: " + usage_ + "\n";
  }

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    std::string line = "  " + make_option_name(option, is_positional) + make_option_opts(option);
    if (line.size() + 2 > description_column)
      line += "\n";
    else
      line.resize(description_column, ' ');
    const std::string description =
        wrapped_text(make_option_desc(option), description_column, help_width);
    // A description on the line of the name begins behind it.
    return line + (line.back() == '\n' ? description : description.substr(description_column));
  }

 private:
  static constexpr std::size_t description_column = 22;
  std::string usage_;
};

/// Help without the second of two empty lines, which CLI11 writes between groups.
std::string help_of(const CLI::App& app) {
  std::string help = app.help();
  for (std::size_t at = help.find("\n\n\n"); at != std::string::npos; at = help.find("\n\n\n", at))
    help.erase(at, 1);
  return help;
}

/// A word of the command line that names an option.
struct OptionWord {
  const CLI::Option* option = nullptr;  ///< null: there is none of this name
  std::string name;
  std::optional<std::string> value = {};  ///< attached to the name
};

/// "--name", "--name=value", "-n" or "-n4".
OptionWord read_option(CLI::App& app, const std::string& word) {
  OptionWord read{.option = nullptr, .name = word};
  if (const std::size_t equals = word.find('='); equals != std::string::npos) {
    read.name = word.substr(0, equals);
    read.value = word.substr(equals + 1);
  }
  read.option = find_option(app, read.name);
  if (read.option != nullptr || word[1] == '-') return read;
  const CLI::Option* letter = find_option(app, word.substr(0, 2));
  if (letter != nullptr && takes_value(*letter)) {
    read.option = letter;
    read.value = word.substr(2);
  }
  return read;
}

}  // namespace

SplitArguments split_arguments(CLI::App& app, Arguments arguments) {
  SplitArguments split;
  std::size_t index = 0;
  for (; index < arguments.size(); ++index) {
    const std::string word = arguments[index];
    if (word == "--") {
      ++index;
      break;
    }
    if (word.size() < 2 || word[0] != '-') break;
    auto [option, name, value] = read_option(app, word);
    if (option == nullptr) {
      split.error = unknown_option(app, word);
      return split;
    }
    if (!takes_value(*option)) {
      if (value) {
        split.error = fmt::format("{} takes no value", name);
        return split;
      }
      split.options.push_back(long_name(*option));
      continue;
    }
    if (!value) {
      if (index + 1 >= arguments.size()) {
        split.error = fmt::format("{} needs a value", name);
        return split;
      }
      value = arguments[++index];
    }
    if (value->empty()) {
      // CLI11 would take the next option for the value.
      split.error = fmt::format("{} needs a value that is not empty", name);
      return split;
    }
    split.options.push_back(long_name(*option) + "=" + *value);
  }
  split.program = arguments.subspan(std::min(index, arguments.size()));
  return split;
}

std::string sort_arguments(CLI::App& app,
                           Arguments arguments,
                           std::vector<std::string>& options,
                           std::vector<std::string>& operands) {
  while (!arguments.empty()) {
    const SplitArguments split = split_arguments(app, arguments);
    if (!split.error.empty()) return split.error;
    options.insert(options.end(), split.options.begin(), split.options.end());
    arguments = split.program;
    if (!arguments.empty()) {
      operands.emplace_back(arguments.front());
      arguments = arguments.subspan(1);
    }
  }
  return "";
}

std::optional<int> parse_options(CLI::App& app, const std::vector<std::string>& options) {
  try {
    std::vector<std::string> reversed(options.rbegin(), options.rend());
    app.parse(reversed);
    return std::nullopt;
  } catch (const CLI::CallForHelp&) {
    std::fputs(help_of(app).c_str(), stdout);
    return 0;
  } catch (const CLI::ParseError& error) {
    return report_error("{}", error.what());
  }
}

std::unique_ptr<CLI::App> make_app(const std::string& usage,
                                   const std::string& description,
                                   const std::string& footer) {
  auto app = std::make_unique<CLI::App>(description, usage.substr(0, usage.find(" [")));
  app->set_help_flag("-h,--help", "Print this and exit");
  app->option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app->footer(footer);
  app->formatter(std::make_shared<HelpFormatter>(usage));
  return app;
}

}  // namespace sorrel::tool
