#include "tools/sorrel/inspect/preflight.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <fstream>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utility>

#include "os/interpreter_line.hpp"
#include "os/library_search.hpp"
#include "os/library_state.hpp"
#include "os/library_walk.hpp"
#include "tools/sorrel/common/program_file.hpp"
#include "tools/sorrel/inspect/interpreter.hpp"
#include "tools/sorrel/inspect/loader_answer.hpp"
#include "tools/sorrel/inspect/mpi_interface.hpp"
#include "tools/sorrel/inspect/python_program.hpp"
#include "tools/sorrel/machine/kernel_features.hpp"

namespace sorrel::tool {

namespace {

using os::ElfError;
using os::ElfErrorKind;
using os::ElfFile;
using os::ElfKind;

#if defined(__x86_64__)
constexpr std::uint32_t copy_relocation = R_X86_64_COPY;
#elif defined(__aarch64__)
constexpr std::uint32_t copy_relocation = R_AARCH64_COPY;
#endif

/// Names printed in an error; `info` prints all.
constexpr std::size_t names_shown_max = 8;
/// Depth of interpreters that are scripts themselves.
constexpr int script_depth_max = 5;
/// Memory maps that the library leaves for heaps, worker stacks and message pools.
constexpr std::uint64_t maps_left_over = 1000;
/// Upper estimates: maps of a process with only the C library and Sorrel's, and maps of each
/// further library.
constexpr std::uint64_t maps_of_process = 100;
constexpr std::uint64_t maps_of_library = 5;

std::string_view kind_name(const ElfFile& elf) {
  switch (elf.kind) {
    case ElfKind::executable_pie:
      return elf.is_static() ? "static position-independent executable"
                             : "position-independent executable";
    case ElfKind::executable_fixed:
      return elf.is_static() ? "static executable" : "executable for a fixed address";
    case ElfKind::shared_library:
      return "shared library";
    default:
      return "object file";
  }
}

bool is_windows_program(const std::string& path) {
  char start[2] = {};
  std::ifstream(path, std::ios::binary).read(start, sizeof start);
  return start[0] == 'M' && start[1] == 'Z';
}

std::string text_of_error(const std::string& name, const std::string& path, const ElfError& error) {
  switch (error.kind) {
    case ElfErrorKind::cannot_open:
      return fmt::format("{}: {}", name, error.detail);
    case ElfErrorKind::not_a_file:
      return fmt::format("{} is {}; give a program", name, error.detail);
    case ElfErrorKind::script:
      return fmt::format("{} is a script", name);
    case ElfErrorKind::not_elf:
      return fmt::format("{} is not an ELF executable{}", name,
                         is_windows_program(path) ? " but one for Windows; build it for Linux with "
                                                    "`sorrel cc`, `sorrel cxx` or `sorrel fc`"
                                                  : "");
    case ElfErrorKind::other_architecture:
      return fmt::format("{} is built for another architecture, {}; this machine is {}", name,
                         error.detail, SORREL_ARCHITECTURE);
    case ElfErrorKind::damaged:
      return fmt::format("{} is a damaged ELF file: {}", name, error.detail);
  }
  return "";
}

/// Whether a file that needs no library of MPI has MPI's functions.
bool contains_mpi(const ElfFile& elf) {
  return elf.defines_function("MPI_Init") || elf.defines_function("PMPI_Init");
}

/// An error about the kind of file, or "".
std::string check_kind(const std::string& name, const ElfFile& elf) {
  const bool is_program =
      elf.kind == ElfKind::executable_pie || elf.kind == ElfKind::executable_fixed;
  if (!is_program)
    return fmt::format("{} is {}; give a program", name,
                       elf.kind == ElfKind::shared_library ? "a shared library" : "an object file");
  if (elf.is_static() && contains_mpi(elf)) {
    return fmt::format(
        "{} is statically linked and contains its own MPI; link it dynamically: leave out -static "
        "and link with `sorrel cc`, `sorrel cxx` or `sorrel fc`",
        name);
  }
  if (elf.is_static()) {
    return fmt::format(
        "{} is statically linked, so it holds its own MPI or none; link it dynamically: leave out "
        "-static and link with `sorrel cc`",
        name);
  }
  return "";
}

std::string why_interpreter(const std::string& name) {
  return fmt::format(
      "{} is an interpreter, and what it loads cannot be private to a rank in one process", name);
}

std::string why_started_interpreter(const std::string& name) {
  return fmt::format(
      "{} starts an interpreter, and what that loads cannot be private to a rank in one process",
      name);
}

/// GCC and gfortran put code for a nested function on the stack if its address is passed and it
/// uses variables of its host. Ranks' stacks are not executable.
bool needs_executable_stack(const ElfFile& elf) {
  return std::ranges::any_of(elf.headers, [](const Elf64_Phdr& header) {
    return header.p_type == PT_GNU_STACK && (header.p_flags & PF_X) != 0;
  });
}

/// `library`: what is sought for this interpreter of Python at a fixed address.
std::string why_no_python_library(const std::string& name, const PythonLibrary& library) {
  return fmt::format(
      "{} is at a fixed address, and {} of its version, which could run in its place, is not found",
      name, library.name.empty() ? "a shared library of Python" : library.name);
}

std::string why_python_below_wrapper(const std::string& name) {
  return fmt::format(
      "{} is an interpreter below a wrapper, where what it loads cannot be private to a rank",
      name);
}

/// Why ranks of this program cannot share a process, or "".
std::string why_own_process(const std::string& name, const ElfFile& elf, const std::string& path) {
  if (starts_interpreter(path)) return why_started_interpreter(name);
  if (elf.kind == ElfKind::executable_fixed) {
    return fmt::format(
        "{} is not position-independent, so its ranks cannot have private globals in one process "
        "(rebuilt with -fPIE -pie it could)",
        name);
  }
  if (is_interpreter(path) && !is_python(elf)) return why_interpreter(name);
  if (needs_executable_stack(elf)) {
    return fmt::format(
        "{} needs an executable stack (nested functions that use variables of their host), which "
        "ranks of one process do not have",
        name);
  }
  return "";
}

/// Functions that start ranks, for which not every job has places.
bool starts_ranks(std::string_view name) {
  if (name.starts_with('P')) name.remove_prefix(1);
  return name == "MPI_Comm_spawn" || name == "MPI_Comm_spawn_multiple";
}

/// Functions that start other programs.
constexpr std::string_view starters[] = {"execl",       "execle",       "execlp",  "execv",
                                         "execve",      "execvp",       "execvpe", "fexecve",
                                         "posix_spawn", "posix_spawnp", "system",  "popen"};

/// Functions that load code: libraries, or modules by an interpreter that is a library.
constexpr std::string_view openers[] = {
    "dlopen", "dlmopen", "Py_Initialize", "Py_InitializeFromConfig", "Py_BytesMain", "Py_Main"};

/// Whether the file calls one of the functions.
bool calls_any(const ElfFile& elf, std::span<const std::string_view> functions) {
  bool calls = false;
  elf.for_each_symbol([&](const os::ElfSymbol& symbol) {
    calls = calls || (!symbol.is_defined && std::find(functions.begin(), functions.end(),
                                                      symbol.name) != functions.end());
  });
  return calls;
}

/// Whether the program needs one of the libraries.
bool needs_any(const ProgramReport& report, std::initializer_list<std::string_view> names) {
  return std::any_of(report.needed.begin(), report.needed.end(), [&](const auto& library) {
    return std::any_of(names.begin(), names.end(),
                       [&](std::string_view name) { return os::is_library(library.name, name); });
  });
}

/// Whether the system starts this file with other rights than the caller's (AT_SECURE). The system
/// then removes LD_* variables, and the library ignores those of the job.
bool has_other_rights(const std::string& path) {
  struct stat status{};
  struct statvfs system{};
  if (stat(path.c_str(), &status) != 0) return false;
  if (statvfs(path.c_str(), &system) == 0 && (system.f_flag & ST_NOSUID) != 0) return false;
  const bool has_capabilities =
      geteuid() != 0 && getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
  return has_capabilities || ((status.st_mode & S_ISUID) != 0 && status.st_uid != geteuid()) ||
         ((status.st_mode & S_ISGID) != 0 && (status.st_mode & S_IXGRP) != 0 &&
          status.st_gid != getegid());
}

os::LibrarySearch search_of_user(const Installation& installation) {
  os::LibrarySearch search = os::search_with(std::getenv("LD_LIBRARY_PATH"));
  search.before_runpath.insert(search.before_runpath.begin(), installation.library_dir);
  return search;
}

/// Collects what the program and its libraries need and provide.
class Inspection final : public os::LibraryWalk {
 public:
  Inspection(ProgramReport& report,
             const Installation& installation,
             const LibraryOptions& libraries)
      : LibraryWalk(search_of_user(installation)),
        report_(report),
        installation_(installation),
        our_library_(installation.library()),
        libraries_(libraries),
        classifier_(libraries.shared),
        has_early_library_(os::is_file(installation.early_library())) {}

