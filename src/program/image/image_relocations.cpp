// The part of Image that reads relocation tables: the pointers to shift, and the private objects.

#include <algorithm>
#include <array>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include "os/library_state.hpp"
#include "program/base/libc.hpp"
#include "program/image/image.hpp"

namespace sorrel::program {

namespace {

// Data of libraries of which each rank has its own, in addition to COPY relocations of the
// executable. README.md has the table.
constexpr std::array<std::string_view, 38> objects_of_ranks = {"optarg",
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
  // The loader may have made the table of calls read-only.
  if (::mprotect(reinterpret_cast<void*>(address & ~(page - 1)), page, PROT_READ | PROT_WRITE) == 0)
    std::memcpy(reinterpret_cast<void*>(address), &value, sizeof value);
}

[[nodiscard]] std::uintptr_t word_at(std::uintptr_t address) {
  std::uintptr_t word;
  std::memcpy(&word, reinterpret_cast<const void*>(address), sizeof word);
  return word;
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

// Programs list the mathematics library before this one, and the loader has bound them to it.
void Image::interpose_math_calls() const {
  for (const Module& module : modules) {
    module.for_each_relocation([&module](const ElfW(Rela) & relocation, RelocationKind kind) {
      if (kind != RelocationKind::jump_slot && kind != RelocationKind::address) return;
      const ElfW(Sym)& symbol = module.symbol_of(relocation);
      const char* name = module.name_of(symbol);
      if (symbol.st_shndx != SHN_UNDEF ||
          std::find(functions_of_ranks.begin(), functions_of_ranks.end(), name) ==
              functions_of_ranks.end())
        return;
      if (const void* ours = loader_dlsym()(this_library(), name))
        write_word(module.base + relocation.r_offset, ours);
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
               std::find(objects_of_ranks.begin(), objects_of_ranks.end(), name) !=
                   objects_of_ranks.end()) {
      Dl_info info{};
      void* found = nullptr;
      const std::uintptr_t source =
          word_at(place) - static_cast<std::uintptr_t>(relocation.r_addend);
      if (contains(source) || private_object(source) != nullptr) return;
      if (::dladdr1(reinterpret_cast<void*>(source), &info, &found, RTLD_DL_SYMENT) == 0) return;
      if (found == nullptr) return;
      add_extra_object(source, static_cast<const ElfW(Sym)*>(found)->st_size);
    }
  });
}

void Image::add_extra_object(std::uintptr_t source, std::size_t size) {
  private_objects_.push_back({extra_objects_offset + extra_objects.size(), size, source});
  extra_objects.resize(rounded_up(extra_objects.size() + size, extra_object_alignment));
}

void Image::fill_extra_objects() {
  for (const PrivateObject& object : private_objects_) {
    if (object.offset < extra_objects_offset) continue;
    std::memcpy(extra_objects.data() + (object.offset - extra_objects_offset),
                reinterpret_cast<const void*>(object.source), object.size);
  }
}

// Decides by value: by the address of the symbol, since the sum with the addend may lie in a
// neighbour. An address in the template image becomes the same address of the privatized image, and
// so does an address of a private object. Anything else (functions of shared libraries, null,
// numbers) stays as it is.
void Image::add_slot_if_pointer(Offset offset, std::uintptr_t value, std::uintptr_t addend) {
  if (const Module* module = module_at(value - addend)) {
    slots.push_back({offset, module->offset_of(value)});
    return;
  }
  for (const PrivateObject& object : private_objects_) {
    if (value - addend - object.source < object.size) {
      slots.push_back({offset, object.offset + (value - object.source)});
      return;
    }
  }
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
    } else {
      add_slot_if_pointer(offset, value, kind == RelocationKind::address ? addend : 0);
    }
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

// A shared library would use the template image's function or variable. It may use an object that
// the executable has a copy of, and code that is the same everywhere: weak definitions. What a host
// MPI has loaded may use the template image's C++ library, which no rank uses.
std::string Image::find_pointer_from_outside() const {
  std::string error;
  for (const Module& module : outside_) {
    module.for_each_relocation([&](const ElfW(Rela) & relocation, RelocationKind kind) {
      if (kind != RelocationKind::address && kind != RelocationKind::jump_slot) return;
      const ElfW(Sym)& symbol = module.symbol_of(relocation);
      const auto addend =
          kind == RelocationKind::address ? static_cast<std::uintptr_t>(relocation.r_addend) : 0;
      const std::uintptr_t value = word_at(module.base + relocation.r_offset) - addend;
      const Module* used = module_at(value);
      const bool is_data = ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT;
      if (used == nullptr || ELF64_ST_BIND(symbol.st_info) == STB_WEAK ||
          (is_data && used == &executable()) || os::is_cxx_library(used->name()) || !error.empty())
        return;
      error = std::string(module.name()) + ", which ranks share, uses " + module.name_of(symbol) +
              " of " + std::string(used->name()) + ", of which each rank has its own";
    });
  }
  return error;
}

}  // namespace sorrel::program
