#include "tools/sorrel/preflight.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <set>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <unordered_set>
#include <utility>

#include "tools/sorrel/interpreter.hpp"
#include "tools/sorrel/kernel_features.hpp"
#include "tools/sorrel/program_file.hpp"

namespace sorrel::tool {

namespace {

using os::ElfError;
using os::ElfFile;
using os::ElfKind;
using os::ElfProblem;

/// A dependency graph deeper than this is a damaged one.
constexpr std::size_t library_count_max = 1000;
/// Names printed in a refusal; `info` prints all.
constexpr std::size_t names_shown_max = 8;
/// Maps of the process itself: libraries, heaps, worker stacks, message pools.
constexpr std::uint64_t maps_of_process = 1024;

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

/// Libraries of the system and of compilers, which never call MPI.
bool is_system_library(std::string_view soname) {
  static constexpr std::string_view prefixes[] = {
      "libc.so",       "libm.so",        "libmvec.so",  "libpthread.so", "libdl.so",
      "librt.so",      "libutil.so",     "libgcc_s.so", "libstdc++.so",  "libc++",
      "libgomp.so",    "libgfortran.so", "libquadmath", "libatomic.so",  "ld-linux",
      "libresolv.so",  "libz.so",        "libasan.so",  "libubsan.so",   "libtsan.so",
      "linux-vdso.so", "libmpi_abi.so.1"};
  return std::any_of(std::begin(prefixes), std::end(prefixes),
                     [&](std::string_view prefix) { return starts_with(soname, prefix); });
}

/// C's names, and Fortran's as compilers write them: mpi_send_.
bool is_mpi_function(std::string_view name) {
  if (starts_with(name, "MPI_") || starts_with(name, "PMPI_")) return true;
  return (starts_with(name, "mpi_") || starts_with(name, "pmpi_")) && name.back() == '_';
}

std::string_view kind_name(const ElfFile& elf) {
  switch (elf.kind()) {
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

std::string describe(const std::string& name, const ElfError& error) {
  switch (error.problem) {
    case ElfProblem::cannot_open:
      return fmt::format("{}: {}", name, error.detail);
    case ElfProblem::not_a_file:
      return fmt::format("{} is {}; give a program", name, error.detail);
    case ElfProblem::script: {
      const std::string interpreter = error.detail.substr(0, error.detail.find(' '));
      return fmt::format(
          "{} is a script and ranks are started from ELF executables; run its interpreter: {} {}",
          name, interpreter, name);
    }
    case ElfProblem::not_elf:
      return fmt::format("{} is not an ELF executable", name);
    case ElfProblem::other_architecture:
      return fmt::format("{} is built for another architecture, {}; this machine is {}", name,
                         error.detail, SORREL_ARCHITECTURE);
    case ElfProblem::damaged:
      return fmt::format("{} is a damaged ELF file: {}", name, error.detail);
  }
  return "";
}

/// What is wrong with the kind of file, or "".
std::string refuse_kind(const std::string& name, const ElfFile& elf) {
  const bool is_program =
      elf.kind() == ElfKind::executable_pie || elf.kind() == ElfKind::executable_fixed;
  if (!is_program)
    return fmt::format(
        "{} is {}; give a program", name,
        elf.kind() == ElfKind::shared_library ? "a shared library" : "an object file");
  if (elf.is_static()) {
    return fmt::format(
        "{} is statically linked, so it holds its own MPI or none; link it dynamically: leave out "
        "-static and link with `sorrel cc`",
        name);
  }
  return "";
}

/// Why ranks of this program cannot share a process, or "".
std::string why_own_process(const std::string& name, const ElfFile& elf, const std::string& path) {
  if (elf.kind() == ElfKind::executable_fixed) {
    return fmt::format(
        "{} is not position-independent, so its ranks cannot have private globals in one process "
        "(rebuilt with -fPIE -pie it could)",
        name);
  }
  if (is_interpreter(path)) {
    return fmt::format(
        "{} is an interpreter, and what it loads cannot be private to a rank in one process", name);
  }
  return "";
}

bool is_absent(std::string_view name) {
  static constexpr std::string_view absent[] = {
#define SORREL_ABSENT(chapter, function) "MPI_" #function,
#include "abi/absent_functions.def"
#undef SORREL_ABSENT
  };
  if (name.substr(0, 1) == "P") name.remove_prefix(1);
  return std::find(std::begin(absent), std::end(absent), name) != std::end(absent);
}

/// Gathers what the program and its libraries need and give.
class Inspection {
 public:
  Inspection(ProgramReport& report, const Installation& installation) : report_(report) {
    search_.before_runpath.push_back(installation.library_dir);
    const char* user_path = std::getenv("LD_LIBRARY_PATH");
    for (std::string& folder : split_path(user_path == nullptr ? "" : user_path)) {
      search_.before_runpath.push_back(std::move(folder));
    }
    our_library_ = installation.library();
  }

  void visit(const ElfFile& elf, const std::string& path) {
    take_symbols(elf);
    for (const std::string_view soname : elf.needed()) {
      if (report_.needed.size() >= library_count_max) return;
      if (!seen_.insert(std::string(soname)).second) continue;
      if (soname == library_name) take_our_library(elf, path);
      if (foreign_.empty()) foreign_ = foreign_mpi(soname);
      const std::string found = find_library(soname, elf, path, search_);
      report_.needed.push_back({std::string(soname), found});
      if (found.empty() || is_system_library(soname) || !foreign_.empty()) continue;
      auto library = ElfFile::open(found);
      if (const auto* file = std::get_if<ElfFile>(&library)) visit(*file, found);
    }
  }

  void finish() {
    auto ours = ElfFile::open(our_library_);
    if (const auto* file = std::get_if<ElfFile>(&ours)) {
      file->for_each_symbol([&](const os::ElfSymbol& symbol) {
        if (symbol.is_defined && is_mpi_function(symbol.name)) given_.emplace(symbol.name);
      });
    }
    report_.functions.assign(used_.begin(), used_.end());
    for (const std::string& name : wanted_) {
      if (is_absent(name)) {
        report_.absent_functions.push_back(name);
      } else if (!given_.contains(name)) {
        report_.missing_functions.push_back(name);
      }
    }
    report_.must_preload = report_.must_preload || !report_.uses_mpi;
  }

  [[nodiscard]] const std::string& foreign() const { return foreign_; }

 private:
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

  void take_our_library(const ElfFile& needer, const std::string& path) {
    report_.uses_mpi = true;
    // An old-style RPATH comes before LD_LIBRARY_PATH and may lead to another MPI's library of this
    // name.
    const std::string found = find_library(library_name, needer, path, search_);
    struct stat theirs{};
    struct stat ours{};
    const bool same = stat(found.c_str(), &theirs) == 0 && stat(our_library_.c_str(), &ours) == 0 &&
                      theirs.st_ino == ours.st_ino && theirs.st_dev == ours.st_dev;
    if (!same) report_.must_preload = true;
  }

  ProgramReport& report_;
  LibrarySearch search_;
  std::string our_library_;
  std::string foreign_;
  std::unordered_set<std::string> seen_;
  std::unordered_set<std::string> given_;
  std::set<std::string> used_;
  std::set<std::string> wanted_;
};

std::string refuse_file(const std::string& name, const std::string& path) {
  struct stat status{};
  if (name.empty()) return "the program's name is empty";
  if (path.empty()) {
    const bool has_slash = name.find('/') != std::string::npos;
    return fmt::format("{}: no such program{}", name,
                       has_slash ? "" : " in PATH or in this folder");
  }
  if (stat(path.c_str(), &status) != 0) return fmt::format("{}: {}", name, std::strerror(errno));
  if (S_ISDIR(status.st_mode)) return fmt::format("{} is a folder; give a program", name);
  if (!S_ISREG(status.st_mode)) return fmt::format("{} is a special file; give a program", name);
  return "";
}

/// Of a script: inspects its interpreter in its place.
ProgramReport inspect_script(const ProgramReport& script,
                             const std::string& first_line,
                             const Installation& installation) {
  std::vector<std::string> words = interpreter_words(first_line);
  ProgramReport report = inspect_program(words.front(), installation);
  words.front() = report.path;
  words.push_back(script.path);
  report.name = script.name;
  report.leading_words = std::move(words);
  return report;
}

bool is_script_of_interpreter(const ElfError& error) {
  if (error.problem != ElfProblem::script) return false;
  const std::vector<std::string> words = interpreter_words(error.detail);
  return !words.empty() && is_interpreter(words.front());
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

  // The longest spelling first: libmpi.so.12 is MPICH's name under its ABI agreement, .40 is Open
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
    if (starts_with(soname, owner.prefix)) return owner.name;
  }
  return "";
}

ProgramReport inspect_program(const std::string& name, const Installation& installation) {
  ProgramReport report;
  report.name = name;
  report.path = find_program(name);
  report.refusal = refuse_file(name, report.path);
  if (!report.refusal.empty()) return report;
  auto opened = ElfFile::open(report.path);
  const auto* elf = std::get_if<ElfFile>(&opened);
  const bool is_executable = access(report.path.c_str(), X_OK) == 0;
  if (!is_executable)
    report.refusal = fmt::format("{} is not executable; chmod +x it if it is a program", name);
  if (elf == nullptr) {
    const auto& error = std::get<ElfError>(opened);
    if (report.refusal.empty() && is_script_of_interpreter(error))
      return inspect_script(report, error.detail, installation);
    if (report.refusal.empty()) report.refusal = describe(name, error);
    return report;
  }
  report.kind = kind_name(*elf);
  report.is_pie = elf->kind() == ElfKind::executable_pie;
  report.has_tls = elf->has_tls();
  report.tls_bytes = elf->tls_bytes();
  report.data_bytes = elf->data_bytes();
  report.bss_bytes = elf->bss_bytes();
  report.own_process_reason = why_own_process(name, *elf, report.path);
  Inspection inspection(report, installation);
  inspection.visit(*elf, report.path);
  inspection.finish();
  if (report.refusal.empty()) report.refusal = refuse_kind(name, *elf);
  if (report.refusal.empty() && !inspection.foreign().empty()) {
    report.refusal = fmt::format(
        "{} is built for the own ABI of {}; rebuild it with `sorrel cc` or `sorrel cxx`, or with "
        "any MPI's wrapper for the standard ABI (mpicc_abi)",
        name, inspection.foreign());
  }
  if (report.refusal.empty() && !report.missing_functions.empty())
    report.refusal = fmt::format(
        "{} needs {}", name,
        describe_functions(report, report.missing_functions, "this version does not have"));
  return report;
}

std::uint64_t MapBudget::ranks_max() const {
  if (map_count_max <= maps_of_process) return 1;
  return std::max<std::uint64_t>(1, (map_count_max - maps_of_process) / maps_per_rank);
}

MapBudget map_budget(const ProgramReport& program) {
  MapBudget budget{.map_count_max = 65530, .maps_per_rank = program.has_tls ? 4u : 2u};
  // Without guards that take no map, each stack is a map of its own and its guard another.
  if (!read_kernel_features().guard_install) budget.maps_per_rank += 2;
  if (std::FILE* file = std::fopen("/proc/sys/vm/max_map_count", "re"); file != nullptr) {
    unsigned long long value = 0;
    if (std::fscanf(file, "%llu", &value) == 1) budget.map_count_max = value;
    std::fclose(file);
  }
  return budget;
}

}  // namespace sorrel::tool