  void visit_program(const ElfFile& elf, const std::string& path) {
    program_ = &elf;
    classifier_.add_program(report_.name, elf);
    take_symbols(elf);
    take_copies(elf);
    first_.assign(elf.needed.begin(), elf.needed.end());
    if (!report_.python_library.empty()) first_.push_back(report_.python_library);
    const std::size_t first_preloaded = first_.size();
    const char* preloaded = std::getenv("LD_PRELOAD");
    for (const std::string& part : os::split_path(preloaded == nullptr ? "" : preloaded)) {
      for (std::string& name : os::split_path(part, ' '))
        first_.push_back(std::move(name));
    }
    preloaded_count_ = first_.size() - first_preloaded;
    for (const std::string& name : first_)
      walk_to(name, elf, path);
  }

  void finish() {
    Names missing = wanted_;
    for (const std::string& name : given_)
      missing.erase(name);
    auto ours = ElfFile::open(our_library_);
    // A translation has all names of its interface.
    if (const auto* file = std::get_if<ElfFile>(&ours); file != nullptr && !is_translated()) {
      file->for_each_symbol([&](const os::ElfSymbol& symbol) {
        if (!symbol.is_defined) return;
        const auto found = missing.find(symbol.name);
        if (found != missing.end()) missing.erase(found);
      });
    }
    std::erase_if(used_,
                  [&](const std::string& name) { return !is_mpi_name(name, is_translated()); });
    std::erase_if(wanted_,
                  [&](const std::string& name) { return !is_mpi_name(name, is_translated()); });
    report_.functions.assign(used_.begin(), used_.end());
    for (const std::string& name : wanted_) {
      if (starts_ranks(name)) {
        report_.spawn_functions.push_back(name);
      } else if (missing.contains(name)) {
        report_.missing_functions.push_back(name);
      }
    }
    // The loader lists the libraries that libraries need behind the C library, whose functions the
    // program would then take.
    const bool is_indirect =
        report_.uses_mpi && std::find(first_.begin(), first_.end(), library_name) == first_.end();
    report_.must_preload =
        report_.must_preload || !report_.uses_mpi || (is_indirect && libraries_.may_preload);
    // Below a wrapper, libsorrel-early preloads what a translation needs.
    if (has_early_library_ && (!is_indirect || is_translated() || libraries_.may_preload))
      classifier_.allow_private(libraries_.private_ones);
    const std::string reason = classifier_.classify(first_, report_.needed);
    if (report_.own_process_reason.empty()) report_.own_process_reason = reason;
    if (!report_.own_process_reason.empty()) return;
    report_.private_libraries = classifier_.private_libraries();
    for (const std::string& name : report_.private_libraries) {
      const auto bytes = tls_bytes_.find(name);
      if (bytes == tls_bytes_.end()) continue;
      report_.has_tls = true;
      report_.tls_bytes += bytes->second;
    }
  }

