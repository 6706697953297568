#include "program/image/library_check.hpp"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <link.h>
#include <optional>
#include <set>
#include <string_view>
#include <unistd.h>
#include <utility>

#include "os/elf_file.hpp"
#include "os/library_classifier.hpp"
#include "os/library_search.hpp"
#include "os/library_state.hpp"
#include "os/library_walk.hpp"
#include "program/base/libc.hpp"
#include "program/image/held_back.hpp"

namespace sorrel::program {

namespace {

using os::ElfFile;
using os::LibraryClassifier;
using os::NeededLibrary;

constexpr const char* program_file = "/proc/self/exe";

// Written by the first thread before ranks run.
std::size_t program_library_count = 0;
std::size_t library_count_at_start = 0;
bool has_single_rank = false;
std::vector<std::string> declared_libraries;
os::LibrarySearch library_search;

struct Loaded {
  std::string path;
  bool is_caller;
  bool is_private;
};

struct Listing {
  std::uintptr_t caller;
  std::vector<Loaded> files;
};

[[nodiscard]] bool holds(const dl_phdr_info& info, std::uintptr_t address) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info.dlpi_phdr[i];
    if (segment.p_type == PT_LOAD && address - info.dlpi_addr - segment.p_vaddr < segment.p_memsz)
      return true;
  }
  return false;
}

int add_file(dl_phdr_info* info, std::size_t, void* listing) {
  auto& list = *static_cast<Listing*>(listing);
  list.files.push_back(
      {info->dlpi_name, holds(*info, list.caller), held_back_module(info->dlpi_addr) != nullptr});
  return 0;
}

// In the loader's order: the program, its dependencies, libraries opened later.
[[nodiscard]] std::vector<Loaded> loaded_files(const void* caller = nullptr) {
  static auto* const iterate = next_definition<decltype(::dl_iterate_phdr)>("dl_iterate_phdr");
  Listing listing{reinterpret_cast<std::uintptr_t>(caller), {}};
  iterate(add_file, &listing);
  return std::move(listing.files);
}

[[nodiscard]] std::optional<ElfFile> open_file(const std::string& path) {
  auto opened = ElfFile::open(path);
  if (auto* file = std::get_if<ElfFile>(&opened)) return std::move(*file);
  return std::nullopt;
}

[[nodiscard]] std::string program_folder() {
  char path[4096];
  const ssize_t length = ::readlink(program_file, path, sizeof path);
  return os::folder_of(length > 0 ? std::string(path, static_cast<std::size_t>(length)) : "");
}

[[nodiscard]] std::string name_of(const ElfFile& library, const std::string& path) {
  return std::string(library.soname.empty() ? os::base_name(path) : library.soname);
}

enum class LoadState { absent, shared, private_to_ranks };

[[nodiscard]] LoadState load_state(const std::string& name) {
  static auto* const open = next_definition<decltype(::dlopen)>("dlopen");
  static auto* const close = next_definition<decltype(::dlclose)>("dlclose");
  void* found = open(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (found == nullptr) return LoadState::absent;
  const link_map* map = nullptr;
  const bool is_private =
      ::dlinfo(found, RTLD_DI_LINKMAP, &map) == 0 && held_back_module(map->l_addr) != nullptr;
  close(found);
  return is_private ? LoadState::private_to_ranks : LoadState::shared;
}

// A library that a rank opens, and its dependencies.
class Opening final : public os::LibraryWalk {
 public:
  explicit Opening(const ElfFile& program)
      : LibraryWalk(library_search), classifier_(declared_libraries) {
    classifier_.add_program(program_invocation_name, program);
  }

  void open(const ElfFile& library, const std::string& path) {
    if (!os::reason_to_share(name_of(library, path)).empty()) return;
    first_.push_back(name_of(library, path));
    add(library, path);
    walk(library, path);
  }

  [[nodiscard]] std::string reason() {
    if (!needed_private_.empty())
      return "it needs " + needed_private_ + ", of which each rank has its own";
    std::string reason = classifier_.classify(first_, libraries_);
    return has_single_rank ? classifier_.callback_reason() : reason;
  }

 private:
  bool is_sought(std::string_view soname) override {
    const LoadState state = load_state(std::string(soname));
    if (state == LoadState::private_to_ranks) needed_private_ = soname;
    return state == LoadState::absent;
  }

  bool is_read(const Need& need) override { return os::reason_to_share(need.soname).empty(); }

  void read(const Need& need, const ElfFile& library) override { add(library, need.path); }

  void add(const ElfFile& library, const std::string& path) {
    std::string name = name_of(library, path);
    if (!added_.insert(name).second) return;
    classifier_.add_library(name, library);
    libraries_.push_back({std::move(name), path, true, ""});
  }

  LibraryClassifier classifier_;
  std::set<std::string> added_;
  std::string needed_private_;
  std::vector<std::string> first_;
  std::vector<NeededLibrary> libraries_;
};

}  // namespace

