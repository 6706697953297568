#include "tools/sorrel/mpiexec/mpiexec.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <optional>
#include <string_view>
#include <unistd.h>

#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/common/program_file.hpp"

namespace sorrel::tool {

namespace {

enum class Meaning {
  ranks,
  own,
  drop,
  ignore,
  environment,
  exported,
  label,
  bind,
  folder,
  version
};

struct ForeignOption {
  std::string_view name;  ///< without dashes: both launchers take one or two
  int value_count;
  Meaning meaning;
};

/// `drop`: always true here (ranks may outnumber cores, the environment is inherited). `ignore`:
/// might have mattered; a note names the option.
constexpr ForeignOption foreign_options[] = {
    {"n", 1, Meaning::ranks},
    {"np", 1, Meaning::ranks},
    {"c", 1, Meaning::ranks},
    {"workers", 1, Meaning::own},
    {"stack", 1, Meaning::own},
    {"bind", 1, Meaning::own},
    {"ranks", 1, Meaning::own},
    {"shared", 1, Meaning::own},
    {"label", 0, Meaning::own},
    {"help", 0, Meaning::own},
    {"h", 0, Meaning::own},
    {"l", 0, Meaning::label},
    {"prepend-rank", 0, Meaning::label},
    {"tag-output", 0, Meaning::label},
    {"bind-to", 1, Meaning::bind},
    {"genv", 1, Meaning::environment},
    {"env", 1, Meaning::environment},
    {"x", 1, Meaning::exported},
    {"wdir", 1, Meaning::folder},
    {"wd", 1, Meaning::folder},
    {"version", 0, Meaning::version},
    {"V", 0, Meaning::version},
    {"oversubscribe", 0, Meaning::drop},
    {"nooversubscribe", 0, Meaning::drop},
    {"allow-run-as-root", 0, Meaning::drop},
    {"use-hwthread-cpus", 0, Meaning::drop},
    {"map-by", 1, Meaning::drop},
    {"rank-by", 1, Meaning::drop},
    {"genvall", 0, Meaning::drop},
    {"envall", 0, Meaning::drop},
    {"quiet", 0, Meaning::drop},
    {"q", 0, Meaning::drop},
    {"host", 1, Meaning::ignore},
    {"hosts", 1, Meaning::ignore},
    {"H", 1, Meaning::ignore},
    {"hostfile", 1, Meaning::ignore},
    {"machinefile", 1, Meaning::ignore},
    {"f", 1, Meaning::ignore},
    {"ppn", 1, Meaning::ignore},
    {"perhost", 1, Meaning::ignore},
    {"npernode", 1, Meaning::ignore},
    {"N", 1, Meaning::ignore},
    {"launcher", 1, Meaning::ignore},
    {"bootstrap", 1, Meaning::ignore},
    {"iface", 1, Meaning::ignore},
    {"mca", 2, Meaning::ignore},
    {"gmca", 2, Meaning::ignore},
    {"verbose", 0, Meaning::ignore},
    {"v", 0, Meaning::ignore},
    {"report-bindings", 0, Meaning::ignore},
};

const ForeignOption* find_foreign(std::string_view word) {
  word.remove_prefix(word.substr(0, 2) == "--" ? 2 : 1);
  const auto* found =
      std::find_if(std::begin(foreign_options), std::end(foreign_options),
                   [&](const ForeignOption& option) { return option.name == word; });
  return found == std::end(foreign_options) ? nullptr : found;
}

class Translator {
 public:
  explicit Translator(Arguments arguments) : arguments_(arguments) {}

  Translation translate() {
    while (index_ < arguments_.size() && result_.error.empty()) {
      const std::string word = arguments_[index_];
      if (word == "--" || word.size() < 2 || word[0] != '-') break;
      ++index_;
      take_option(word);
    }
    if (index_ < arguments_.size() && std::string_view(arguments_[index_]) == "--") ++index_;
    const Arguments rest = arguments_.subspan(index_);
    const auto separator = std::find_if(
        rest.begin(), rest.end(), [](const char* word) { return std::string_view(word) == ":"; });
    result_.program = rest.first(static_cast<std::size_t>(separator - rest.begin()));
    if (separator != rest.end() && result_.error.empty())
      take_further(rest.subspan(result_.program.size() + 1));
    return result_;
  }

