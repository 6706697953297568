// The part of Image that reads relocation tables: the pointers to shift, and the private objects.

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.hpp"
#include "os/library_state.hpp"
#include "program/base/file_openers.hpp"
#include "program/base/libc.hpp"
#include "program/image/image.hpp"
#include "program/image/image_slab.hpp"
#include "program/image/symbol_substitution.hpp"
#include "program/image/thread_local_access.hpp"

namespace sorrel::program {

namespace {

// Data of libraries of which each rank has its own, in addition to COPY relocations of the
// executable. README.md has the table.
constexpr std::array<std::string_view, 39> objects_of_ranks = {"optarg",
                                                               "optind",
                                                               "opterr",
                                                               "optopt",
                                                               "environ",
                                                               "__environ",
                                                               "_environ",
                                                               "timezone",
                                                               "__timezone",
                                                               "daylight",
                                                               "__daylight",
                                                               "tzname",
                                                               "__tzname",
                                                               "signgam",
                                                               "__signgam",
                                                               "getdate_err",
                                                               "error_message_count",
                                                               "error_one_per_line",
                                                               "error_print_progname",
                                                               "program_invocation_name",
                                                               "program_invocation_short_name",
                                                               "__progname",
                                                               "__progname_full",
                                                               "argp_program_version",
                                                               "argp_program_version_hook",
                                                               "argp_program_bug_address",
                                                               "argp_err_exit_status",
                                                               "__libc_stack_end",
                                                               "stdin",
                                                               "stdout",
                                                               "stderr",
                                                               "_ZSt4cout",
                                                               "_ZSt4cerr",
                                                               "_ZSt4clog",
                                                               "_ZSt3cin",
                                                               "_ZSt5wcout",
                                                               "_ZSt5wcerr",
                                                               "_ZSt5wclog",
                                                               "_ZSt4wcin"};

// Functions of the mathematics library that this library replaces (gamma.cpp).
constexpr std::array<std::string_view, 11> functions_of_ranks = {
    "lgamma", "lgammaf64", "lgammaf32x", "gamma",  "lgammaf",   "lgammaf32",
    "gammaf", "lgammal",   "lgammaf64x", "gammal", "lgammaf128"};

void write_word(std::uintptr_t address, const void* value) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  SORREL_ASSERT(std::has_single_bit(page), "pages of %zu bytes", page);
  // The loader may have made the table of calls read-only.
  if (::mprotect(reinterpret_cast<void*>(address & ~(page - 1)), page, PROT_READ | PROT_WRITE) == 0)
    std::memcpy(reinterpret_cast<void*>(address), &value, sizeof value);
}

[[nodiscard]] std::uintptr_t word_at(std::uintptr_t address) {
  std::uintptr_t word;
  std::memcpy(&word, reinterpret_cast<const void*>(address), sizeof word);
  return word;
}

[[nodiscard]] bool is_use_of_other(const Module& module,
                                   const ElfW(Rela) & relocation,
                                   RelocationKind kind) {
  return (kind == RelocationKind::jump_slot || kind == RelocationKind::address) &&
         module.symbol_of(relocation).st_shndx == SHN_UNDEF;
}

[[nodiscard]] bool is_object_of_rank(std::string_view name) {
  return std::find(objects_of_ranks.begin(), objects_of_ranks.end(), name) !=
         objects_of_ranks.end();
}

/// Size of the variable at this address of a library; 0 if there is none.
[[nodiscard]] std::size_t size_of_variable(std::uintptr_t address) {
  Dl_info info{};
  void* found = nullptr;
  if (::dladdr1(reinterpret_cast<void*>(address), &info, &found, RTLD_DL_SYMENT) == 0 ||
      found == nullptr)
    return 0;
  return static_cast<const ElfW(Sym)*>(found)->st_size;
}

}  // namespace

// A lazy loader binds calls when they are first made, but it would bind them in the template image
// and never in a privatized one. An undefined name stays lazy: a call of it ends in the loader's
// own message.
void Image::bind_lazy_slots() const {
  const Module& module = executable();
  module.for_each_relocation([&module](const ElfW(Rela) & relocation, RelocationKind kind) {
    if (!module.is_unbound(relocation, kind)) return;
    const char* name = module.name_of(module.symbol_of(relocation));
    const char* version = module.needed_version(relocation);
    void* found = version != nullptr ? ::dlvsym(RTLD_DEFAULT, name, version) : nullptr;
    // An interposer (of this library, for example) has no version.
    if (found == nullptr || loader_dlsym()(RTLD_DEFAULT, name) != found) {
      if (void* first = loader_dlsym()(RTLD_DEFAULT, name)) found = first;
    }
    if (found != nullptr) write_word(module.base + relocation.r_offset, found);
  });
}