void record_program_libraries() {
  // The look-up of the loader's function, at the first call, clears the loader's last error.
  (void)::dlerror();
  program_library_count = loaded_files().size();
  library_search = os::search_with(std::getenv("LD_LIBRARY_PATH"));
}

void allow_libraries(std::vector<std::string> declared) {
  declared_libraries = std::move(declared);
}

void record_ranks_begin(bool is_single) {
  library_count_at_start = loaded_files().size();
  has_single_rank = is_single;
}

std::string sharing_error() {
  const auto program = open_file(program_file);
  if (!program) return "";
  LibraryClassifier classifier(declared_libraries);
  classifier.add_program(program_invocation_name, *program);
  std::vector<NeededLibrary> libraries;
  std::set<std::string, std::less<>> needed(program->needed.begin(), program->needed.end());
  const std::vector<Loaded> files = loaded_files();
  for (std::size_t i = 1; i < std::min(program_library_count, files.size()); ++i) {
    const std::string& path = files[i].path;
    if (files[i].is_private) classifier.set_private(path);
    if (!os::reason_to_share(path).empty()) continue;
    const auto library = open_file(path);
    if (!library) continue;
    std::string name = name_of(*library, path);
    if (files[i].is_private) classifier.set_private(name);
    classifier.add_library(name, *library);
    needed.insert(library->needed.begin(), library->needed.end());
    libraries.push_back({std::move(name), path, true, ""});
  }
  std::vector<std::string> first(program->needed.begin(), program->needed.end());
  // Libraries that no file names were preloaded.
  for (const NeededLibrary& library : libraries) {
    if (!needed.contains(library.name)) first.push_back(library.name);
  }
  return classifier.classify(first, libraries);
}

OpenDecision check_open(const char* name, const void* caller) {
  // The loader searches on behalf of the caller; it takes a privatized image for the program.
  std::string needer_path;
  for (const Loaded& file : loaded_files(caller)) {
    if (file.is_caller) needer_path = file.path;
  }
  const auto needer = open_file(needer_path.empty() ? program_file : needer_path);
  if (needer_path.empty()) needer_path = program_folder() + "/.";
  if (!needer || !os::reason_to_share(name).empty()) return {};
  OpenDecision verdict{.path = os::find_library(name, *needer, needer_path, library_search),
                       .reason = ""};
  if (!verdict.path.empty()) verdict.reason = open_error(verdict.path);
  return verdict;
}

std::string open_error(const std::string& path) {
  const auto program = open_file(program_file);
  const auto library = open_file(path);
  if (!program || !library) return "";
  Opening opening(*program);
  opening.open(*library, path);
  return opening.reason();
}

bool is_of_host(const void* caller) {
  const std::vector<Loaded> files = loaded_files(caller);
  for (std::size_t i = program_library_count; i < std::min(library_count_at_start, files.size());
       ++i) {
    if (files[i].is_caller) return true;
  }
  return false;
}

}  // namespace sorrel::program
