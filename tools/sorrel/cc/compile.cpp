// `sorrel cc`, `sorrel cxx`, `sorrel fc`, mpicc, mpicxx, mpifort: the user's compiler with Sorrel's
// headers and libraries.

#include "tools/sorrel/cc/compile.hpp"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <optional>
#include <string_view>
#include <unistd.h>

#include "tools/sorrel/cc/fortran.hpp"
#include "tools/sorrel/cc/irix_directives.hpp"
#include "tools/sorrel/common/command.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/common/program_file.hpp"
#include "tools/sorrel/common/shell_line.hpp"

namespace sorrel::tool {

namespace {

using Words = std::vector<std::string>;

bool has_word(std::span<const std::string> words, std::initializer_list<std::string_view> wanted) {
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::find(wanted.begin(), wanted.end(), word) != wanted.end();
  });
}

/// Input files and libraries among the arguments.
std::vector<std::string_view> inputs_of(std::span<const std::string> words) {
  std::vector<std::string_view> inputs;
  for (std::size_t index = 0; index < words.size(); ++index) {
    const std::string& word = words[index];
    const bool takes_next = has_word(
        std::span(&word, 1), {"-o", "-x", "-I", "-L", "-D", "-U", "-J", "-include", "-isystem",
                              "-MF", "-MT", "-MQ", "-Xlinker", "-T", "-u", "-z"});
    if (takes_next) {
      ++index;
    } else if (word == "-" || !word.starts_with("-") || word.starts_with("-l")) {
      inputs.push_back(word);
    }
  }
  return inputs;
}

/// Whether the compiler is of a family that knows -fstack-clash-protection: GCC 8, clang 11, icx
/// and later ones, also behind ccache.
bool probes_stacks(const Words& compiler) {
  return std::ranges::any_of(compiler, [](const std::string& word) {
    if (word.starts_with("-")) return false;
    const std::string name = word.substr(word.rfind('/') + 1);
    const auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
    return name == "cc" || name == "c++" || has("gcc") || has("g++") || has("gfortran") ||
           has("clang") || has("icx") || has("icpx");
  });
}