// Programs list the mathematics library before this one, and the loader has bound them to it. The
// loader's dlvsym stays what the name means for this library, which needs it to find the loader.
void Image::interpose_calls() const {
  for (const Module& module : modules) {
    module.for_each_relocation([&module](const ElfW(Rela) & relocation, RelocationKind kind) {
      if (!is_use_of_other(module, relocation, kind)) return;
      const std::string_view name = module.name_of(module.symbol_of(relocation));
      const void* ours = nullptr;
      if (name == "dlvsym") {
        ours = loader_dlsym()(this_library(), "sorrel_dlvsym");
      } else if (std::find(functions_of_ranks.begin(), functions_of_ranks.end(), name) !=
                 functions_of_ranks.end()) {
        ours = loader_dlsym()(this_library(), name.data());
      } else {
        void* bound = reinterpret_cast<void*>(word_at(module.base + relocation.r_offset));
        if (void* other = substituted(bound, name.data()); other != bound) ours = other;
      }
      if (ours != nullptr) write_word(module.base + relocation.r_offset, ours);
    });
  }
}

void Image::find_private_objects() {
  for (const Module& module : modules)
    find_private_objects(module);
}

void Image::find_private_objects(const Module& module) {
  module.for_each_relocation([&](const ElfW(Rela) & relocation, RelocationKind kind) {
    const ElfW(Sym)& symbol = module.symbol_of(relocation);
    const std::string_view name = module.name_of(symbol);
    const std::uintptr_t place = module.base + relocation.r_offset;
    if (kind == RelocationKind::copy) {
      private_objects_.push_back({module.offset_of(place), symbol.st_size, place});
    } else if (kind == RelocationKind::address && symbol.st_shndx == SHN_UNDEF &&
               is_object_of_rank(name)) {
      const std::uintptr_t source =
          word_at(place) - static_cast<std::uintptr_t>(relocation.r_addend);
      add_extra_object(source, size_of_variable(source));
    }
  });
}

// Libraries that a rank opens may use any of them.
void Image::add_objects_for_libraries() {
  for (const std::string_view name : objects_of_ranks) {
    const auto source = reinterpret_cast<std::uintptr_t>(loader_dlsym()(RTLD_DEFAULT, name.data()));
    if (source != 0) add_extra_object(source, size_of_variable(source));
  }
}

void Image::add_extra_object(std::uintptr_t source, std::size_t size) {
  if (size == 0 || contains(source) || private_object(source) != nullptr) return;
  SORREL_ASSERT((extra_objects_offset + extra_objects.size()) % extra_object_alignment == 0,
                "an object at 0x%zx", extra_objects_offset + extra_objects.size());
  private_objects_.push_back({extra_objects_offset + extra_objects.size(), size, source});
  extra_objects.resize(rounded_up(extra_objects.size() + size, extra_object_alignment));
}

void Image::fill_extra_objects() {
  for (const PrivateObject& object : private_objects_) {
    if (object.offset < extra_objects_offset) continue;
    SORREL_ASSERT(object.offset - extra_objects_offset + object.size <= extra_objects.size(),
                  "0x%zx bytes at 0x%zx of 0x%zx", object.size,
                  object.offset - extra_objects_offset, extra_objects.size());
    std::memcpy(extra_objects.data() + (object.offset - extra_objects_offset),
                reinterpret_cast<const void*>(object.source), object.size);
  }
}

// Decides by value: by the address of the symbol, since the sum with the addend may lie in a
// neighbour. An address in the template image becomes the same address of the privatized image, and
// so does an address of a private object. Anything else (functions of shared libraries, null,
// numbers) stays as it is.
void Image::add_slot_if_pointer(Offset offset, std::uintptr_t value, std::uintptr_t addend) {
  if (const auto target = offset_of(value - addend)) {
    slots.push_back({offset, *target + addend});
    return;
  }
  for (const ImageSlab* slab : slabs_) {
    if (const auto target = slab->image().offset_of(value - addend)) {
      outside_slots.push_back({offset, slab, *target + addend});
      return;
    }
  }
}

