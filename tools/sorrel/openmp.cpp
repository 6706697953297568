#include "tools/sorrel/openmp.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <set>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <unordered_set>
#include <variant>

#include "os/elf_file.hpp"
#include "os/library_search.hpp"
#include "tools/sorrel/diagnostic.hpp"
#include "tools/sorrel/kernel_features.hpp"
#include "tools/sorrel/program_file.hpp"

namespace sorrel::tool {

namespace {

constexpr std::size_t library_count_max = 1000;
constexpr std::size_t names_shown_max = 8;

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool is_openmp_function(std::string_view name) {
  return starts_with(name, "GOMP_") || starts_with(name, "GOACC_") || starts_with(name, "omp_");
}

/// libgomp.so.1, and its copies in Python wheels: libgomp-e985bcbb.so.1.0.0.
bool is_gomp(std::string_view soname) {
  return starts_with(soname, "libgomp.so") || starts_with(soname, "libgomp-");
}

class Inspection {
 public:
  Inspection(OpenmpReport& report, const Installation& installation) : report_(report) {
    const char* user_path = std::getenv("LD_LIBRARY_PATH");
    search_.before_runpath = os::split_path(user_path == nullptr ? "" : user_path);
    library_ = openmp_library(installation);
  }

  void visit(const os::ElfFile& elf, const std::string& path) {
    elf.for_each_symbol([&](const os::ElfSymbol& symbol) {
      if (starts_with(symbol.name, "__kmpc_fork_call") && !symbol.is_defined &&
          report_.llvm_user.empty())
        report_.llvm_user = path;
      if (!is_openmp_function(symbol.name)) return;
      if (symbol.is_defined) {
        given_.emplace(symbol.name);
      } else {
        report_.uses_openmp = true;
        if (!symbol.is_weak) wanted_.emplace(symbol.name);
      }
    });
    for (const std::string_view soname : elf.needed()) {
      if (seen_.size() >= library_count_max) return;
      if (is_gomp(soname) || starts_with(soname, "libc.so") || starts_with(soname, "ld-linux") ||
          !seen_.insert(std::string(soname)).second)
        continue;
      const std::string found = os::find_library(soname, elf, path, search_);
      if (found.empty()) continue;
      auto library = os::ElfFile::open(found);
      if (const auto* file = std::get_if<os::ElfFile>(&library)) visit(*file, found);
    }
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
  OpenmpReport& report_;
  os::LibrarySearch search_;
  std::string library_;
  std::unordered_set<std::string> seen_;
  std::unordered_set<std::string> given_;
  std::set<std::string> wanted_;
};

std::string check_missing(const std::string& name, const std::vector<std::string>& missing) {
  const std::size_t shown = std::min(missing.size(), names_shown_max);
  return fmt::format(
      "{} needs {} OpenMP function{} that this version does not have: {}{}", name, missing.size(),
      missing.size() == 1 ? "" : "s",
      fmt::join(missing.begin(), missing.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
      shown < missing.size() ? ", ..." : "");
}

std::string check_file(const std::string& name, const std::string& path) {
  struct stat status{};
  if (path.empty() || stat(path.c_str(), &status) != 0)
    return fmt::format("{}: no such program{}", name,
                       name.find('/') != std::string::npos ? "" : " in PATH or in this folder");
  if (S_ISDIR(status.st_mode)) return fmt::format("{} is a folder; give a program", name);
  if (!S_ISREG(status.st_mode)) return fmt::format("{} is a special file; give a program", name);
  if (access(path.c_str(), X_OK) != 0)
    return fmt::format("{} is not executable; chmod +x it if it is a program", name);
  return "";
}

void prepend(const char* name, const std::string& first, char separator) {
  const char* before = std::getenv(name);
  const bool is_empty = before == nullptr || *before == '\0';
  setenv(name, (is_empty ? first : first + separator + before).c_str(), 1);
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
  report.refusal = check_file(name, report.path);
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
  Inspection inspection(report, installation);
  inspection.visit(*elf, report.path);
  inspection.finish();
  if (!report.llvm_user.empty()) {
    report.refusal = fmt::format(
        "{} calls LLVM's OpenMP library (libomp), which --omp does not replace; build it with "
        "gcc -fopenmp",
        report.llvm_user);
  } else if (!report.missing.empty()) {
    report.refusal = check_missing(name, report.missing);
  }
  return report;
}

void set_openmp_environment(const Installation& installation) {
  const std::string library = openmp_library(installation);
  prepend("LD_LIBRARY_PATH", os::folder_of(library), ':');
  prepend("LD_PRELOAD", library, ':');
  // The kernel must not write the current cpu into a thread control block that moves between OS
  // threads: sched_getcpu() makes a system call instead.
  prepend("GLIBC_TUNABLES", "glibc.pthread.rseq=0", ':');
}

int run_openmp(char* const* arguments, const std::string& share) {
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
  if (!share.empty()) setenv("SORREL_SHARE", share.c_str(), 1);
  execv(program.path.c_str(), arguments);
  print_diagnostic(fmt::format("cannot start {}: {}", *arguments, std::strerror(errno)));
  return exit_cannot_execute;
}

}  // namespace sorrel::tool
