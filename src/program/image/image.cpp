#include "program/image/image.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <pthread.h>
#include <span>
#include <string_view>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

#include "base/check.hpp"
#include "base/invariants.hpp"
#include "os/library_state.hpp"
#include "program/base/libc.hpp"
#include "program/image/held_back.hpp"

namespace sorrel::program {

namespace {

constexpr const char* executable_file = "/proc/self/exe";

[[nodiscard]] std::string read_link(const char* link) {
  char target[4096];
  const ssize_t length = ::readlink(link, target, sizeof target);
  return length > 0 ? std::string(target, static_cast<std::size_t>(length)) : std::string();
}

/// In the loader's order: the executable first.
[[nodiscard]] std::vector<dl_phdr_info> loaded_modules() {
  std::vector<dl_phdr_info> found;
  const auto add = [](dl_phdr_info* info, std::size_t, void* list) {
    static_cast<std::vector<dl_phdr_info>*>(list)->push_back(*info);
    return 0;
  };
  next_definition<decltype(::dl_iterate_phdr)>("dl_iterate_phdr")(add, &found);
  return found;
}

/// The loader's order (glibc since 2.35): what a depth-first search leaves, which begins at the
/// libraries loaded last and visits the dependencies of each in the order of their names there.
[[nodiscard]] std::vector<std::size_t> initialization_order_of(const std::vector<Module>& all) {
  std::map<std::string_view, std::size_t> index;
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const std::string_view name : {all[i].name(), std::string_view(all[i].path)})
      index.emplace(name, i);
    if (!all[i].soname().empty()) index.emplace(all[i].soname(), i);
  }
  std::vector<std::size_t> order;
  std::vector<bool> is_visited(all.size());
  const auto visit = [&](const auto& self, std::size_t i) -> void {
    if (is_visited[i]) return;
    is_visited[i] = true;
    for (const std::string_view name : all[i].needed()) {
      if (const auto found = index.find(name); found != index.end()) self(self, found->second);
    }
    order.push_back(i);
  };
  for (std::size_t i = all.size(); i-- > 0;)
    visit(visit, i);
  return order;
}

bool is_any_used(const std::vector<Module>& modules, std::span<const std::string_view> symbols) {
  return std::ranges::any_of(modules, [&](const Module& module) {
    return !os::is_cxx_library(module.name()) &&
           std::ranges::any_of(symbols, [&](std::string_view name) { return module.uses(name); });
  });
}

/// Whether ranks may go on with threads of their own, since they start some that may call MPI. Then
/// errno must not change its address, which compilers keep.
bool may_change_threads(const std::vector<Module>& modules) {
  static constexpr std::array<std::string_view, 4> levels{"MPI_Init_thread", "PMPI_Init_thread",
                                                          "MPI_Session_init", "PMPI_Session_init"};
  static constexpr std::array<std::string_view, 4> starts{
      "pthread_create", "thrd_create",
      "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE",
      "_ZNSt6thread15_M_start_threadESt10shared_ptrINS_10_Impl_baseEEPFvvE"};
  return is_any_used(modules, levels) && is_any_used(modules, starts);
}

/// Whether the C library handles the signal by which setuid() and its kind reach all threads. It
/// refuses the number to sigaction().
[[nodiscard]] bool is_prepared_for_threads() {
  constexpr int setxid_signal = 33;

  struct {
    void* handler;
    std::uint64_t flags;
    void* restorer;
    std::uint64_t mask;
  } action{};

  return ::syscall(SYS_rt_sigaction, setxid_signal, nullptr, &action, sizeof action.mask) == 0 &&
         action.handler != nullptr;
}

/// The C library prepares for threads when the first one is asked for and __libc_single_threaded is
/// set. One with a stack that no machine has is not started, so nothing waits for it.
void prepare_for_threads() {
  static auto* const real_create = next_definition<decltype(::pthread_create)>("pthread_create");
  static auto* const real_join = next_definition<decltype(::pthread_join)>("pthread_join");
  const auto nothing = [](void* unused) { return unused; };
  pthread_attr_t attributes;
  pthread_t thread{};
  if (pthread_attr_init(&attributes) == 0) {
    constexpr std::size_t no_machine_has_bytes = std::size_t{1} << 62;
    const bool has_started = pthread_attr_setstacksize(&attributes, no_machine_has_bytes) == 0 &&
                             real_create(&thread, &attributes, nothing, nullptr) == 0;
    if (has_started) real_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
  }
  if (is_prepared_for_threads()) return;
  if (real_create(&thread, nullptr, nothing, nullptr) == 0) real_join(thread, nullptr);
}

[[nodiscard]] bool is_openmp_library(std::string_view name) {
  return os::is_library(name, "libgomp.so") || os::is_library(name, "libomp.so") ||
         os::is_library(name, "libiomp5.so");
}

}  // namespace