  [[nodiscard]] const std::string& foreign() const { return foreign_; }

  [[nodiscard]] const std::string& foreign_name() const { return foreign_name_; }

  /// Why no process can have the MPI libraries that it needs, or "".
  [[nodiscard]] std::string mixture() const {
    const bool has_standard = !standard_name_.empty() && !translated_name_.empty();
    return has_standard ? mixture_of(standard_name_, translated_name_) : mixture_;
  }

  /// An error if the program or a library of it contains an MPI of its own, or "".
  [[nodiscard]] std::string own_mpi() const {
    if (report_.uses_mpi || report_.is_interpreter) return "";
    const bool is_program = contains_mpi(*program_);
    if (!is_program && own_mpi_library_.empty()) return "";
    return fmt::format(
        "{} contains its own MPI{}, or a substitute for it, and needs no MPI library that Sorrel "
        "could replace; link it with `sorrel cc`, `sorrel cxx` or `sorrel fc` and no other MPI",
        report_.name, is_program ? "" : " (in " + own_mpi_library_ + ")");
  }

  /// Why the loader will not load all libraries, or "".
  [[nodiscard]] const std::string& library_error() const { return library_error_; }

 private:
  using Names = std::set<std::string, std::less<>>;

  /// Asks the loader if the search finds nothing: at most once for a program.
  std::string find(std::string_view soname,
                   const ElfFile& needer,
                   const std::string& needer_path) override {
    std::string path = LibraryWalk::find(soname, needer, needer_path);
    if (const MpiInterface* translated = translated_interface(soname); translated != nullptr) {
      std::string ours = installation_.translation_folder(translated->family);
      ours += "/" + std::string(soname);
      if (has_classes(soname) && (uses_classes(*program_) || uses_classes(needer))) {
        path = find_elsewhere(std::move(path), soname, needer, needer_path);
        // Sorrel's folder would precede that of the MPI's own library.
        if (!path.empty()) report_.preloaded_translations.push_back(path);
        return path;
      }
      if (os::is_file(ours)) {
        // An old-style RPATH precedes LD_LIBRARY_PATH.
        const bool is_elsewhere =
            !path.empty() && (has_old_rpath(needer) || has_old_rpath(*program_));
        if (is_elsewhere) report_.preloaded_translations.push_back(ours);
        return ours;
      }
    }
    return find_elsewhere(std::move(path), soname, needer, needer_path);
  }