Words split_on_spaces(std::string_view text) {
  Words words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

/// True if the command is an MPI wrapper, this one or another MPI's: CC=mpicc is common, and a
/// wrapper that calls itself would never end. "ccache mpicc" is recognised too.
bool is_mpi_wrapper(const Words& command, const Installation& installation) {
  return std::any_of(command.begin(), command.end(), [&](const std::string& word) {
    if (word.starts_with("-")) return false;
    const std::string name = word.substr(word.rfind('/') + 1);
    if (name.starts_with("mpi")) return true;
    char real[PATH_MAX];
    const std::string path = find_program(word);
    return !path.empty() && realpath(path.c_str(), real) != nullptr &&
           installation.executable == real;
  });
}

/// What differs between the wrappers.
struct LanguageWords {
  std::string_view command, naming, language, aliases, variable, compiler, ending, headers;
};

LanguageWords words_of(Language language) {
  switch (language) {
    case Language::c:
      return {"cc", "-cc=", "C", "mpicc", "CC", "cc", "c", "mpi.h"};
    case Language::cxx:
      return {"cxx", "-cxx=", "C++", "mpicxx and mpic++", "CXX", "c++", "cpp", "mpi.h"};
    default:
      return {"fc", "-fc=",     "Fortran", "mpifort, mpif90, mpif95 and mpif77",
              "FC", "gfortran", "f90",     "mpif.h, modules mpi and mpi_f08"};
  }
}

/// The compiler: -cc=NAME, else SORREL_CC, else CC, else cc; a variable that names an MPI wrapper
/// is ignored.
Words choose_compiler(const LanguageWords& language,
                      const std::string& named,
                      const Installation& installation) {
  if (!named.empty()) return split_on_spaces(named);
  const std::string variable_name(language.variable);
  for (const std::string& variable : {"SORREL_" + variable_name, variable_name}) {
    const char* value = std::getenv(variable.c_str());
    if (value == nullptr) continue;
    Words command = split_on_spaces(value);
    if (!command.empty() && !is_mpi_wrapper(command, installation)) return command;
  }
  return {std::string(language.compiler)};
}

/// Options that the wrapper answers itself: -show, -showme[:part], and MPICH's names for the same.
struct Question {
  std::string
      part;  ///< "", "command", "compile", "link", "incdirs", "libdirs", "libs", "version", "help"
};

std::optional<Question> read_question(std::string_view word) {
  if (word.starts_with("--")) word.remove_prefix(1);
  if (word == "-show" || word == "-showme") return Question{""};
  if (word.starts_with("-showme:")) return Question{std::string(word.substr(8))};
  if (word == "-compile_info" || word == "-compile-info") return Question{"compile"};
  if (word == "-link_info" || word == "-link-info") return Question{"link"};
  return std::nullopt;
}

constexpr const char* help_text =
    "Usage: sorrel {0} [compiler's own arguments]\n"
    "Compiles and links {1} programs with Sorrel's\n"
    "{6} and libmpi_abi.so.1; also installed as\n"
    "{2}.\n"
    "All arguments go to the compiler unchanged. The result runs under\n"
    "`sorrel run` and under any MPI with the standard ABI. Stacks are\n"
    "probed: -fno-stack-clash-protection switches it off.\n\n"
    "Environment:\n"
    "  SORREL_{3}, {3}     the compiler (default: {4}); one that is an MPI\n"
    "                    wrapper itself is passed over\n\n"
    "Options that are not passed on:\n"
    "  -show, -showme                the command that would run\n"
    "  -showme:compile|link|incdirs|libdirs|libs|command|wrappers|version\n"
    "  -compile_info, -link_info     MPICH's names for the same\n"
    "  -{0}=NAME                     use this compiler\n"
    "  --help                        this text, if it is the only argument\n\n"
    "Examples:\n"
    "  sorrel {0} -O2 hello.{5} -o hello && sorrel run -n 8 ./hello\n"
    "{7}"
    "  PATH=$(sorrel cc -showme:wrappers):$PATH cmake -B build\n\n"
    "Exit status: the compiler's; 127 if there is no such compiler, 2 for a\n"
    "question that is not understood.\n";

constexpr const char* fortran_example =
    "  sorrel fc -O2 -static-libgfortran hello.f90    # saves memory\n";

void print_wrapper_help(Language language) {
  const LanguageWords words = words_of(language);
  fmt::print(help_text, words.command, words.language, words.aliases, words.variable,
             words.compiler, words.ending, words.headers,
             language == Language::fortran ? fortran_example : "");
}

int answer(const Question& question,
           const Words& compiler,
           const Words& words,
           const WrapperFlags& flags,
           const Installation& installation) {
  if (question.part.empty()) {
    fmt::print("{}\n", shell_line(compiler_arguments(compiler, words, flags)));
  } else if (question.part == "command") {
    fmt::print("{}\n", shell_line(compiler));
  } else if (question.part == "compile") {
    fmt::print("{}\n", shell_line(flags.compile));
  } else if (question.part == "link") {
    fmt::print("{}\n", shell_line(flags.link));
  } else if (question.part == "incdirs") {
    Words folders;
    for (const std::string& word : flags.compile) {
      if (word.starts_with("-I")) folders.push_back(word.substr(2));
    }
    fmt::print("{}\n", fmt::join(folders, " "));
  } else if (question.part == "libdirs") {
    fmt::print("{}\n", installation.library_dir);
  } else if (question.part == "wrappers") {
    fmt::print("{}\n", installation.mpi_folder());
  } else if (question.part == "libs") {
    Words libraries;
    for (const std::string& word : flags.link) {
      if (word.starts_with("-l")) libraries.push_back(word.substr(2));
    }
    fmt::print("{}\n", fmt::join(libraries, " "));
  } else if (question.part == "version") {
    fmt::print("Sorrel {}\n", SORREL_VERSION);
  } else {
    return report_error(
        "-showme:{} is not known; allowed are command, compile, link, incdirs, libdirs, libs, "
        "wrappers, version",
        question.part);
  }
  return 0;
}

/// The loop that a directive of IRIX would divide runs on one thread.
void print_note_on_directives(std::span<const std::string> words) {
  const auto found = first_irix_directive(words);
  if (!found) return;
  print_diagnostic(
      fmt::format("note: {}:{}: {} is a comment for gfortran: this loop runs on one thread; write "
                  "!$OMP PARALLEL DO, compile with -fopenmp, and run with `sorrel run --omp`",
                  found->file, found->line, found->name));
}

int compile(Language language, Arguments arguments) {
  const Installation installation = find_installation();
  Words words;
  std::string named_compiler;
  std::optional<Question> question;
  const LanguageWords wrapper = words_of(language);
  for (const char* const argument : arguments) {
    if (std::string_view(argument).starts_with(wrapper.naming)) {
      named_compiler = std::string_view(argument).substr(wrapper.naming.size());
    } else if (const auto asked = read_question(argument); asked) {
      question = asked;
    } else {
      words.emplace_back(argument);
    }
  }
  const bool wants_help = words.size() == 1 && has_word(words, {"--help", "-help", "-h"});
  if (!question && (words.empty() || wants_help)) {
    print_wrapper_help(language);
    return 0;
  }
  if (installation.include_dir.empty() || installation.library_dir.empty()) {
    return report_error(
        "mpi.h and {} are not beside this command: expected ../include/mpi and ../lib of {}",
        library_name, installation.executable);
  }
  const Words compiler = choose_compiler(wrapper, named_compiler, installation);
  WrapperFlags flags;
  if (language == Language::fortran) {
    if (const std::string error = fortran_argument_error(words); !error.empty())
      return report_error("{}", error);
    Result<WrapperFlags> found = fortran_flags(compiler, installation);
    if (!found.has_value()) {
      print_diagnostic(found.error());
      return find_program(compiler[0]).empty() ? exit_not_found : exit_invalid_input;
    }
    flags = std::move(found).value();
  } else {
    flags = wrapper_flags(installation);
  }
  if (question) return answer(*question, compiler, words, flags, installation);
  if (words.size() == 1 && words[0] == "-v")
    fmt::print(stderr, "wrapper of Sorrel {}\n", SORREL_VERSION);
  if (language == Language::fortran && will_compile(words)) print_note_on_directives(words);
  Words command = compiler_arguments(compiler, words, flags);
  execvp(command[0].c_str(), pointers_to(command).data());
  print_diagnostic(
      fmt::format("cannot start the compiler {}: {}", command[0], std::strerror(errno)));
  return exit_not_found;
}

}  // namespace

