#include "tools/sorrel/cc/fortran.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/core.h>
#include <fstream>
#include <iterator>
#include <string_view>
#include <unistd.h>

#include "base/hash.hpp"
#include "os/file_owner.hpp"
#include "tools/sorrel/common/command_output.hpp"
#include "tools/sorrel/common/installation.hpp"

namespace sorrel::tool {

namespace {

namespace files = std::filesystem;
using Words = std::vector<std::string>;

// In the order in which they use each other.
constexpr std::string_view module_sources[] = {"types.f90", "mpi.f90", "mpi_f08.f90"};
constexpr std::string_view last_module = "mpi_f08.mod";

std::string first_line_of(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::string read_file(const files::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Sources that differ, of another Sorrel, have modules of their own.
std::uint64_t hash_of_sources(const files::path& folder) {
  std::uint64_t hash = hash_of({});
  for (const std::string_view name : module_sources)
    hash = hash_of(read_file(folder / name), hash);
  return hash;
}

/// Compiles the modules into `folder`, which is there at once or not at all.
Result<std::string> make_modules(const Words& compiler,
                                 const files::path& sources,
                                 const files::path& folder) {
  std::error_code error;
  std::string work = folder.string() + ".XXXXXX";
  int failed = os::make_private_folders(folder.parent_path().string());
  if (failed == 0 && mkdtemp(work.data()) == nullptr) failed = errno;
  if (failed != 0)
    return Error{fmt::format("cannot make a folder for gfortran's modules, {}: {}", folder.string(),
                             std::strerror(failed))};
  Words command = compiler;
  for (const char* word : {"-fsyntax-only", "-ffree-line-length-none", "-w", "-J"})
    command.emplace_back(word);
  command.push_back(work);
  for (const std::string_view name : module_sources)
    command.push_back((sources / name).string());
  const CommandOutput finished = output_of(std::move(command));
  if (finished.error == 0 && finished.status == 0) files::rename(work, folder, error);
  files::remove_all(work, error);
  // Another process may have been first.
  if (files::exists(folder / last_module, error)) return folder.string();
  return Error{fmt::format(
      "{} cannot compile Sorrel's modules: {}", compiler[0],
      finished.error != 0 ? std::strerror(finished.error) : first_line_of(finished.text))};
}

Result<std::string> module_folder(const Words& compiler,
                                  const std::string& version,
                                  const files::path& sources) {
  std::error_code error;
  const files::path installed = sources / ("gfortran-" + version);
  if (files::exists(installed / last_module, error)) return installed.string();
  const std::string folder = cache_folder();
  if (folder.empty()) return Error{no_cache_folder};
  const files::path kept = files::path(folder) / "fortran" /
                           fmt::format("gfortran-{}-{:016x}", version, hash_of_sources(sources));
  if (files::exists(kept / last_module, error)) return kept.string();
  return make_modules(compiler, sources, kept);
}

}  // namespace

std::string gfortran_version(const std::string& first_line) {
  // GNU Fortran (Debian 12.2.0-14+deb12u1) 12.2.0
  if (!first_line.starts_with("GNU Fortran")) return "";
  std::string_view rest = first_line;
  if (const std::size_t end = rest.find(") "); end != rest.npos) rest.remove_prefix(end + 2);
  const std::string_view version = rest.substr(0, rest.find_first_not_of("0123456789."));
  return std::string(version);
}

Result<WrapperFlags> fortran_flags(const Words& compiler, const Installation& installation) {
  const files::path sources = files::path(installation.library_dir) / "fortran";
  std::error_code error;
  if (!files::exists(sources / "mpif.h", error))
    return Error{fmt::format("this installation has no Fortran part: {} is missing",
                             (sources / "mpif.h").string())};
  Words question = compiler;
  question.emplace_back("--version");
  const CommandOutput asked = output_of(std::move(question));
  if (asked.error != 0)
    return Error{
        fmt::format("cannot start the Fortran compiler {}: {} (package gfortran, or "
                    "gcc-gfortran; another compiler: -fc=NAME or SORREL_FC)",
                    compiler[0], std::strerror(asked.error))};
  const std::string version = gfortran_version(first_line_of(asked.text));
  if (version.empty() || std::atoi(version.c_str()) < 10)
    return Error{fmt::format("{} is not gfortran 10 or later: '{}'", compiler[0],
                             first_line_of(asked.text))};
  const Result<std::string> modules = module_folder(compiler, version, sources);
  if (!modules.has_value()) return Error{modules.error()};
  WrapperFlags flags = wrapper_flags(installation);
  flags.compile.push_back("-I" + sources.string());
  flags.compile.push_back("-I" + modules.value());
  // mpif.h has no interfaces: without this, buffers of two types in one file are an error.
  flags.compile.emplace_back("-fallow-argument-mismatch");
  flags.link.insert(flags.link.end() - 1, "-lsorrel_fortran");
  return flags;
}

std::string fortran_argument_error(std::span<const std::string> words) {
  for (const std::string& word : words) {
    if (word == "-fdefault-integer-8" || word == "-fno-underscoring" ||
        word == "-fsecond-underscore")
      return fmt::format(
          "{} is not supported: MPI's INTEGER has 4 bytes, and its names one underscore", word);
  }
  return "";
}

}  // namespace sorrel::tool
