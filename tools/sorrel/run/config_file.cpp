#include "tools/sorrel/run/config_file.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fmt/core.h>
#include <unistd.h>
#include <utility>

#include "base/small_file.hpp"
#include "tools/sorrel/common/command_line.hpp"

namespace sorrel::tool {

namespace {

constexpr std::size_t config_bytes_max = std::size_t{64} << 10;

/// "" without a home.
std::string default_path() {
  const char* config = std::getenv("XDG_CONFIG_HOME");
  if (config != nullptr && *config == '/') return std::string(config) + "/sorrel/config";
  const char* home = std::getenv("HOME");
  return home == nullptr || *home != '/' ? "" : std::string(home) + "/.config/sorrel/config";
}

std::string_view trim(std::string_view text) {
  constexpr const char* blanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

/// The option of one line, or nothing for a flag that is false. The error lacks the place.
Result<std::vector<std::string>> parse_line(CLI::App& app, std::string_view line) {
  const std::size_t equals = line.find('=');
  const std::string name(trim(line.substr(0, equals)));
  if (name.empty() || name.front() == '-' || name.find_first_of(" \t") != std::string::npos)
    return Error{fmt::format("'{}' is not an option; write it as NAME or NAME = VALUE", line)};
  if (name == "help") return Error{"help belongs on the command line"};
  std::string word = "--" + name;
  const CLI::Option* option = app.get_option_no_throw(word);
  if (option != nullptr && option->get_items_expected_max() == 0) {
    const std::string_view value =
        equals == std::string_view::npos ? "true" : trim(line.substr(equals + 1));
    if (value == "false") return std::vector<std::string>{};
    if (value != "true")
      return Error{fmt::format("{} must be true or false, not '{}'", name, value)};
  } else if (option != nullptr && equals != std::string_view::npos) {
    word += fmt::format("={}", trim(line.substr(equals + 1)));
  }
  std::array<char*, 2> words = {word.data(), nullptr};
  SplitArguments split = split_arguments(app, Arguments(words).first(1));
  if (!split.error.empty()) return Error{split.error};
  return std::move(split.options);
}

}  // namespace

Result<std::vector<std::string>> parse_config(CLI::App& app,
                                              std::string_view text,
                                              const std::string& path) {
  std::vector<std::string> options;
  for (std::uint64_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty() || line.front() == '#') continue;
    Result<std::vector<std::string>> read = parse_line(app, line);
    if (!read.has_value()) return Error{fmt::format("{}:{}: {}", path, number, read.error())};
    options.insert(options.end(), read.value().begin(), read.value().end());
  }
  return options;
}

Result<ConfigFile> read_config_file(CLI::App& app) {
  const char* named = std::getenv("SORREL_CONFIG");
  ConfigFile config{.path = named == nullptr ? default_path() : named, .options = {}};
  if (config.path.empty()) return config;
  if (named == nullptr && access(config.path.c_str(), F_OK) != 0) return ConfigFile{};
  std::string text;
  if (const std::string error = read_small_file(config.path, config_bytes_max, text);
      !error.empty())
    return Error{fmt::format("{} {}", config.path, error)};
  Result<std::vector<std::string>> options = parse_config(app, text, config.path);
  if (!options.has_value()) return Error{options.error()};
  config.options = std::move(options).value();
  return config;
}

}  // namespace sorrel::tool
