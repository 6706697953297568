#include "tools/sorrel/inspect/python_program.hpp"

#include <chrono>
#include <cstdint>
#include <fmt/core.h>
#include <fstream>
#include <iterator>
#include <string_view>
#include <sys/wait.h>
#include <utility>
#include <variant>

#include "os/library_state.hpp"
#include "tools/sorrel/common/command_output.hpp"
#include "tools/sorrel/common/program_file.hpp"

namespace sorrel::tool {

namespace {

/// What an interpreter and the library in its place must have in common.
struct PythonBuild {
  /// PY_VERSION_HEX: a byte each for the three parts of the version, and one for its state. 0
  /// before Python 3.11, which has no variable for it.
  std::uint64_t version = 0;
  bool is_without_lock = false;
  bool is_for_debugging = false;

  bool operator==(const PythonBuild&) const = default;
};

PythonBuild build_of(const os::ElfFile& file) {
  PythonBuild build;
  file.for_each_symbol([&](const os::ElfSymbol& symbol) {
    if (!symbol.is_defined) return;
    if (symbol.name == "Py_Version") build.version = file.word_at(symbol.address);
    // Functions that macros of such a build call, so that each one exports them.
    build.is_without_lock |= symbol.name == "_Py_DecRefShared";
    build.is_for_debugging |= symbol.name == "_Py_NegativeRefcount";
  });
  return build;
}

/// "libpython3.14t.so.1.0", by what is inside of the interpreter or by its name; "" without either.
std::string library_name_of(const PythonBuild& build, std::string_view interpreter) {
  if (build.version != 0) {
    constexpr std::uint64_t part = 0xff;
    return fmt::format("libpython{}.{}{}{}.so.1.0", build.version >> 24 & part,
                       build.version >> 16 & part, build.is_without_lock ? "t" : "",
                       build.is_for_debugging ? "d" : "");
  }
  constexpr std::string_view stem = "python";
  std::string_view name = os::base_name(interpreter);
  if (!name.starts_with(stem)) return "";
  name.remove_prefix(stem.size());
  const bool is_version =
      name.find('.') != name.npos && name.find_first_not_of("0123456789.") == name.npos;
  return is_version ? fmt::format("libpython{}.so.1.0", name) : "";
}

bool is_library_of(const PythonBuild& build, const std::string& library) {
  const auto opened = os::ElfFile::open(library);
  const auto* file = std::get_if<os::ElfFile>(&opened);
  return file != nullptr && file->kind == os::ElfKind::shared_library && is_python(*file) &&
         build_of(*file) == build;
}

/// Options whose value is the next word, if it is not the rest of the word.
constexpr std::string_view with_value = "WX";
/// Options that end the list of options: the rest is the program.
constexpr std::string_view with_program = "cm";
/// Options with which the interpreter runs no program.
constexpr std::string_view without_program = "hV?";

/// What a word of short options says about the words that follow.
enum class AfterOptions : std::uint8_t { more_words, value, no_program_from_input };

AfterOptions after_options(std::string_view letters) {
  for (std::size_t at = 0; at < letters.size(); ++at) {
    const char option = letters[at];
    if (with_program.find(option) != with_program.npos ||
        without_program.find(option) != without_program.npos)
      return AfterOptions::no_program_from_input;
    if (with_value.find(option) == with_value.npos) continue;
    return at + 1 == letters.size() ? AfterOptions::value : AfterOptions::more_words;
  }
  return AfterOptions::more_words;
}

}  // namespace

bool is_python(const os::ElfFile& program) {
  bool is_found = false;
  program.for_each_symbol(
      [&](const os::ElfSymbol& symbol) { is_found |= symbol.name == "Py_BytesMain"; });
  return is_found;
}

PythonLibrary find_python_library(const os::ElfFile& interpreter,
                                  const std::string& path,
                                  const os::LibrarySearch& search) {
  const std::string file = real_path(path);
  const PythonBuild build = build_of(interpreter);
  PythonLibrary library{.name = library_name_of(build, file), .path = ""};
  if (library.name.empty()) return library;
  const std::string beside = os::folder_of(os::folder_of(file)) + "/lib/" + library.name;
  for (const std::string& candidate :
       {beside, os::find_library(library.name, interpreter, file, search)}) {
    if (library.path.empty() && os::is_file(candidate) && is_library_of(build, candidate))
      library.path = candidate;
  }
  return library;
}

std::string interpreter_of_shim(const std::string& path) {
  constexpr std::chrono::seconds limit{20};
  constexpr std::string_view sign = "/pyenv\" exec \"$program\" \"$@\"";
  std::ifstream file(path, std::ios::binary);
  const std::string script{std::istreambuf_iterator<char>(file), {}};
  if (script.find(sign) == script.npos) return "";
  CommandOutput output =
      output_of({path, "-c", "import sys; sys.stdout.write(sys.executable)"}, limit);
  const bool is_good = output.error == 0 && !output.is_late && WIFEXITED(output.status) &&
                       WEXITSTATUS(output.status) == 0;
  return is_good && output.text.starts_with('/') && os::is_file(output.text)
             ? std::move(output.text)
             : "";
}

bool reads_program_from_input(Arguments arguments) {
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    if (word == "-") return true;
    if (!word.starts_with('-')) return false;
    if (word.starts_with("--")) {
      if (word.starts_with("--help") || word == "--version") return false;
      if (word == "--check-hash-based-pycs") ++i;
      continue;
    }
    const AfterOptions after = after_options(word.substr(1));
    if (after == AfterOptions::no_program_from_input) return false;
    if (after == AfterOptions::value) ++i;
  }
  return true;
}

}  // namespace sorrel::tool