// What the loader has bound by name to a library that a rank has opened, or to nothing. It searches
// what it has loaded at the program's start first, which is the same for all ranks.
void Image::collect_binding(const Module& module, const ElfW(Rela) & relocation, Offset offset) {
  SORREL_ASSERT(!slabs_.empty(), "a binding of the program itself");
  const ElfW(Sym)& symbol = module.symbol_of(relocation);
  if (ELF64_R_SYM(relocation.r_info) == 0 || ELF64_ST_BIND(symbol.st_info) == STB_LOCAL ||
      ELF64_ST_VISIBILITY(symbol.st_other) != STV_DEFAULT || *module.name_of(symbol) == '\0')
    return;
  const auto addend = static_cast<std::uintptr_t>(relocation.r_addend);
  const std::uintptr_t value = word_at(module.base + relocation.r_offset) - addend;
  const bool is_of_library =
      contains(value) || std::any_of(slabs_.begin() + 1, slabs_.end(), [value](const auto* slab) {
        return slab->image().contains(value);
      });
  if (value != 0 && !is_of_library) return;
  bindings.push_back({.offset = offset,
                      .addend = addend,
                      .name = module.name_of(symbol),
                      .is_weak = ELF64_ST_BIND(symbol.st_info) == STB_WEAK,
                      .is_unique = ELF64_ST_BIND(symbol.st_info) == STB_GNU_UNIQUE,
                      .address = value});
}

// The program's image has those that the program may need; see add_objects_for_libraries().
std::string Image::find_object_of_process() const {
  std::string error;
  const Module& module = executable();
  module.for_each_relocation([&](const ElfW(Rela) & relocation, RelocationKind kind) {
    const std::string_view name = module.name_of(module.symbol_of(relocation));
    if (!is_use_of_other(module, relocation, kind) || !is_object_of_rank(name)) return;
    const std::uintptr_t value = word_at(module.base + relocation.r_offset) -
                                 static_cast<std::uintptr_t>(relocation.r_addend);
    const bool is_of_rank = std::any_of(slabs_.begin(), slabs_.end(), [value](const auto* slab) {
      return slab->image().offset_of(value).has_value();
    });
    if (value != 0 && !is_of_rank) error = "it uses " + std::string(name) + " of the process";
  });
  return error;
}

// The loader fills a new thread's variables from the template image. Pointers among them are
// corrected at each access (thread_local_access.hpp), which must go through a call.
std::string Image::interpose_thread_local_access() const {
  const Module& module = executable();
  const ElfW(Phdr)* segment = module.thread_local_segment;
  bool is_every_access_a_call = true;
  module.for_each_relocation([&](const ElfW(Rela) & relocation, RelocationKind kind) {
    if (module.is_direct_thread_local_access(relocation)) is_every_access_a_call = false;
    if (is_use_of_other(module, relocation, kind) &&
        std::string_view(module.name_of(module.symbol_of(relocation))) == "__tls_get_addr")
      write_word(module.base + relocation.r_offset,
                 reinterpret_cast<const void*>(&thread_local_address));
  });
  const auto is_initial = [segment](const auto& slot) {
    return segment != nullptr && slot.offset - segment->p_vaddr < segment->p_filesz;
  };
  const bool holds_pointers = std::any_of(slots.begin(), slots.end(), is_initial) ||
                              std::any_of(outside_slots.begin(), outside_slots.end(), is_initial);
  if (!holds_pointers || is_every_access_a_call) return "";
  return "its thread-local variables hold pointers, and its code does not call a function to find "
         "them";
}