 private:
  /// The programs after the first, each with its number of ranks.
  void take_further(Arguments words) {
    Translation next = Translator(words).translate();
    if (result_.error.empty()) result_.error = next.error;
    if (result_.error.empty() && (!next.variables.empty() || !next.folder.empty()))
      result_.error =
          "options that set variables or a folder are for the whole job; give them before the "
          "first "
          "program";
    result_.ignored.insert(result_.ignored.end(), next.ignored.begin(), next.ignored.end());
    result_.further.emplace_back(":");
    result_.further.insert(result_.further.end(), next.options.begin(), next.options.end());
    result_.further.emplace_back("--");
    result_.further.insert(result_.further.end(), next.program.begin(), next.program.end());
    result_.further.insert(result_.further.end(), next.further.begin(), next.further.end());
  }

  void take_option(const std::string& word) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const ForeignOption* option = find_foreign(name);
    if (option == nullptr) {
      result_.options.push_back(word);
      return;
    }
    std::vector<std::string> values;
    if (equals != std::string::npos && option->value_count > 0)
      values.push_back(word.substr(equals + 1));
    while (values.size() < static_cast<std::size_t>(option->value_count)) {
      const auto value = next_word();
      if (!value) {
        result_.error = fmt::format("{} needs a value", name);
        return;
      }
      values.push_back(*value);
    }
    if (option->meaning != Meaning::ignore && !values.empty() && values[0].empty()) {
      result_.error = fmt::format("{} needs a value that is not empty", name);
      return;
    }
    apply(*option, name, values);
  }

  void apply(const ForeignOption& option,
             const std::string& name,
             const std::vector<std::string>& values) {
    switch (option.meaning) {
      case Meaning::ranks:
        result_.options.push_back("--ranks=" + values[0]);
        break;
      case Meaning::own:
        result_.options.push_back(fmt::format("--{}{}{}", option.name == "h" ? "help" : option.name,
                                              values.empty() ? "" : "=",
                                              values.empty() ? "" : values[0]));
        break;
      case Meaning::label:
        result_.options.emplace_back("--label");
        break;
      case Meaning::bind:
        result_.options.emplace_back(values[0] == "none" ? "--bind=none" : "--bind=core");
        break;
      case Meaning::folder:
        result_.folder = values[0];
        break;
      case Meaning::version:
        result_.wants_version = true;
        break;
      case Meaning::environment:
        take_assignment(name, values[0]);
        break;
      case Meaning::exported:
        // A bare NAME has no effect: the environment is inherited.
        if (values[0].find('=') != std::string::npos) take_assignment(name, values[0]);
        break;
      case Meaning::ignore:
        result_.ignored.push_back(name);
        break;
      case Meaning::drop:
        break;
    }
  }

  /// "NAME=VALUE", or MPICH's "NAME VALUE".
  void take_assignment(const std::string& option, const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos && equals > 0) {
      result_.variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
      return;
    }
    const auto value = equals == 0 ? std::nullopt : next_word();
    if (!value) {
      result_.error = fmt::format("{} needs NAME=VALUE or NAME VALUE, not '{}'", option, text);
      return;
    }
    result_.variables.emplace_back(text, *value);
  }

  std::optional<std::string> next_word() {
    if (index_ >= arguments_.size()) return std::nullopt;
    return std::string(arguments_[index_++]);
  }

  Arguments arguments_;
  std::size_t index_ = 0;
  Translation result_;
};

}  // namespace

Translation translate_mpiexec(Arguments arguments) {
  return Translator(arguments).translate();
}

int mpiexec_command(Arguments arguments) {
  Translation translation = translate_mpiexec(arguments);
  if (!translation.error.empty()) return report_error("{}", translation.error);
  if (translation.wants_version) {
    fmt::print("mpiexec of Sorrel {}\n", SORREL_VERSION);
    return 0;
  }
  if (!translation.ignored.empty()) {
    print_diagnostic(fmt::format("note: ignored, without meaning here: {}",
                                 fmt::join(translation.ignored, ", ")));
  }
  for (const auto& [name, value] : translation.variables)
    setenv(name.c_str(), value.c_str(), 1);
  if (!translation.folder.empty() && chdir(translation.folder.c_str()) != 0) {
    return report_error("cannot change to folder {}: {}", translation.folder, std::strerror(errno));
  }
  std::vector<std::string>& options = translation.options;
  if (!translation.program.empty()) options.emplace_back("--");
  std::vector<char*> words = pointers_to(options);
  words.insert(words.end() - 1, translation.program.begin(), translation.program.end());
  const std::vector<char*> further = pointers_to(translation.further);
  words.insert(words.end() - 1, further.begin(), further.end() - 1);
  return run_command(Arguments(words).first(words.size() - 1));
}

}  // namespace sorrel::tool