std::unique_ptr<Image> Image::read(std::string& error) {
  std::unique_ptr<Image> image(new Image);
  if (!image->find_modules(error)) return nullptr;
  image->needs_thread_block_ = image->find_thread_local_use();
  image->start_iostreams();
  image->privatization_error = image->find_privatization_error();
  if (!image->privatization_error.empty()) return image;
  // A library that a rank opens may have thread-local variables.
  const bool uses_libraries = image->uses_dynamic_loading();
  image->needs_thread_block_ |= uses_libraries || may_change_threads(image->modules);
  // Set before the images are made, which would not see a change when a rank starts a thread.
  prepare_for_threads();
  __libc_single_threaded = 0;
  image->bind_lazy_slots();
  image->interpose_calls();
  image->place_modules();
  image->find_private_objects();
  if (uses_libraries) image->add_objects_for_libraries();
  image->fill_extra_objects();
  image->lay_out();
  image->collect_slots();
  image->share_unchanged_data();
  image->collect_runs();
  image->outside_.clear();
  if (image->privatization_error.empty()) SORREL_ASSERT_INVARIANTS(*image);
  return image;
}

std::unique_ptr<Image> Image::read_library(Module module, std::string& error) {
  std::unique_ptr<Image> image(new Image);
  error = module.error.empty() ? module.privatization_error() : module.error;
  if (!error.empty()) return nullptr;
  image->is_library_ = true;
  image->modules.push_back(std::move(module));
  image->interpose_calls();
  image->place_modules();
  image->lay_out();
  return image;
}

std::string Image::read_pointers(std::span<const ImageSlab* const> slabs) {
  slabs_ = slabs;
  collect_slots();
  if (privatization_error.empty()) privatization_error = find_object_of_process();
  if (privatization_error.empty()) privatization_error = interpose_thread_local_access();
  share_unchanged_data();
  collect_runs();
  slabs_ = {};
  if (privatization_error.empty()) SORREL_ASSERT_INVARIANTS(*this);
  return privatization_error;
}

Image::~Image() {
  close_files();
}

void Image::check_invariants() const {
  SORREL_CHECK(!modules.empty() && !pieces.empty(), "%zu modules, %zu pieces", modules.size(),
               pieces.size());
  SORREL_CHECK(initialization_order.size() <= modules.size(), "%zu modules of %zu are initialised",
               initialization_order.size(), modules.size());
  SORREL_CHECK(std::has_single_bit(alignment) && span % alignment == 0, "span 0x%zx of 0x%zx", span,
               alignment);
  const Offset image_end = begin() + span;
  SORREL_CHECK(pieces.front().begin == begin() && pieces.back().end == image_end,
               "pieces from 0x%zx to 0x%zx, not 0x%zx to 0x%zx", pieces.front().begin,
               pieces.back().end, begin(), image_end);
  Offset next = begin();
  for (const Piece& piece : pieces) {
    SORREL_CHECK(piece.begin == next && piece.begin < piece.end,
                 "a piece from 0x%zx to 0x%zx, behind 0x%zx", piece.begin, piece.end, next);
    SORREL_CHECK(piece.module != nullptr, "the piece at 0x%zx is of no file", piece.begin);
    next = piece.end;
  }
  Offset copied_end = 0;
  for (const ByteRun& run : runs) {
    SORREL_CHECK(run.offset >= copied_end && run.offset + run.size <= image_end,
                 "0x%zx bytes at 0x%zx, behind 0x%zx", run.size, run.offset, copied_end);
    copied_end = run.offset + run.size;
  }
  SORREL_CHECK(extra_objects.empty() || extra_objects_offset + extra_objects.size() <= image_end,
               "0x%zx bytes of objects at 0x%zx", extra_objects.size(), extra_objects_offset);
  const auto check_slot = [&](Offset offset) {
    SORREL_CHECK(offset + sizeof(std::uintptr_t) <= image_end && is_writable(offset),
                 "the pointer at 0x%zx cannot be shifted", offset);
  };
  for (const Slot& slot : slots)
    check_slot(slot.offset);
  for (const OutsideSlot& slot : outside_slots) {
    check_slot(slot.offset);
    SORREL_CHECK(slot.slab != nullptr, "the pointer at 0x%zx leads to no image", slot.offset);
  }
}

void Image::close_files() {
  for (Module& module : modules)
    module.close_file();
}