WrapperFlags wrapper_flags(const Installation& installation) {
  WrapperFlags flags;
  flags.compile = {"-I" + installation.include_dir + "/mpi", "-I" + installation.include_dir};
  flags.link = {"-L" + installation.library_dir};
  // A RUNPATH (the "new tag") lets ./app find the library by itself. LD_LIBRARY_PATH still precedes
  // it, by which another MPI's launcher selects its own library. System folders need none.
  if (!installation.library_dir.starts_with("/usr/lib") &&
      !installation.library_dir.starts_with("/lib")) {
    flags.link.push_back("-Wl,-rpath," + installation.library_dir);
    flags.link.emplace_back("-Wl,--enable-new-dtags");
  }
  flags.link.emplace_back("-lmpi_abi");
  return flags;
}

bool will_link(std::span<const std::string> words) {
  const bool stops_early =
      has_word(words, {"-c", "-E", "-S", "-M", "-MM", "-fsyntax-only", "--version", "-###",
                       "-dumpversion", "-dumpfullversion", "-dumpmachine", "-dumpspecs"});
  if (stops_early) return false;
  // Without an input file the compiler only prints information (-v, --help, -print-…).
  return !inputs_of(words).empty();
}

bool will_compile(std::span<const std::string> words) {
  return std::ranges::any_of(inputs_of(words), [](std::string_view input) {
    const std::string_view ending = input.substr(std::min(input.rfind('.'), input.size()));
    return !input.starts_with("-l") && ending != ".o" && ending != ".a" && ending != ".so" &&
           ending != ".lo" && input.find(".so.") == input.npos;
  });
}

Words compiler_arguments(const Words& compiler,
                         std::span<const std::string> words,
                         const WrapperFlags& flags) {
  Words command = compiler;
  // First, so that the user's options override these.
  command.emplace_back("-fPIE");
  if (probes_stacks(compiler) && will_compile(words))
    command.emplace_back("-fstack-clash-protection");
  command.insert(command.end(), flags.compile.begin(), flags.compile.end());
  const bool links = will_link(words);
  const bool user_decides =
      has_word(words, {"-shared", "-static", "-static-pie", "-no-pie", "-nopie", "-pie", "-r"});
  if (links && !user_decides) command.emplace_back("-pie");
  command.insert(command.end(), words.begin(), words.end());
  // Last, so that the objects that need the library precede it.
  if (links) command.insert(command.end(), flags.link.begin(), flags.link.end());
  return command;
}

int cc_command(Arguments arguments) {
  return compile(Language::c, arguments);
}

int cxx_command(Arguments arguments) {
  return compile(Language::cxx, arguments);
}

int fc_command(Arguments arguments) {
  return compile(Language::fortran, arguments);
}

}  // namespace sorrel::tool
