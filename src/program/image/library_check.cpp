#include "program/image/library_check.hpp"

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <dlfcn.h>
#include <link.h>
#include <map>
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
#include "program/image/image_slab.hpp"

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
  static auto* const real_iterate = next_definition<decltype(::dl_iterate_phdr)>("dl_iterate_phdr");
  Listing listing{reinterpret_cast<std::uintptr_t>(caller), {}};
  real_iterate(add_file, &listing);
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

[[nodiscard]] bool is_private_module(std::uintptr_t base) {
  const auto slabs = private_slabs();
  return std::any_of(slabs.begin(), slabs.end(), [base](const ImageSlab* slab) {
    const std::vector<Module>& modules = slab->image().modules;
    return std::any_of(modules.begin(), modules.end(),
                       [base](const Module& module) { return module.base == base; });
  });
}

[[nodiscard]] LoadState load_state(const std::string& name) {
  static auto* const real_open = next_definition<decltype(::dlopen)>("dlopen");
  static auto* const real_close = next_definition<decltype(::dlclose)>("dlclose");
  void* found = real_open(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (found == nullptr) return LoadState::absent;
  const link_map* map = nullptr;
  const bool is_private =
      ::dlinfo(found, RTLD_DI_LINKMAP, &map) == 0 && is_private_module(map->l_addr);
  real_close(found);
  return is_private ? LoadState::private_to_ranks : LoadState::shared;
}

/// The C++ library is private if no library in the process shares it.
[[nodiscard]] bool may_read(std::string_view soname) {
  return os::reason_to_share(soname).empty() || os::is_cxx_library(soname);
}

/// Part of the path of a library with the names of another MPI's over libsorrel-runtime.
constexpr std::string_view translation_folder = "/translate/";

[[nodiscard]] bool is_translation(std::string_view path) {
  return path.find(translation_folder) != path.npos;
}

/// The translation that the job's library path has for the name of an MPI library, or "".
[[nodiscard]] std::string translation_of(std::string_view soname, const os::LibrarySearch& search) {
  if (!soname.starts_with("libmpi")) return "";
  for (const std::string& folder : search.before_runpath) {
    std::string path = folder + "/" + std::string(soname);
    if (is_translation(path) && os::is_file(path)) return path;
  }
  return "";
}

// A library that a rank opens, and its dependencies.
class Opening final : public os::LibraryWalk {
 public:
  explicit Opening(std::span<const ImageSlab* const> in_scope)
      : LibraryWalk(library_search), in_scope_(in_scope) {}

  void open(const ElfFile& library, const std::string& path) {
    note_second_runtime(name_of(library, path), path);
    if (!may_read(name_of(library, path))) return;
    first_.push_back(name_of(library, path));
    add(library, path);
    walk(library, path);
  }

  [[nodiscard]] OpenDecision decision(const ElfFile& program) {
    OpenDecision decision;
    decision.translations = std::move(translations_);
    if (!second_runtime_.empty()) {
      decision.damage = second_runtime_ +
                        " is Sorrel's library for another binary interface of MPI than that of "
                        "this program, and a process can have one";
      return decision;
    }
    find_users();
    LibraryClassifier classifier(declared_libraries);
    classifier.add_program(program_invocation_name, program);
    for (const auto& [name, library] : files_)
      classifier.add_library(name, library);
    const std::string reason = classifier.classify(first_, libraries_);
    const bool may_share = has_single_rank ? classifier.callback_reason().empty() : reason.empty();
    const bool brings_cxx_library = std::any_of(files_.begin(), files_.end(), [](const auto& file) {
      return os::is_cxx_library(file.first);
    });
    if (may_share && needed_private_.empty() && users_.empty() && !brings_cxx_library)
      return decision;
    LibraryClassifier chooser(declared_libraries);
    chooser.add_program(program_invocation_name, program);
    for (const auto& [name, library] : files_)
      chooser.add_library(name, library);
    chooser.allow_private({});
    for (const std::string& name : needed_private_)
      chooser.set_private(name);
    for (const std::string& name : users_)
      chooser.set_private(name);
    decision.is_private = true;
    decision.reason = chooser.classify(first_, libraries_);
    for (const NeededLibrary& library : libraries_) {
      if (library.is_shared) decision.shared.insert(library.name);
    }
    return decision;
  }

 private:
  bool is_sought(std::string_view soname) override {
    const LoadState state = load_state(std::string(soname));
    if (state == LoadState::private_to_ranks) needed_private_.emplace(soname);
    return state == LoadState::absent;
  }

  std::string find(std::string_view soname,
                   const ElfFile& needer,
                   const std::string& needer_path) override {
    std::string translation = translation_of(soname, search());
    if (translation.empty()) return LibraryWalk::find(soname, needer, needer_path);
    if (!is_translation(needer_path)) translations_.push_back(translation);
    return translation;
  }

  bool is_read(const Need& need) override {
    note_second_runtime(need.soname, need.path);
    return may_read(need.soname);
  }

  /// The library of this name is not loaded: it is not the one that this code belongs to. A
  /// translation has no runtime of its own.
  void note_second_runtime(std::string_view soname, const std::string& path) {
    const bool is_runtime = (soname.starts_with("libmpi_abi.so") && !is_translation(path)) ||
                            soname.starts_with("libsorrel-runtime.so");
    if (is_runtime) second_runtime_ = soname;
  }

  void read(const Need& need, const ElfFile& library) override { add(library, need.path); }

  void add(const ElfFile& library, const std::string& path) {
    std::string name = name_of(library, path);
    auto file = open_file(path);
    if (files_.contains(name) || !file) return;
    files_.emplace(name, std::move(*file));
    libraries_.push_back({std::move(name), path, true, ""});
  }

  void find_users() {
    std::set<std::string_view> defined;
    for (const auto& [name, library] : files_) {
      library.for_each_symbol([&defined](const os::ElfSymbol& symbol) {
        if (symbol.is_defined) defined.insert(symbol.name);
      });
    }
    for (const auto& [name, library] : files_) {
      library.for_each_relocation([&, &user = name](const os::ElfRelocation& relocation) {
        if (!relocation.symbol.empty() && depends_on_rank(relocation.symbol, defined))
          users_.insert(user);
      });
    }
  }

  // Whether the loader would bind this name to what is private to ranks, or to nothing: another
  // rank may have opened a library that defines it.
  [[nodiscard]] bool depends_on_rank(std::string_view symbol,
                                     const std::set<std::string_view>& defined) const {
    static constexpr std::string_view of_start_files[] = {
        "__gmon_start__", "_ITM_registerTMCloneTable", "_ITM_deregisterTMCloneTable"};
    const std::string name(symbol);
    if (void* found = loader_dlsym()(RTLD_DEFAULT, name.c_str()))
      return current_slab()->image().contains(reinterpret_cast<std::uintptr_t>(found));
    if (!defined.contains(symbol))
      return std::find(std::begin(of_start_files), std::end(of_start_files), symbol) ==
             std::end(of_start_files);
    return std::any_of(in_scope_.begin(), in_scope_.end(), [&](const ImageSlab* slab) {
      return slab->image().executable().definition(name.c_str()) != nullptr;
    });
  }

  std::span<const ImageSlab* const> in_scope_;
  std::vector<std::string> translations_;
  std::string second_runtime_;
  std::map<std::string, ElfFile> files_;
  std::set<std::string> needed_private_;
  /// Libraries that use what is private to ranks.
  std::set<std::string> users_;
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

OpenDecision check_open(const char* name,
                        const std::string& caller_path,
                        std::span<const ImageSlab* const> in_scope) {
  // The loader searches on behalf of the caller; it takes a privatized image for the program.
  const auto needer = open_file(caller_path.empty() ? program_file : caller_path);
  const std::string needer_path = caller_path.empty() ? program_folder() + "/." : caller_path;
  if (!needer || !may_read(name)) return {};
  const std::string path = os::find_library(name, *needer, needer_path, library_search);
  OpenDecision decision;
  if (!path.empty()) decision = check_file(path, in_scope);
  decision.path = path;
  return decision;
}

std::string name_for_loader(const char* name) {
  const std::string given = name;
  // The loader puts its own text for $ORIGIN and the like.
  if (given.starts_with('/') || given.find('$') != given.npos) return given;
  std::string relative = given.find('/') != given.npos ? given : "";
  for (const std::string& folder : library_search.before_runpath) {
    if (!relative.empty()) break;
    std::string path = folder + "/" + given;
    if (!os::is_file(path)) continue;
    if (folder.starts_with('/')) return given;
    relative = std::move(path);
  }
  char directory[PATH_MAX];
  if (relative.empty() || !os::is_file(relative) ||
      ::getcwd(directory, sizeof directory) == nullptr)
    return given;
  if (relative.starts_with("./")) relative.erase(0, 2);
  return std::string(directory) + "/" + relative;
}

OpenDecision check_file(const std::string& path, std::span<const ImageSlab* const> in_scope) {
  const auto program = open_file(program_file);
  auto opened = ElfFile::open(path);
  const auto* library = std::get_if<ElfFile>(&opened);
  if (!program) return {};
  if (library == nullptr) {
    OpenDecision decision;
    // The loader would map it, and end the process when it reads what the file does not have.
    if (const auto& error = std::get<os::ElfError>(opened); error.kind == os::ElfErrorKind::damaged)
      decision.damage = path + " is a damaged ELF file: " + error.detail;
    return decision;
  }
  Opening opening(in_scope);
  opening.open(*library, path);
  return opening.decision(*program);
}

std::string path_of_code(const void* code) {
  for (const Loaded& file : loaded_files(code)) {
    if (file.is_caller) return file.path;
  }
  return "";
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
