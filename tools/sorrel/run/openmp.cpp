#include "tools/sorrel/run/openmp.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <set>
#include <string_view>
#include <unistd.h>
#include <unordered_set>
#include <variant>

#include "os/elf_file.hpp"
#include "os/library_search.hpp"
#include "os/library_state.hpp"
#include "os/library_walk.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/common/program_file.hpp"
#include "tools/sorrel/machine/kernel_features.hpp"
#include "tools/sorrel/run/run_environment.hpp"

namespace sorrel::tool {

namespace {

constexpr std::size_t functions_shown_max = 8;

bool is_openmp_function(std::string_view name) {
  static constexpr std::string_view beginnings[] = {"GOMP_",   "GOACC_", "omp_", "ompc_",
                                                    "__kmpc_", "kmp_",   "kmpc_"};
  return std::ranges::any_of(
      beginnings, [&](std::string_view beginning) { return name.starts_with(beginning); });
}

/// The libraries that Sorrel's replaces.
bool is_openmp_library(std::string_view soname) {
  return os::is_library(soname, "libgomp.so") || os::is_library(soname, "libomp.so") ||
         os::is_library(soname, "libiomp5.so");
}

class OpenmpInspection final : public os::LibraryWalk {
 public:
  OpenmpInspection(OpenmpReport& report, const Installation& installation)
      : LibraryWalk(os::search_with(std::getenv("LD_LIBRARY_PATH"))),
        report_(report),
        library_(openmp_library(installation)) {}

  void visit_program(const os::ElfFile& elf) {
    take_symbols(elf);
    walk(elf, report_.path);
  }

  void finish() {
    auto ours = os::ElfFile::open(library_);
    if (const auto* file = std::get_if<os::ElfFile>(&ours)) {
      file->for_each_symbol([&](const os::ElfSymbol& symbol) {
        if (symbol.is_defined) given_.emplace(symbol.name);
      });
    }
    for (const std::string& name : wanted_) {
      if (!given_.contains(name)) report_.missing.push_back(name);
    }
  }

 private:
  bool is_sought(std::string_view soname) override {
    return !soname.starts_with("libc.so") && !soname.starts_with("ld-linux");
  }

  bool is_read(const Need& need) override {
    if (!is_openmp_library(need.soname)) return true;
    report_.libraries.push_back({need.soname, need.path});
    return false;
  }

  void read(const Need&, const os::ElfFile& library) override { take_symbols(library); }

  void take_symbols(const os::ElfFile& elf) {
    elf.for_each_symbol([&](const os::ElfSymbol& symbol) {
      if (!is_openmp_function(symbol.name)) return;
      if (symbol.is_defined) {
        given_.emplace(symbol.name);
      } else {
        report_.uses_openmp = true;
        if (!symbol.is_weak) wanted_.emplace(symbol.name);
      }
    });
  }

  OpenmpReport& report_;
  std::string library_;
  std::unordered_set<std::string> given_;
  std::set<std::string> wanted_;
};

std::string check_missing(const std::string& name, const std::vector<std::string>& missing) {
  const std::size_t shown = std::min(missing.size(), functions_shown_max);
  return fmt::format(
      "{} needs {} OpenMP function{} that this version does not have: {}{}", name, missing.size(),
      missing.size() == 1 ? "" : "s",
      fmt::join(missing.begin(), missing.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
      shown < missing.size() ? ", ..." : "");
}

}  // namespace

std::string openmp_library(const Installation& installation) {
  if (installation.library_dir.empty()) return "";
  const std::string path = installation.library_dir + "/omp/libgomp.so.1";
  return access(path.c_str(), R_OK) == 0 ? path : "";
}

OpenmpReport inspect_openmp(const std::string& name, const Installation& installation) {
  OpenmpReport report;
  report.path = find_program(name);
  if (openmp_library(installation).empty()) {
    report.refusal =
        fmt::format("omp/libgomp.so.1 is not beside this command: expected it in {}",
                    installation.library_dir.empty() ? "../lib" : installation.library_dir);
    return report;
  }
  report.refusal = program_file_error(name, report.path);
  if (report.refusal.empty()) report.refusal = executable_error(name, report.path);
  if (!report.refusal.empty()) return report;
  auto opened = os::ElfFile::open(report.path);
  const auto* elf = std::get_if<os::ElfFile>(&opened);
  // The system looks up a script's interpreter; its calls are not known here.
  if (elf == nullptr) {
    if (std::get<os::ElfError>(opened).kind != os::ElfErrorKind::script)
      report.refusal = fmt::format("{} is neither an executable nor a script", name);
    return report;
  }
  if (elf->is_static()) {
    report.refusal = fmt::format(
        "{} is statically linked, so it holds its own OpenMP or none; link it dynamically: leave "
        "out -static",
        name);
    return report;
  }
  // The name of a function that libgomp looks up in its plugins; libgomp's own name is not in the
  // file.
  if (elf->contains("GOMP_OFFLOAD_get_num_devices")) {
    report.refusal = fmt::format(
        "{} contains its own libgomp (libgomp.a), which --omp cannot replace; link it with "
        "libgomp.so",
        name);
    return report;
  }
  OpenmpInspection inspection(report, installation);
  inspection.visit_program(*elf);
  inspection.finish();
  if (!report.missing.empty()) report.refusal = check_missing(name, report.missing);
  return report;
}

void set_openmp_environment(const Installation& installation) {
  const std::string library = openmp_library(installation);
  prepend_to_variable("LD_LIBRARY_PATH", os::folder_of(library));
  prepend_to_variable("LD_PRELOAD", library);
  const std::string threads = os::folder_of(library) + "/libsorrel-threads.so.0";
  if (os::is_file(threads)) prepend_to_variable("LD_PRELOAD", threads);
  // The kernel must not write the current cpu into a thread control block that moves between OS
  // threads: sched_getcpu() makes a system call instead.
  prepend_to_variable("GLIBC_TUNABLES", "glibc.pthread.rseq=0");
}

std::vector<std::string> describe_openmp(const OpenmpReport& program,
                                         const Installation& installation) {
  std::vector<std::string> lines;
  for (const OpenmpLibrary& library : program.libraries) {
    lines.push_back(library.path.empty()
                        ? fmt::format("{} (not found in the usual folders)", library.name)
                        : fmt::format("{} ({})", library.name, library.path));
  }
  if (program.refusal.empty()) {
    lines.push_back(fmt::format("with --omp: {}{}", openmp_library(installation),
                                lines.empty() ? "" : ", in place of these"));
  } else {
    lines.push_back(fmt::format("with --omp: not possible: {}", program.refusal));
  }
  return lines;
}

int run_openmp(char* const* arguments, const OpenmpOptions& options) {
  const Installation installation = find_installation();
  const OpenmpReport program = inspect_openmp(*arguments, installation);
  if (!program.refusal.empty()) return report_error("{}", program.refusal);
#if defined(__x86_64__)
  if (!read_kernel_features().fsgsbase)
    return report_error(
        "--omp needs the processor's FSGSBASE instructions, and this kernel does not "
        "allow them");
#endif
  set_openmp_environment(installation);
  if (!options.share.empty()) setenv("SORREL_SHARE", options.share.c_str(), 1);
  if (options.is_verbose) {
    for (const std::string& line : describe_openmp(program, installation))
      print_diagnostic("note: OpenMP: " + line);
    setenv("SORREL_OMP_VERBOSE", "1", 1);
  }
  execv(program.path.c_str(), arguments);
  print_diagnostic(fmt::format("cannot start {}: {}", *arguments, std::strerror(errno)));
  return exit_cannot_execute;
}

}  // namespace sorrel::tool