  /// `path`, or what the loader says if that is "".
  std::string find_elsewhere(std::string path,
                             std::string_view soname,
                             const ElfFile& needer,
                             const std::string& needer_path) {
    if (!path.empty()) return path;
    if (!answer_) answer_ = ask_loader(*program_, report_.path, search().before_runpath);
    const auto found = answer_->paths.find(soname);
    if (found != answer_->paths.end()) return found->second;
    if (soname == answer_->missing && library_error_.empty() && !is_preloaded(soname))
      library_error_ = describe_missing(soname, needer, needer_path);
    return "";
  }

  [[nodiscard]] static bool uses_classes(const ElfFile& file) {
    bool uses = false;
    file.for_each_symbol([&](const os::ElfSymbol& symbol) {
      uses = uses || (!symbol.is_defined && is_class_name(symbol.name));
    });
    return uses;
  }

  /// The loader goes on without a preloaded library that it cannot find.
  [[nodiscard]] bool is_preloaded(std::string_view soname) const {
    return std::find(first_.end() - static_cast<std::ptrdiff_t>(preloaded_count_), first_.end(),
                     soname) != first_.end();
  }

  [[nodiscard]] static bool has_old_rpath(const ElfFile& file) {
    return !file.rpath.empty() && file.runpath.empty();
  }

  [[nodiscard]] bool is_translated() const { return interface_ != nullptr; }

  [[nodiscard]] std::string needer_name(const std::string& path) const {
    return path == report_.path ? report_.name : path;
  }

  [[nodiscard]] std::string describe_missing(std::string_view soname,
                                             const ElfFile& needer,
                                             const std::string& needer_path) const {
    const std::string other =
        os::find_library(soname, needer, needer_path, search(), os::OtherMachines::accept);
    if (other.empty()) {
      return fmt::format(
          "{} needs {}, which the loader does not find: install it, or add its folder to "
          "LD_LIBRARY_PATH",
          needer_name(needer_path), soname);
    }
    const auto opened = ElfFile::open(other);
    const auto* error = std::get_if<ElfError>(&opened);
    return fmt::format("{} needs {}: {}; build it for this machine", needer_name(needer_path),
                       soname, error == nullptr ? other : text_of_error(other, other, *error));
  }