void Image::collect_slots(const Module& module) {
  module.for_each_relocation([&](const ElfW(Rela) & relocation, RelocationKind kind) {
    if (kind == RelocationKind::thread_local_storage || kind == RelocationKind::copy) return;
    const std::uintptr_t place = module.base + relocation.r_offset;
    const Offset offset = module.offset_of(place);
    if (kind == RelocationKind::unknown || !is_writable(offset)) {
      const auto type = static_cast<unsigned>(ELF64_R_TYPE(relocation.r_info));
      privatization_error = module.path + " has a relocation of type " + std::to_string(type) +
                            " that is not supported: rebuild all of it with -fPIE -pie";
      return;
    }
    const auto addend = static_cast<Offset>(relocation.r_addend);
    const std::uintptr_t value = word_at(place);
    if (kind == RelocationKind::relative && value == module.base + addend) {
      // A pointer outside the module (for example to an array's base before its first element)
      // still moves with it.
      slots.push_back({offset, addend + module.shift});
      return;
    }
    add_slot_if_pointer(offset, value, kind == RelocationKind::address ? addend : 0);
    const bool is_named = kind == RelocationKind::address || kind == RelocationKind::jump_slot;
    if (is_named && !slabs_.empty()) collect_binding(module, relocation, offset);
  });
  module.for_each_packed_relocation([&](Offset vaddr) {
    const std::uintptr_t value = word_at(module.base + vaddr);
    // This library has changed it, see watch_for_uncaught_exceptions().
    if (is_of_this_library(reinterpret_cast<const void*>(value))) return;
    slots.push_back({vaddr + module.shift, module.offset_of(value)});
  });
}

void Image::collect_slots() {
  for (const Module& module : modules)
    collect_slots(module);
  // Objects copied whole hold pointers that no table lists: to themselves and to each other.
  for (const PrivateObject& object : private_objects_) {
    for (std::size_t at = 0; at + sizeof(std::uintptr_t) <= object.size;
         at += sizeof(std::uintptr_t)) {
      add_slot_if_pointer(object.offset + at, word_at(object.source + at));
    }
  }
}

// A program or a library of the set may define a function of the system (fopen, to count its
// calls), also one that this library defines, too. This library's calls are not calls of a rank.
void Image::release_calls(const Module& module) const {
  static auto* const real_open = next_definition<decltype(::dlopen)>("dlopen");
  void* const systems[] = {real_open("libc.so.6", RTLD_LAZY | RTLD_NOLOAD),
                           real_open("libm.so.6", RTLD_LAZY | RTLD_NOLOAD)};
  module.for_each_relocation([&](const ElfW(Rela) & relocation, RelocationKind kind) {
    const std::uintptr_t place = module.base + relocation.r_offset;
    const ElfW(Sym)& symbol = module.symbol_of(relocation);
    const bool is_use = kind == RelocationKind::jump_slot || kind == RelocationKind::address;
    if (is_use && symbol.st_shndx != SHN_UNDEF && relocation.r_addend == 0 &&
        opens_files(module.name_of(symbol)) && module_at(word_at(place)) != nullptr) {
      write_word(place, reinterpret_cast<const void*>(module.base + symbol.st_value));
      return;
    }
    if (!is_use_of_other(module, relocation, kind) || relocation.r_addend != 0 ||
        ELF64_ST_TYPE(module.symbol_of(relocation).st_info) == STT_OBJECT ||
        module_at(word_at(place)) == nullptr)
      return;
    for (void* system : systems) {
      const void* found =
          system == nullptr ? nullptr
                            : loader_dlsym()(system, module.name_of(module.symbol_of(relocation)));
      if (found == nullptr || module_at(reinterpret_cast<std::uintptr_t>(found)) != nullptr)
        continue;
      write_word(place, found);
      return;
    }
  });
}

// A shared library would use the template image's function or variable. It may use an object that
// the executable has a copy of, and code that is the same everywhere: weak definitions. What a host
// MPI has loaded may use the template image's C++ library, which no rank uses.
std::string Image::find_pointer_from(const Module& module) const {
  std::string error;
  module.for_each_relocation([&](const ElfW(Rela) & relocation, RelocationKind kind) {
    if (kind != RelocationKind::address && kind != RelocationKind::jump_slot) return;
    const ElfW(Sym)& symbol = module.symbol_of(relocation);
    const auto addend =
        kind == RelocationKind::address ? static_cast<std::uintptr_t>(relocation.r_addend) : 0;
    const std::uintptr_t value = word_at(module.base + relocation.r_offset) - addend;
    const Module* used = module_at(value);
    const bool is_copied =
        ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT && !is_library_ && used == &executable();
    if (used == nullptr || ELF64_ST_BIND(symbol.st_info) == STB_WEAK || is_copied ||
        os::is_cxx_library(used->name()) || !error.empty())
      return;
    error = std::string(module.name()) + ", which ranks share, uses " + module.name_of(symbol) +
            " of " + std::string(used->name()) + ", of which each rank has its own";
  });
  return error;
}

}  // namespace sorrel::program
