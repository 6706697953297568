#include "tools/sorrel/inspect/preflight.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utility>

#include "os/library_search.hpp"
#include "os/library_state.hpp"
#include "os/library_walk.hpp"
#include "tools/sorrel/common/program_file.hpp"
#include "tools/sorrel/inspect/interpreter.hpp"
#include "tools/sorrel/inspect/loader_answer.hpp"
#include "tools/sorrel/machine/kernel_features.hpp"

namespace sorrel::tool {

namespace {

using os::ElfError;
using os::ElfErrorKind;
using os::ElfFile;
using os::ElfKind;

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

/// C's names, and Fortran's as compilers write them: mpi_send_.
bool is_mpi_function(std::string_view name) {
  if (name.starts_with("MPI_") || name.starts_with("PMPI_")) return true;
  return (name.starts_with("mpi_") || name.starts_with("pmpi_")) && name.back() == '_';
}

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

std::string text_of_error(const std::string& name, const ElfError& error) {
  switch (error.kind) {
    case ElfErrorKind::cannot_open:
      return fmt::format("{}: {}", name, error.detail);
    case ElfErrorKind::not_a_file:
      return fmt::format("{} is {}; give a program", name, error.detail);
    case ElfErrorKind::script:
      return fmt::format("{} is a script", name);
    case ElfErrorKind::not_elf:
      return fmt::format("{} is not an ELF executable", name);
    case ElfErrorKind::other_architecture:
      return fmt::format("{} is built for another architecture, {}; this machine is {}", name,
                         error.detail, SORREL_ARCHITECTURE);
    case ElfErrorKind::damaged:
      return fmt::format("{} is a damaged ELF file: {}", name, error.detail);
  }
  return "";
}

/// An error about the kind of file, or "".
std::string check_kind(const std::string& name, const ElfFile& elf) {
  const bool is_program =
      elf.kind == ElfKind::executable_pie || elf.kind == ElfKind::executable_fixed;
  if (!is_program)
    return fmt::format("{} is {}; give a program", name,
                       elf.kind == ElfKind::shared_library ? "a shared library" : "an object file");
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

/// GCC and gfortran put code for a nested function on the stack if its address is passed and it
/// uses variables of its host. Ranks' stacks are not executable.
bool needs_executable_stack(const ElfFile& elf) {
  return std::ranges::any_of(elf.headers, [](const Elf64_Phdr& header) {
    return header.p_type == PT_GNU_STACK && (header.p_flags & PF_X) != 0;
  });
}

/// Why ranks of this program cannot share a process, or "".
std::string why_own_process(const std::string& name, const ElfFile& elf, const std::string& path) {
  if (elf.kind == ElfKind::executable_fixed) {
    return fmt::format(
        "{} is not position-independent, so its ranks cannot have private globals in one process "
        "(rebuilt with -fPIE -pie it could)",
        name);
  }
  if (is_interpreter(path)) {
    return why_interpreter(name);
  }
  if (needs_executable_stack(elf)) {
    return fmt::format(
        "{} needs an executable stack (nested functions that use variables of their host), which "
        "ranks of one process do not have",
        name);
  }
  return "";
}

bool is_refused(std::string_view name) {
  static constexpr std::string_view refused[] = {
#include "abi_refused.inc"
  };
  if (name.substr(0, 1) == "P") name.remove_prefix(1);
  return std::find(std::begin(refused), std::end(refused), name) != std::end(refused);
}

/// Whether it can start other programs.
bool can_start_programs(const ElfFile& elf) {
  static constexpr std::string_view starters[] = {
      "execl",   "execle",  "execlp",      "execv",        "execve", "execvp",
      "execvpe", "fexecve", "posix_spawn", "posix_spawnp", "system", "popen"};
  bool can_start = false;
  elf.for_each_symbol([&](const os::ElfSymbol& symbol) {
    can_start =
        can_start || (!symbol.is_defined && std::find(std::begin(starters), std::end(starters),
                                                      symbol.name) != std::end(starters));
  });
  return can_start;
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
        our_library_(installation.library()),
        libraries_(libraries),
        classifier_(libraries.shared),
        has_early_library_(os::is_file(installation.early_library())) {}

  void visit_program(const ElfFile& elf, const std::string& path) {
    program_ = &elf;
    classifier_.add_program(report_.name, elf);
    take_symbols(elf);
    first_.assign(elf.needed.begin(), elf.needed.end());
    const char* preloaded = std::getenv("LD_PRELOAD");
    for (const std::string& part : os::split_path(preloaded == nullptr ? "" : preloaded)) {
      for (std::string& name : os::split_path(part, ' '))
        first_.push_back(std::move(name));
    }
    preloaded_count_ = first_.size() - elf.needed.size();
    for (const std::string& name : first_)
      walk_to(name, elf, path);
  }

  void finish() {
    Names missing = wanted_;
    for (const std::string& name : given_)
      missing.erase(name);
    auto ours = ElfFile::open(our_library_);
    if (const auto* file = std::get_if<ElfFile>(&ours)) {
      file->for_each_symbol([&](const os::ElfSymbol& symbol) {
        if (!symbol.is_defined) return;
        const auto found = missing.find(symbol.name);
        if (found != missing.end()) missing.erase(found);
      });
    }
    report_.functions.assign(used_.begin(), used_.end());
    for (const std::string& name : wanted_) {
      if (is_refused(name)) {
        report_.refused_functions.push_back(name);
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
    if (has_early_library_ && (!is_indirect || libraries_.may_preload))
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

  /// Why the loader will not load all libraries, or "".
  [[nodiscard]] const std::string& library_error() const { return library_error_; }

 private:
  using Names = std::set<std::string, std::less<>>;

  /// Asks the loader if the search finds nothing: at most once for a program.
  std::string find(std::string_view soname,
                   const ElfFile& needer,
                   const std::string& needer_path) override {
    std::string path = LibraryWalk::find(soname, needer, needer_path);
    if (!path.empty()) return path;
    if (!answer_) answer_ = ask_loader(*program_, report_.path, search().before_runpath);
    const auto found = answer_->paths.find(soname);
    if (found != answer_->paths.end()) return found->second;
    if (soname == answer_->missing && library_error_.empty() && !is_preloaded(soname))
      library_error_ = describe_missing(soname, needer, needer_path);
    return "";
  }

  /// The loader goes on without a preloaded library that it cannot find.
  [[nodiscard]] bool is_preloaded(std::string_view soname) const {
    return std::find(first_.end() - static_cast<std::ptrdiff_t>(preloaded_count_), first_.end(),
                     soname) != first_.end();
  }

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
                       soname, error == nullptr ? other : text_of_error(other, *error));
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
                        : text_of_error(need.path, error),
                    is_other ? "build it for this machine" : "build or install it again");
  }

  bool is_read(const Need& need) override {
    if (need.soname == library_name) take_our_library(need);
    if (foreign_.empty()) foreign_ = foreign_mpi(need.soname);
    report_.needed.push_back({need.soname, need.path, true, ""});
    // The libraries of the system and of compilers never call MPI.
    return os::reason_to_share(need.soname).empty() && foreign_.empty();
  }

  void read(const Need& need, const ElfFile& library) override {
    classifier_.add_library(need.soname, library);
    if (library.has_tls) tls_bytes_.emplace(os::base_name(need.soname), library.tls_bytes);
    take_symbols(library);
  }

  void take_symbols(const ElfFile& elf) {
    elf.for_each_symbol([&](const os::ElfSymbol& symbol) {
      if (!is_mpi_function(symbol.name)) return;
      if (symbol.is_defined) {
        given_.emplace(symbol.name);
      } else {
        used_.emplace(symbol.name);
        if (!symbol.is_weak) wanted_.emplace(symbol.name);
      }
    });
  }

  void take_our_library(const Need& need) {
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
  const std::vector<std::string> arguments = interpreter_arguments(first_line);
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

std::string foreign_mpi(std::string_view soname) {
  struct Owner {
    std::string_view prefix;
    const char* name;
  };

  // The longest name first: libmpi.so.12 is MPICH's name under its ABI agreement, .40 is Open
  // MPI's.
  static constexpr Owner owners[] = {
      {"libmpi_abi", ""},
      {"libmpi.so.12", "MPICH, Intel MPI or MVAPICH"},
      {"libmpi.so", "Open MPI"},
      {"libmpich", "MPICH"},
      {"libmpicxx.so", "MPICH or Intel MPI"},
      {"libmpifort.so", "MPICH or Intel MPI"},
      {"libmpi_cray", "Cray MPICH"},
      {"libmpi_gnu", "Cray MPICH"},
      {"libmpi_ibm", "Spectrum MPI"},
      {"libmpi_cxx.so", "Open MPI (its C++ bindings, which MPI dropped)"},
      {"libmpi_", "Open MPI"},
      {"libmpt.so", "HPE MPT"},
      {"libmvapich", "MVAPICH"}};
  for (const Owner& owner : owners) {
    if (soname.starts_with(owner.prefix)) return owner.name;
  }
  return "";
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

void check_mpi(ProgramReport& report) {
  if (!report.foreign_mpi.empty()) {
    report.refusal = fmt::format(
        "{} is built for the own ABI of {}; rebuild it with `sorrel cc` or `sorrel cxx`, or with "
        "any MPI's wrapper for the standard ABI (mpicc_abi)",
        report.name, report.foreign_mpi);
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
    report.refusal = text_of_error(name, error);
    return report;
  }
  report.kind = kind_name(*elf);
  report.is_pie = elf->kind == ElfKind::executable_pie;
  report.is_static = elf->is_static();
  report.has_tls = elf->has_tls;
  report.tls_bytes = elf->tls_bytes;
  report.data_bytes = elf->data_bytes;
  report.bss_bytes = elf->bss_bytes;
  report.is_interpreter = is_interpreter(report.path);
  report.own_process_reason = why_own_process(name, *elf, report.path);
  Inspection inspection(report, installation, libraries);
  inspection.visit_program(*elf, report.path);
  inspection.finish();
  report.foreign_mpi = inspection.foreign();
  report.starts_programs = !report.is_mpi_program() && can_start_programs(*elf);
  if (report.refusal.empty()) report.refusal = check_kind(name, *elf);
  if (report.refusal.empty() && report.foreign_mpi.empty())
    report.refusal = inspection.library_error();
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
