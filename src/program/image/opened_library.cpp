#include "program/image/opened_library.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <dlfcn.h>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include "base/check.hpp"
#include "os/library_state.hpp"
#include "program/base/libc.hpp"
#include "program/image/held_back_load.hpp"

namespace sorrel::program {

namespace {

using Libraries = std::vector<std::unique_ptr<OpenedLibrary>>;

// The constructor of a shared library may open another one while the first is loaded.
std::recursive_mutex load_mutex;

Libraries& libraries() {
  static auto& all = *new Libraries;
  return all;
}

/// By the handles of libraries that stay loaded although they are no opened libraries.
std::map<const void*, std::string>& failures() {
  static auto& all = *new std::map<const void*, std::string>;
  return all;
}

void close_handle(void* handle) {
  static auto* const real_close = next_definition<decltype(::dlclose)>("dlclose");
  if (handle != nullptr) real_close(handle);
}

[[nodiscard]] std::string absolute_path(const char* path) {
  char* found = ::realpath(path, nullptr);
  std::string result = found != nullptr ? found : path;
  std::free(found);
  return result;
}

/// What the loader's list says of a module.
[[nodiscard]] dl_phdr_info description_of(std::uintptr_t base) {
  struct Search {
    std::uintptr_t base;
    dl_phdr_info found;
  } search{base, {}};

  static auto* const real_iterate = next_definition<decltype(::dl_iterate_phdr)>("dl_iterate_phdr");
  real_iterate(
      [](dl_phdr_info* info, std::size_t, void* argument) {
        auto& wanted = *static_cast<Search*>(argument);
        if (info->dlpi_addr != wanted.base) return 0;
        wanted.found = *info;
        return 1;
      },
      &search);
  return search.found;
}

[[nodiscard]] Module module_of(const NewModule& loaded) {
  const std::string path = absolute_path(loaded.map->l_name);
  return {description_of(loaded.map->l_addr), path, loaded.is_held_back ? path.c_str() : nullptr,
          loaded.is_held_back ? &loaded.record : nullptr};
}

[[nodiscard]] bool has_name(const Module& module, std::string_view name) {
  return module.name() == name || module.path == name || module.soname() == name;
}

/// A load that has begun: it publishes all of its libraries, or none.
class Loading {
 public:
  Loading(const OpenDecision& decision, const OpenedLibrary::Scope& globals)
      : decision_(decision), globals_(globals) {}

  LoadResult run(const char* name) {
    std::vector<std::string> names;
    for (const OpenedLibrary* library : globals_)
      names.emplace_back(map_of(*library).l_name);
    names.emplace_back(decision_.path.empty() ? name : decision_.path);
    const HeldBackLoad load =
        load_held_back(names, [this](const link_map& map) { return is_private(map); });
    if (load.handle == nullptr) return {};
    LoadResult result = load.modules.empty() ? find_loaded(names.back()) : take(load);
    const auto names_loaded = loader_names(load);
    close_handle(load.handle);
    if (result.library == nullptr) keep_failure(names_loaded, result.reason);
    return result;
  }

 private:
  [[nodiscard]] static const link_map& map_of(const OpenedLibrary& library) {
    return *static_cast<const link_map*>(library.handle);
  }

  /// A library that was found elsewhere than expected is private, too.
  [[nodiscard]] bool is_private(const link_map& map) const {
    const Module module(description_of(map.l_addr), map.l_name, nullptr, nullptr);
    const std::string_view name = module.soname().empty() ? module.name() : module.soname();
    if (decision_.shared.contains(std::string(name))) return false;
    return os::is_cxx_library(name) || os::reason_to_share(name).empty();
  }