bool Image::find_modules(std::string& error) {
  std::vector<dl_phdr_info> loaded = loaded_modules();
  if (!has_held_back_modules()) loaded.resize(1);
  std::vector<Module> all;
  std::vector<bool> is_private;
  for (const dl_phdr_info& info : loaded) {
    const bool is_executable = all.empty();
    const early::Module* silenced = held_back_module(info.dlpi_addr);
    is_private.push_back(is_executable || silenced != nullptr);
    std::string path = is_executable ? read_link(executable_file) : info.dlpi_name;
    const char* file = is_executable ? executable_file : info.dlpi_name;
    all.emplace_back(info, std::move(path), is_private.back() ? file : nullptr, silenced);
    if (!is_private.back() || !error.empty()) continue;
    error = all.back().error;
    if (silenced != nullptr && silenced->dynamic == nullptr)
      error = "the dynamic section of " + all.back().path + " cannot be changed";
  }
  if (!error.empty()) return false;
  const std::vector<std::size_t> order = initialization_order_of(all);
  modules.reserve(all.size());
  std::vector<const Module*> private_ones(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (is_private[i]) {
      private_ones[i] = &modules.emplace_back(std::move(all[i]));
    } else {
      outside_.push_back(std::move(all[i]));
    }
  }
  for (const std::size_t i : order) {
    if (private_ones[i] != nullptr) initialization_order.push_back(private_ones[i]);
  }
  return true;
}

bool Image::find_thread_local_use() const {
  return uses_openmp() || std::any_of(modules.begin(), modules.end(), [](const Module& module) {
           return module.thread_local_segment != nullptr && !os::is_cxx_library(module.name());
         });
}

bool Image::uses_openmp() const {
  return loader_dlsym()(RTLD_DEFAULT, "GOMP_parallel") != nullptr ||
         std::any_of(modules.begin(), modules.end(), [](const Module& module) {
           const auto needed = module.needed();
           return std::any_of(needed.begin(), needed.end(), is_openmp_library);
         });
}

// A rank may open libraries that the program and its own libraries know nothing of.
bool Image::uses_dynamic_loading() const {
  return std::any_of(modules.begin(), modules.end(),
                     [](const Module& module) { return module.uses("dlopen"); });
}

// A libstdc++ that ranks share initialises its streams in the first constructor that requests it;
// an image made earlier would hold uninitialised streams.
void Image::start_iostreams() const {
  static char init_object[64];
  void* construct = loader_dlsym()(RTLD_DEFAULT, "_ZNSt8ios_base4InitC1Ev");
  if (construct != nullptr && !contains(reinterpret_cast<std::uintptr_t>(construct)))
    reinterpret_cast<void (*)(void*)>(construct)(init_object);
}

const Module* Image::module_at(std::uintptr_t address) const {
  // Modules lie side by side: the end of one is the begin of the next.
  const Module* found = nullptr;
  for (const Module& module : modules) {
    if (!module.contains(address)) continue;
    found = &module;
    if (address != module.base + module.end()) break;
  }
  return found;
}

const Module* Image::module_at_offset(Offset offset) const {
  // By their begin, in ascending order.
  const auto next = std::upper_bound(
      modules.begin(), modules.end(), offset,
      [](Offset wanted, const Module& module) { return wanted < module.begin() + module.shift; });
  if (next == modules.begin()) return nullptr;
  const Module& module = *std::prev(next);
  return offset <= module.end() + module.shift ? &module : nullptr;
}

std::string Image::find_privatization_error() const {
  for (const Module& module : modules) {
    if (std::string error = module.privatization_error(); !error.empty()) return error;
    if (&module != &executable() && module.has_unbound_calls()) {
      return std::string(module.name()) +
             " has calls that the loader would bind later: LD_BIND_NOW=1 was removed";
    }
  }
  // The loader keeps the last of several.
  const auto is_first = [](const Module& module) { return module.is_initialised_first; };
  if (std::count_if(outside_.begin(), outside_.end(), is_first) +
          std::count_if(modules.begin(), modules.end(), is_first) >
      1)
    return "a library beside libsorrel-early.so.0 is initialised before all others";
  // The one that all code uses, and the one that this library would replace.
  for (void* allocator : {loader_dlsym()(RTLD_DEFAULT, "malloc"), libc_function("malloc")}) {
    if (const Module* module = module_at(reinterpret_cast<std::uintptr_t>(allocator))) {
      return module->path +
             " defines its own malloc, which privatized images cannot share: link it as a shared "
             "library";
    }
  }
  for (const Module& module : outside_) {
    if (module.contains(reinterpret_cast<std::uintptr_t>(&this_library))) release_calls(module);
    if (std::string error = find_pointer_from(module); !error.empty()) return error;
  }
  return "";
}

std::optional<Offset> Image::offset_of(std::uintptr_t address) const {
  if (const Module* module = module_at(address)) return module->offset_of(address);
  for (const PrivateObject& object : private_objects_) {
    if (address - object.source < object.size) return object.offset + (address - object.source);
  }
  return std::nullopt;
}

const PrivateObject* Image::private_object(std::uintptr_t source) const {
  const auto found =
      std::find_if(private_objects_.begin(), private_objects_.end(),
                   [source](const PrivateObject& object) { return object.source == source; });
  return found == private_objects_.end() ? nullptr : &*found;
}

}  // namespace sorrel::program