  void report(const Need& need, const ElfError& error) override {
    // The loader leaves out a preloaded file that is no library; a damaged one ends the process.
    if (!library_error_.empty() ||
        (is_preloaded(need.soname) && error.kind != ElfErrorKind::damaged))
      return;
    const bool is_other = error.kind == ElfErrorKind::other_architecture;
    library_error_ =
        fmt::format("{} needs {}: {}; {}", needer_name(need.needer_path), need.soname,
                    error.kind == ElfErrorKind::not_elf
                        ? fmt::format("{} is not an ELF shared library", need.path)
                        : text_of_error(need.path, need.path, error),
                    is_other ? "build it for this machine" : "build or install it again");
  }

  bool is_read(const Need& need) override {
    if (need.soname == library_name) take_our_library(need);
    report_.needed.push_back({need.soname, need.path, true, ""});
    const MpiInterface* translated = translated_interface(need.soname);
    if (is_our_translation(need)) {
      take_translation(need, *translated);
    } else if (!foreign_mpi(need.soname).empty() && !has_classes(need.soname) &&
               (foreign_.empty() ||
                (is_shared_name(foreign_name_) && !is_shared_name(need.soname)))) {
      foreign_ = foreign_mpi(need.soname);
      foreign_name_ = need.soname;
    }
    // The libraries of the system and of compilers never call MPI.
    return os::reason_to_share(need.soname).empty() && foreign_.empty();
  }

  void read(const Need& need, const ElfFile& library) override {
    classifier_.add_library(need.soname, library);
    if (library.has_tls) tls_bytes_.emplace(os::base_name(need.soname), library.tls_bytes);
    take_symbols(library, !is_our_translation(need));
    note_calls(need.soname, library);
  }

  /// MPI's functions in a library beside MPI's own: a tool calls PMPI_X in its MPI_X.
  void note_calls(const std::string& soname, const ElfFile& library) {
    std::size_t defined = 0;
    bool calls_next = false;
    bool has_init = false;
    library.for_each_symbol([&](const os::ElfSymbol& symbol) {
      const bool is_next = symbol.name.starts_with("PMPI_");
      if (symbol.is_defined && symbol.name.starts_with("MPI_")) ++defined;
      calls_next = calls_next || (is_next && !symbol.is_defined);
      has_init = has_init ||
                 (symbol.is_defined && (symbol.name == "MPI_Init" || symbol.name == "PMPI_Init"));
    });
    const bool is_translation = translated_interface(soname) != nullptr;
    if (defined == 0 || is_translation) return;
    if (calls_next) {
      report_.tools.push_back({soname, defined});
    } else if (has_init) {
      own_mpi_library_ = soname;
    }
  }

  [[nodiscard]] bool is_our_translation(const Need& need) const {
    const MpiInterface* translated = translated_interface(need.soname);
    return translated != nullptr &&
           need.path == installation_.translation_folder(translated->family) + "/" + need.soname;
  }

  /// `uses`: what the file needs is the program's use of MPI.
  void take_symbols(const ElfFile& elf, bool uses = true) {
    elf.for_each_symbol([&](const os::ElfSymbol& symbol) {
      // Which interface it is shows later.
      if (!is_mpi_name(symbol.name, true)) return;
      if (symbol.is_defined) {
        given_.emplace(symbol.name);
      } else if (uses) {
        used_.emplace(symbol.name);
        if (!symbol.is_weak) wanted_.emplace(symbol.name);
      }
    });
  }

  /// Variables of MPI's library of which the program has the memory: it defines what it needs.
  void take_copies(const ElfFile& elf) {
    elf.for_each_relocation([&](const os::ElfRelocation& relocation) {
      if (relocation.type != copy_relocation || !is_mpi_name(relocation.symbol, true)) return;
      const std::string name(relocation.symbol);
      given_.erase(name);
      wanted_.insert(name);
      used_.insert(name);
    });
  }

  [[nodiscard]] std::string mixture_of(std::string_view first, std::string_view second) const {
    return fmt::format(
        "{} needs {} and {}, of two binary interfaces of MPI, and a process can have one; build "
        "its libraries with the same MPI",
        report_.name, first, second);
  }

  void take_translation(const Need& need, const MpiInterface& translated) {
    if (is_translated() && interface_ != &translated && mixture_.empty())
      mixture_ = mixture_of(translated_name_, need.soname);
    if (is_translated()) return;
    interface_ = &translated;
    translated_name_ = need.soname;
    report_.uses_mpi = true;
    report_.interface_library = need.soname;
    report_.translated_mpi = translated.name;
    report_.translation_folder = installation_.translation_folder(translated.family);
  }