  /// Another rank may have loaded it after this one has looked for it.
  [[nodiscard]] static LoadResult find_loaded(const std::string& name) {
    static auto* const real_open = next_definition<decltype(::dlopen)>("dlopen");
    void* handle = real_open(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    const OpenedLibrary* library = opened_library(handle);
    close_handle(handle);
    if (library == nullptr) return {nullptr, "it is loaded, and ranks would share it"};
    return {library, ""};
  }

  [[nodiscard]] static std::vector<std::string> loader_names(const HeldBackLoad& load) {
    std::vector<std::string> names;
    for (const NewModule& module : load.modules) {
      if (module.is_held_back) names.emplace_back(module.map->l_name);
    }
    return names;
  }

  /// Some libraries cannot be unloaded. Their constructors have not run.
  static void keep_failure(const std::vector<std::string>& names, const std::string& reason) {
    static auto* const real_open = next_definition<decltype(::dlopen)>("dlopen");
    for (const std::string& name : names) {
      if (const void* handle = real_open(name.c_str(), RTLD_LAZY | RTLD_NOLOAD))
        failures()[handle] = reason;
    }
  }

  LoadResult take(const HeldBackLoad& load) {
    std::string reason;
    for (const NewModule& module : load.modules) {
      if (module.is_held_back && reason.empty()) reason = add(module);
    }
    std::vector<const ImageSlab*> slabs(private_slabs().begin(), private_slabs().end());
    for (const auto& library : added_)
      slabs.push_back(&library->slab());
    for (const auto& image : images_) {
      if (reason.empty()) reason = image->read_pointers(slabs);
      if (!reason.empty()) break;
    }
    for (const NewModule& module : load.modules) {
      if (!module.is_held_back && reason.empty()) reason = pointer_into(slabs, module);
    }
    if (reason.empty() && private_slabs().size() + added_.size() > slab_count_max)
      reason = "ranks have opened too many libraries";
    if (!reason.empty()) return {nullptr, reason};
    return {publish(), ""};
  }

  [[nodiscard]] std::string add(const NewModule& loaded) {
    Module module = module_of(loaded);
    const std::string name(module.name());
    std::string error;
    if (loaded.record.dynamic == nullptr) return name + ": its dynamic section cannot be changed";
    std::unique_ptr<Image> image = Image::read_library(std::move(module), error);
    if (image == nullptr) return name + ": " + error;
    image->close_files();
    auto slab = ImageSlab::reserve_for_library(*image, current_slab()->count(), error);
    if (slab == nullptr) return name + ": " + error;
    images_.push_back(image.get());
    loader_names_.emplace_back(loaded.map->l_name);
    added_.push_back(std::make_unique<OpenedLibrary>(std::move(image), std::move(slab)));
    return "";
  }

  /// Why a library that ranks share cannot have been bound to private ones, or "".
  [[nodiscard]] static std::string pointer_into(const std::vector<const ImageSlab*>& slabs,
                                                const NewModule& loaded) {
    std::string error;
    const Module module = module_of(loaded);
    for (const ImageSlab* slab : slabs) {
      if (error.empty()) error = slab->image().find_pointer_from(module);
    }
    return error;
  }

  const OpenedLibrary* publish();

  const OpenDecision& decision_;
  const OpenedLibrary::Scope& globals_;
  Libraries added_;
  std::vector<Image*> images_;
  std::vector<std::string> loader_names_;
};

const OpenedLibrary* Loading::publish() {
  static auto* const real_open = next_definition<decltype(::dlopen)>("dlopen");
  Libraries& all = libraries();
  const std::size_t first = all.size();
  SORREL_ASSERT(!added_.empty() && added_.size() == loader_names_.size(),
                "%zu libraries, %zu names", added_.size(), loader_names_.size());
  std::move(added_.begin(), added_.end(), std::back_inserter(all));
  for (std::size_t i = first; i < all.size(); ++i) {
    OpenedLibrary& library = *all[i];
    for (const std::string_view name : library.module().needed()) {
      const auto found = std::find_if(all.begin(), all.end(), [name](const auto& other) {
        return has_name(other->module(), name);
      });
      if (found != all.end()) library.needs.push_back(found->get());
    }
  }
  // The loader maps the library itself before those that it needs.
  const OpenedLibrary& root = *all[first];
  OpenedLibrary::Scope scope = globals_;
  for (const OpenedLibrary* library : group_of(root))
    scope.push_back(library);
  for (std::size_t i = first; i < all.size(); ++i) {
    OpenedLibrary& library = *all[i];
    library.handle = real_open(loader_names_[i - first].c_str(), RTLD_LAZY | RTLD_NOLOAD);
    SORREL_CHECK(library.handle != nullptr, "%s is not loaded any more",
                 loader_names_[i - first].c_str());
    library.scope = scope;
    library.publish();
  }
  return &root;
}

template <class Matches>
[[nodiscard]] const OpenedLibrary* find_library(Matches matches) {
  const std::lock_guard lock(load_mutex);
  const auto found = std::find_if(libraries().begin(), libraries().end(),
                                  [&](const auto& library) { return matches(*library); });
  return found == libraries().end() ? nullptr : found->get();
}

}  // namespace

std::string OpenedLibrary::make(int index) const {
  const std::lock_guard lock(load_mutex);
  if (!image_->modules.front().reopen_file())
    return module().path + " is no longer the file that is loaded";
  const bool is_made = slab_->make(index);
  const std::string error = is_made ? "" : mapping_error();
  image_->close_files();
  return error;
}

void OpenedLibrary::publish() {
  std::size_t number = 0;
  if (module().thread_local_segment != nullptr && ::dlinfo(handle, RTLD_DI_TLS_MODID, &number) == 0)
    slab_->thread_local_module = number;
  publish_slab(slab_.get());
}

bool OpenedLibrary::has_unique_symbols() const {
  return std::any_of(image_->bindings.begin(), image_->bindings.end(),
                     [](const Binding& binding) { return binding.is_unique; });
}

const OpenedLibrary* opened_library(const void* handle) {
  return find_library([handle](const OpenedLibrary& library) { return library.handle == handle; });
}

const OpenedLibrary* opened_library_of(std::uintptr_t address) {
  return find_library(
      [address](const OpenedLibrary& library) { return library.image().contains(address); });
}

std::string binding_conflict(const void* handle, const OpenedLibrary::Scope& globals) {
  const link_map& map = *static_cast<const link_map*>(handle);
  if (globals.empty()) return "";
  std::string conflict;
  const Module module(description_of(map.l_addr), map.l_name, nullptr, nullptr);
  module.for_each_relocation([&](const ElfW(Rela) & relocation, RelocationKind kind) {
    const ElfW(Sym)& symbol = module.symbol_of(relocation);
    const char* name = module.name_of(symbol);
    if ((kind != RelocationKind::address && kind != RelocationKind::jump_slot) || *name == '\0' ||
        ELF64_ST_BIND(symbol.st_info) == STB_LOCAL || loader_dlsym()(RTLD_DEFAULT, name) != nullptr)
      return;
    for (const OpenedLibrary* library : globals) {
      if (library->module().definition(name) == nullptr) continue;
      conflict = "ranks share it, and in this rank it would use " + std::string(name) + " of " +
                 std::string(library->module().name());
    }
  });
  return conflict;
}

std::string load_failure(const void* handle) {
  const std::lock_guard lock(load_mutex);
  const auto found = failures().find(handle);
  return found == failures().end() ? "" : found->second;
}

OpenedLibrary::Scope group_of(const OpenedLibrary& root) {
  OpenedLibrary::Scope group{&root};
  for (std::size_t i = 0; i < group.size(); ++i) {
    for (const OpenedLibrary* needed : group[i]->needs) {
      if (std::find(group.begin(), group.end(), needed) == group.end()) group.push_back(needed);
    }
  }
  return group;
}

LoadResult load_library(const char* name,
                        const OpenDecision& decision,
                        const OpenedLibrary::Scope& globals) {
  const std::lock_guard lock(load_mutex);
  return Loading(decision, globals).run(name);
}

}  // namespace sorrel::program
