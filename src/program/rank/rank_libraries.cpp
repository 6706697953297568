#include "program/rank/rank_libraries.hpp"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <pthread.h>

#include "base/check.hpp"
#include "program/base/libc.hpp"
#include "program/rank/rank_process.hpp"

extern "C" void* __tls_get_addr(void* index);

namespace sorrel::program {

namespace {

constexpr OutsideWait lock_wait{.call = "dlopen, for another thread that opens a library",
                                .is_endless = true};
constexpr std::int64_t look_distance_ns = 100'000;

using Scope = OpenedLibrary::Scope;

[[nodiscard]] bool is_in(const Scope& scope, const OpenedLibrary* library) {
  return std::find(scope.begin(), scope.end(), library) != scope.end();
}

/// The first library that defines `name`, or null.
[[nodiscard]] const OpenedLibrary* definer(const Scope& scope, const char* name) {
  const auto found = std::find_if(scope.begin(), scope.end(), [name](const OpenedLibrary* library) {
    return library->module().definition(name) != nullptr;
  });
  return found == scope.end() ? nullptr : *found;
}

/// The symbol in a template image that the loader would find in this scope; 0: none.
[[nodiscard]] std::uintptr_t look_up(const Scope& scope, const Binding& binding) {
  const OpenedLibrary* library = definer(scope, binding.name);
  const OpenedLibrary* bound = opened_library_of(binding.address);
  // The version that the loader has chosen.
  if (library == bound || library == nullptr) return is_in(scope, bound) ? binding.address : 0;
  return reinterpret_cast<std::uintptr_t>(loader_dlsym()(library->handle, binding.name));
}

/// A thread-local variable of another library that would be another one in this scope, or "".
[[nodiscard]] std::string changed_thread_local(const OpenedLibrary& library, const Scope& scope) {
  std::string changed;
  const Module& module = library.module();
  module.for_each_relocation([&](const ElfW(Rela) & relocation, RelocationKind kind) {
    const ElfW(Sym)& symbol = module.symbol_of(relocation);
    const char* name = module.name_of(symbol);
    if (kind == RelocationKind::thread_local_storage && symbol.st_shndx == SHN_UNDEF &&
        *name != '\0' && definer(scope, name) != definer(library.scope, name))
      changed = name;
  });
  return changed;
}

/// On a rank's main thread.
void reset_thread_locals(const OpenedLibrary& library) {
  std::size_t index[2] = {library.slab().thread_local_module, 0};
  const ElfW(Phdr)* segment = library.module().thread_local_segment;
  auto* block = static_cast<std::byte*>(__tls_get_addr(index));
  std::memcpy(block, reinterpret_cast<const void*>(library.module().base + segment->p_vaddr),
              segment->p_filesz);
  std::memset(block + segment->p_filesz, 0, segment->p_memsz - segment->p_filesz);
}

/// A rank's main thread may change, so the rank itself stands for it.
[[nodiscard]] std::uintptr_t owner_of_call(const RankProcess& process) {
  return current_rank_process() == &process ? reinterpret_cast<std::uintptr_t>(&process)
                                            : static_cast<std::uintptr_t>(::pthread_self());
}

/// -1: the template image.
[[nodiscard]] int index_of_image(const PrivatizedImage& copy) {
  const std::uintptr_t begin = copy.base() + copy.image().begin();
  const ImageSlab* slab = slab_at(begin);
  return slab == nullptr ? -1 : slab->index_of(begin);
}

}  // namespace

RankLibraries::Lock::Lock(RankLibraries& libraries) : libraries_(libraries) {
  static auto* const real_sleep = next_definition<decltype(::nanosleep)>("nanosleep");
  const std::uintptr_t self = owner_of_call(libraries_.process_);
  // Acquire, pairs with the release in ~Lock().
  for (std::uintptr_t none = 0;
       libraries_.owner_.load(std::memory_order_relaxed) != self &&
       !libraries_.owner_.compare_exchange_weak(none, self, std::memory_order_acquire);
       none = 0) {
    if (current_rank_process() == &libraries_.process_) {
      libraries_.process_.sleep(lock_wait, look_distance_ns);
    } else {
      const timespec distance{0, look_distance_ns};
      real_sleep(&distance, nullptr);
    }
  }
  ++libraries_.depth_;
}

RankLibraries::Lock::~Lock() {
  SORREL_ASSERT(libraries_.depth_ > 0 && libraries_.owner_.load(std::memory_order_relaxed) != 0,
                "depth %d", libraries_.depth_);
  if (--libraries_.depth_ == 0) libraries_.owner_.store(0, std::memory_order_release);
}

RankLibraries::RankLibraries(RankProcess& process)
    : process_(process), index_(index_of_image(process.copy())) {}

RankLibraries::~RankLibraries() = default;

RankLibraries::Instance* RankLibraries::find(const OpenedLibrary& library) const {
  const auto found = std::find_if(instances_.begin(), instances_.end(), [&](const auto& instance) {
    return instance->library == &library;
  });
  return found == instances_.end() ? nullptr : found->get();
}

bool RankLibraries::contains(std::uintptr_t address) const {
  const ImageSlab* slab = slab_at(address);
  return slab != nullptr && slab->index_of(address) == index_;
}

/// Adds a library behind what it needs. A library that needs itself, through others, comes last.
void RankLibraries::add_in_order(const OpenedLibrary& library) {
  std::set<const OpenedLibrary*> visited;
  const auto visit = [&](const auto& self, const OpenedLibrary& next) -> void {
    if (find(next) != nullptr || !visited.insert(&next).second) return;
    for (const OpenedLibrary* needed : next.needs)
      self(self, *needed);
    instances_.push_back(std::make_unique<Instance>(next));
  };
  visit(visit, library);
}

std::string RankLibraries::open(const OpenedLibrary& library, int flags) {
  const Scope group = group_of(library);
  Scope scope = globals_;
  scope.insert(scope.end(), group.begin(), group.end());
  const std::size_t first = instances_.size();
  add_in_order(library);
  const std::size_t end = instances_.size();
  for (std::size_t i = first; i < end; ++i) {
    const std::string error = make(*instances_[i], scope);
    if (error.empty()) continue;
    for (std::size_t made = first; made <= i; ++made) {
      if (instances_[made]->library->slab().is_made(index_))
        instances_[made]->library->slab().remove(index_);
    }
    instances_.resize(first);
    return error;
  }
  Instance& instance = *find(library);
  ++instance.use_count;
  instance.is_kept |= (flags & RTLD_NODELETE) != 0;
  for (const OpenedLibrary* member : group) {
    if ((flags & RTLD_GLOBAL) != 0 && !is_in(globals_, member)) globals_.push_back(member);
  }
  std::vector<Instance*> fresh;
  for (std::size_t i = first; i < end; ++i)
    fresh.push_back(instances_[i].get());
  for (Instance* made : fresh)
    construct(*made);
  return "";
}

std::string RankLibraries::make(Instance& instance, const Scope& scope) {
  const OpenedLibrary& library = *instance.library;
  const std::string name(library.module().name());
  if (library.module().thread_local_segment != nullptr &&
      !process_.copy().image().needs_thread_block())
    return name + " has thread-local variables, and the program does not call dlopen by its name";
  if (scope != library.scope) {
    const std::string changed = changed_thread_local(library, scope);
    if (!changed.empty())
      return name + " uses the thread-local variable " + changed +
             " of another library than in the rank that has opened it first";
  }
  std::string error = library.make(index_);
  if (error.empty()) error = bind(instance, scope);
  return error.empty() ? "" : name + ": " + error;
}

/// Where names lead elsewhere than in the rank for which the loader has bound them.
std::string RankLibraries::bind(Instance& instance, const Scope& scope) {
  const OpenedLibrary& library = *instance.library;
  const bool is_as_loaded = scope == library.scope;
  for (const Binding& binding : library.image().bindings) {
    std::uintptr_t target = binding.address;
    const auto unique = unique_symbols_.find(binding.name);
    if (unique != unique_symbols_.end()) {
      target = unique->second;
    } else if (binding.is_unique || !is_as_loaded) {
      target = look_up(scope, binding);
      if (binding.is_unique) unique_symbols_.emplace(binding.name, target);
    }
    if (target == 0 && !binding.is_weak) return "undefined symbol: " + std::string(binding.name);
    if (target != binding.address) write(instance, binding, target);
    if (const OpenedLibrary* owner = opened_library_of(target)) instance.bound_to.insert(owner);
  }
  return "";
}

void RankLibraries::write(const Instance& instance,
                          const Binding& binding,
                          std::uintptr_t target) const {
  std::uintptr_t value = target;
  if (const OpenedLibrary* owner = opened_library_of(target))
    value = target - owner->image().base() + owner->slab().copy(index_).base();
  value += target == 0 ? 0 : binding.addend;
  std::memcpy(instance.library->slab().copy(index_).at<void>(binding.offset), &value, sizeof value);
}

void RankLibraries::construct(Instance& instance) {
  SORREL_ASSERT(!instance.is_initialised && !instance.is_finalised, "%s is initialised twice",
                instance.library->module().path.c_str());
  instance.is_initialised = true;
  process_.run_constructors(instance.library->slab().copy(index_), instance.library->module());
}

void RankLibraries::destruct(Instance& instance) {
  if (!instance.is_initialised || instance.is_finalised) return;
  SORREL_ASSERT(instance.library->slab().is_made(index_), "%s is not there any more",
                instance.library->module().path.c_str());
  instance.is_finalised = true;
  process_.run_destructors(instance.library->slab().copy(index_), instance.library->module());
}

bool RankLibraries::close(const OpenedLibrary& library) {
  Instance* instance = find(library);
  if (instance == nullptr || instance->use_count == 0) return false;
  if (--instance->use_count == 0) remove_unused();
  return true;
}

/// Threads keep thread-local variables, and objects in them are destroyed by code of the library.
bool RankLibraries::must_stay(const Instance& instance) const {
  const ImageSlab& slab = instance.library->slab();
  const auto is_of_instance = [&](const void* address) {
    return slab.index_of(reinterpret_cast<std::uintptr_t>(address)) == index_;
  };
  const bool has_threads = process_.started_threads().any() ||
                           current_rank_process() != &process_ ||
                           loader_dlsym()(RTLD_DEFAULT, "GOMP_parallel") != nullptr;
  return instance.use_count > 0 || instance.is_kept || instance.library->has_unique_symbols() ||
         (instance.library->module().thread_local_segment != nullptr && has_threads) ||
         process_.exit_handlers().has_thread_local(is_of_instance);
}

std::set<const OpenedLibrary*> RankLibraries::find_used() const {
  std::set<const OpenedLibrary*> used;
  const auto visit = [&](const auto& self, const OpenedLibrary* library) -> void {
    const Instance* instance = find(*library);
    if (instance == nullptr || !used.insert(library).second) return;
    for (const OpenedLibrary* needed : library->needs)
      self(self, needed);
    for (const OpenedLibrary* other : instance->bound_to)
      self(self, other);
  };
  for (const auto& instance : instances_) {
    if (must_stay(*instance)) visit(visit, instance->library);
  }
  return used;
}

/// In reverse order of the constructors. A destructor may close libraries, too.
void RankLibraries::remove_unused() {
  const std::set<const OpenedLibrary*> used = find_used();
  std::vector<Instance*> unused;
  for (const auto& instance : instances_) {
    if (!used.contains(instance->library) && !instance->is_finalised)
      unused.insert(unused.begin(), instance.get());
  }
  for (Instance* instance : unused)
    destruct(*instance);
  for (Instance* instance : unused)
    remove(*instance);
}

void RankLibraries::remove(const Instance& instance) {
  SORREL_ASSERT(instance.use_count == 0, "%s is used %d times",
                instance.library->module().path.c_str(), instance.use_count);
  const OpenedLibrary& library = *instance.library;
  if (library.module().thread_local_segment != nullptr) reset_thread_locals(library);
  library.slab().remove(index_);
  std::erase(globals_, &library);
  std::erase_if(instances_, [&](const auto& each) { return each.get() == &instance; });
}

void RankLibraries::remove_all() {
  for (const auto& instance : instances_)
    instance->library->slab().remove(index_);
  instances_.clear();
}

void RankLibraries::run_destructors() {
  for (std::size_t i = instances_.size(); i-- > 0;) {
    if (i < instances_.size()) destruct(*instances_[i]);
  }
}

}  // namespace sorrel::program