  void take_our_library(const Need& need) {
    standard_name_ = need.soname;
    if (report_.interface_library.empty()) report_.interface_library = need.soname;
    report_.uses_mpi = true;
    // An old-style RPATH precedes LD_LIBRARY_PATH and may lead to another MPI's library of this
    // name.
    struct stat theirs{};
    struct stat ours{};
    const bool same = stat(need.path.c_str(), &theirs) == 0 &&
                      stat(our_library_.c_str(), &ours) == 0 && theirs.st_ino == ours.st_ino &&
                      theirs.st_dev == ours.st_dev;
    if (!same) report_.must_preload = true;
  }

  ProgramReport& report_;
  const Installation& installation_;
  std::string our_library_;
  const LibraryOptions& libraries_;
  os::LibraryClassifier classifier_;
  bool has_early_library_;
  const ElfFile* program_ = nullptr;
  std::vector<std::string> first_;   ///< what the loader takes for the program itself
  std::size_t preloaded_count_ = 0;  ///< of them, the last ones
  std::optional<LoaderAnswer> answer_;
  std::string library_error_;
  std::string foreign_;
  std::string foreign_name_;     ///< its library
  std::string own_mpi_library_;  ///< a library of another name with MPI's functions
  std::string standard_name_;    ///< the standard interface's library, if it is needed
  std::string translated_name_;  ///< the first library of another interface that Sorrel translates
  const MpiInterface* interface_ = nullptr;
  std::string mixture_;
  std::map<std::string, std::uint64_t, std::less<>> tls_bytes_;  ///< by the library's name
  Names given_;
  Names used_;
  Names wanted_;
};

ProgramReport inspect(const std::string& name,
                      const Installation& installation,
                      const LibraryOptions& libraries,
                      int depth);

/// A script of a language's interpreter: the report of the interpreter, which runs instead.
ProgramReport with_script(ProgramReport interpreter,
                          const std::vector<std::string>& arguments,
                          const ProgramReport& script) {
  std::vector<std::string>& leading = interpreter.leading_arguments;
  if (leading.empty()) leading.push_back(interpreter.path);
  leading.insert(leading.end(), arguments.begin() + 1, arguments.end());
  leading.push_back(script.path);
  interpreter.name = script.name;
  return interpreter;
}

/// A script, either of a language's interpreter or of a shell, which the system starts.
ProgramReport inspect_script(ProgramReport script,
                             const std::string& first_line,
                             const Installation& installation,
                             const LibraryOptions& libraries,
                             int depth) {
  if (const std::string path = interpreter_of_shim(script.path); !path.empty()) {
    ProgramReport interpreter = inspect(path, installation, libraries, depth + 1);
    if (interpreter.leading_arguments.empty()) interpreter.leading_arguments.push_back(path);
    interpreter.name = script.name;
    return interpreter;
  }
  const std::vector<std::string> arguments = os::interpreter_arguments(first_line);
  if (arguments.empty()) {
    script.refusal = fmt::format("{} is a script that names no interpreter after #!", script.name);
    return script;
  }
  if (depth == script_depth_max) {
    script.refusal = fmt::format(
        "{} is a script whose interpreter is a script, and so on; the last interpreter "
        "must be a program",
        script.name);
    return script;
  }
  ProgramReport interpreter = inspect(arguments.front(), installation, libraries, depth + 1);
  if (is_interpreter(arguments.front()))
    return with_script(std::move(interpreter), arguments, script);
  script.kind = "script";
  script.starts_programs = true;
  script.is_interpreter = is_interpreter(script.path);
  if (script.is_interpreter) script.own_process_reason = why_interpreter(script.name);
  if (starts_interpreter(script.path) || starts_interpreter(arguments.front()))
    script.own_process_reason = why_started_interpreter(script.name);
  // A static shell is allowed.
  if (!interpreter.is_static && !interpreter.refusal.empty()) {
    script.refusal = depth > 0
                         ? interpreter.refusal
                         : fmt::format("{} is a script; {}", script.name, interpreter.refusal);
  }
  return script;
}

}  // namespace

std::string describe_functions(const ProgramReport& report,
                               const std::vector<std::string>& names,
                               std::string_view what) {
  const std::size_t count = names.size();
  const std::size_t shown = std::min(count, names_shown_max);
  const std::span<const std::string> first(names.data(), shown);
  return fmt::format(
      "{} MPI function{} that {}: {}{}", count, count == 1 ? "" : "s", what, fmt::join(first, ", "),
      shown < count ? fmt::format(" and {} more (see `sorrel info {}`)", count - shown, report.name)
                    : "");
}

std::string check_library_options(const ProgramReport& report,
                                  const LibraryOptions& options,
                                  const Installation& installation) {
  const os::LibrarySearch search = search_of_user(installation);
  auto program = ElfFile::open(report.path);
  const auto* elf = std::get_if<ElfFile>(&program);
  const auto is_needed = [&report](const std::string& name) {
    return std::any_of(report.needed.begin(), report.needed.end(),
                       [&](const os::NeededLibrary& library) {
                         return os::is_declared(std::span(&name, 1), library.name, library.path);
                       });
  };
  for (const std::string& name : options.shared) {
    if (is_needed(name) ||
        (elf != nullptr && !os::find_library(name, *elf, report.path, search).empty()))
      continue;
    return fmt::format(
        "--shared {}: {} needs no library of this name, and no file of it is found for one that "
        "it opens; `sorrel info {}` lists its libraries",
        name, report.name, report.name);
  }
  for (const std::string& name : options.private_ones) {
    if (const auto reason = os::reason_to_share(name); !reason.empty() && !os::may_be_private(name))
      return fmt::format("--private {}: ranks of one process share it: {}", name, reason);
    if (!is_needed(name)) {
      return fmt::format(
          "--private {}: {} needs no library of this name; `sorrel info {}` lists its libraries",
          name, report.name, report.name);
    }
  }
  return "";
}

namespace {

/// Its names of objects, with the library name that is MPICH's today.
bool is_of_open_mpi_1_10(const ProgramReport& report) {
  return report.interface_library == "libmpi.so.12" &&
         std::ranges::any_of(report.missing_functions,
                             [](const std::string& name) { return name.starts_with("ompi_"); });
}

void check_mpi(ProgramReport& report) {
  if (!report.foreign_mpi.empty()) {
    report.refusal = fmt::format(
        "{} needs {} ({}), which Sorrel does not translate; rebuild it with `sorrel cc`, `sorrel "
        "cxx` or `sorrel fc`, or use a build for Open MPI 4 or 5, for MPICH 3.2 or later, or for "
        "the "
        "standard ABI (mpicc_abi)",
        report.name, report.foreign_library, report.foreign_mpi);
  } else if (is_of_open_mpi_1_10(report)) {
    report.refusal = fmt::format(
        "{} is built for Open MPI 1.10, whose library has the name of MPICH's, libmpi.so.12, and "
        "which Sorrel does not translate; rebuild it with `sorrel cc`, `sorrel cxx` or `sorrel "
        "fc`, or use a build for Open MPI 4 or 5",
        report.name);
  } else if (!report.missing_functions.empty()) {
    report.refusal = fmt::format(
        "{} needs {}", report.name,
        describe_functions(report, report.missing_functions, "this version does not have"));
  } else if (has_other_rights(report.path)) {
    report.refusal = fmt::format(
        "{} runs with privileges that you lack (set-user-ID, set-group-ID or capabilities), so the "
        "system withholds the job's variables from it; start it as a user that has them",
        report.name);
  }
}

/// For an interpreter of Python at a fixed address: what runs in its place, as `report` says
/// afterwards; nothing if ranks must be processes, for the reason in `report`.
std::optional<ElfFile> take_python_library(ProgramReport& report,
                                           const ElfFile& interpreter,
                                           const Installation& installation) {
  const PythonLibrary library =
      find_python_library(interpreter, report.path, search_of_user(installation));
  auto opened = ElfFile::open(installation.python_program());
  auto* host = std::get_if<ElfFile>(&opened);
  if (library.path.empty() || host == nullptr) {
    report.own_process_reason = why_no_python_library(report.name, library);
    return std::nullopt;
  }
  report.python_library = library.path;
  report.own_interpreter = std::exchange(report.path, installation.python_program());
  report.leading_arguments = {report.own_interpreter};
  return std::move(*host);
}

ProgramReport inspect(const std::string& name,
                      const Installation& installation,
                      const LibraryOptions& libraries,
                      int depth) {
  ProgramReport report;
  report.name = name;
  report.path = find_program(name);
  report.refusal = program_file_error(name, report.path);
  if (!report.refusal.empty()) return report;
  auto opened = ElfFile::open(report.path);
  const auto* elf = std::get_if<ElfFile>(&opened);
  report.refusal = executable_error(name, report.path);
  if (elf == nullptr) {
    const auto& error = std::get<ElfError>(opened);
    if (!report.refusal.empty()) return report;
    if (error.kind == ElfErrorKind::script)
      return inspect_script(std::move(report), error.detail, installation, libraries, depth);
    report.refusal = text_of_error(name, report.path, error);
    return report;
  }
  report.is_python = is_python(*elf);
  report.is_interpreter = report.is_python || is_interpreter(report.path);
  std::optional<ElfFile> host;
  if (report.is_python && elf->kind == ElfKind::executable_fixed && libraries.may_preload)
    host = take_python_library(report, *elf, installation);
  if (host) elf = &*host;
  report.kind = kind_name(*elf);
  report.is_pie = elf->kind == ElfKind::executable_pie;
  report.is_static = elf->is_static();
  report.has_tls = elf->has_tls;
  report.tls_bytes = elf->tls_bytes;
  report.data_bytes = elf->data_bytes;
  report.bss_bytes = elf->bss_bytes;
  if (report.own_process_reason.empty())
    report.own_process_reason = why_own_process(name, *elf, report.path);
  Inspection inspection(report, installation, libraries);
  inspection.visit_program(*elf, report.path);
  if (report.is_python && !libraries.may_preload && !report.uses_mpi)
    report.own_process_reason = why_python_below_wrapper(name);
  inspection.finish();
  report.foreign_mpi = inspection.foreign();
  report.foreign_library = inspection.foreign_name();
  report.starts_programs = !report.is_mpi_program() && calls_any(*elf, starters);
  report.may_be_ranks =
      !report.is_mpi_program() && (calls_any(*elf, openers) || needs_any(report, {"libsorrel.so"}));
  report.uses_openmp = needs_any(report, {"libgomp.so", "libomp.so", "libiomp5.so"});
  if (report.refusal.empty()) report.refusal = check_kind(name, *elf);
  if (report.refusal.empty() && report.foreign_mpi.empty())
    report.refusal = inspection.library_error();
  if (report.refusal.empty() && report.foreign_mpi.empty()) report.refusal = inspection.mixture();
  if (report.refusal.empty() && report.foreign_mpi.empty()) report.refusal = inspection.own_mpi();
  if (report.refusal.empty()) check_mpi(report);
  return report;
}

}  // namespace

ProgramReport inspect_program(const std::string& name,
                              const Installation& installation,
                              const LibraryOptions& libraries) {
  return inspect(name, installation, libraries, 0);
}

std::uint64_t MapBudget::ranks_max() const {
  if (map_count_max <= other_maps) return 1;
  return std::max<std::uint64_t>(1, (map_count_max - other_maps) / maps_per_rank);
}

MapBudget map_budget(const ProgramReport& program) {
  MapBudget budget{
      .map_count_max = 65530,
      .other_maps = maps_left_over + maps_of_process + maps_of_library * program.needed.size(),
      .maps_per_rank = 2};
  budget.maps_per_rank += 2 * program.private_libraries.size();
  // Without guards that take no map, each stack is a map and its guard another.
  if (!read_kernel_features().guard_install) budget.maps_per_rank += 2;
  // Large data is mapped from the file where it is not written.
  constexpr std::uint64_t shared_data_bytes_min = 256 * 1024;
  if (program.data_bytes >= shared_data_bytes_min) budget.maps_per_rank += 2;
  if (std::uint64_t value = 0; std::ifstream("/proc/sys/vm/max_map_count") >> value)
    budget.map_count_max = value;
  return budget;
}

}  // namespace sorrel::tool
