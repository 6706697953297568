// The part of Image that reads relocation tables: the pointers to shift, and the private objects.

#include <algorithm>
#include <array>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include "program/base/libc.hpp"
#include "program/image/image.hpp"
#include "program/image/relocation.hpp"

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

constexpr std::size_t extra_object_alignment = 64;

void write_word(std::uintptr_t address, const void* value) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  // The loader may have made the table of calls read-only.
  if (::mprotect(reinterpret_cast<void*>(address & ~(page - 1)), page, PROT_READ | PROT_WRITE) == 0)
    std::memcpy(reinterpret_cast<void*>(address), &value, sizeof value);
}

[[nodiscard]] constexpr std::size_t rounded_up(std::size_t value, std::size_t step) {
  return (value + step - 1) / step * step;
}

[[nodiscard]] std::uintptr_t word_at(std::uintptr_t address) {
  std::uintptr_t word;
  std::memcpy(&word, reinterpret_cast<const void*>(address), sizeof word);
  return word;
}

[[nodiscard]] std::size_t symbol_of(const ElfW(Rela) & relocation) {
  return static_cast<std::size_t>(ELF64_R_SYM(relocation.r_info));
}

}  // namespace

template <class Visit>
void Image::for_each_relocation(Visit&& visit) const {
  for (const Relocations& table : {data_relocations_, call_relocations_}) {
    for (std::size_t i = 0; i < table.count; ++i) {
      const ElfW(Rela)& relocation = table.begin[i];
      const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(relocation.r_info));
      visit(relocation, relocation_kind(header_->e_machine, type));
    }
  }
}

// Source of the encoding: the generic ELF ABI, section type SHT_RELR. An even word is an address,
// an odd one a bitmap of the 63 words that follow the last address covered.
template <class Visit>
void Image::for_each_packed_relocation(Visit&& visit) const {
  Offset next = 0;
  for (std::size_t i = 0; i < packed_relocation_count_; ++i) {
    const ElfW(Relr) entry = packed_relocations_[i];
    if ((entry & 1) == 0) {
      visit(entry);
      next = entry + sizeof(std::uintptr_t);
      continue;
    }
    for (unsigned bit = 1; bit < 64; ++bit) {
      if ((entry >> bit & 1) != 0) visit(next + (bit - 1) * sizeof(std::uintptr_t));
    }
    next += 63 * sizeof(std::uintptr_t);
  }
}

const char* Image::needed_version(std::size_t symbol) const {
  if (symbols_.versions == nullptr || symbols_.needed_versions == nullptr) return nullptr;
  const unsigned wanted = symbols_.versions[symbol] & 0x7fffU;
  const auto* library = reinterpret_cast<const char*>(symbols_.needed_versions);
  while (true) {
    const auto* need = reinterpret_cast<const ElfW(Verneed)*>(library);
    const char* version = library + need->vn_aux;
    for (unsigned i = 0; i < need->vn_cnt; ++i) {
      const auto* entry = reinterpret_cast<const ElfW(Vernaux)*>(version);
      if (entry->vna_other == wanted) return symbols_.names + entry->vna_name;
      version += entry->vna_next;
    }
    if (need->vn_next == 0) return nullptr;
    library += need->vn_next;
  }
}

// A lazy loader binds calls when they are first made, but it would bind them in the template image
// and never in a privatized one. An undefined name stays lazy: a call of it ends in the loader's
// own message.
void Image::bind_lazy_slots() const {
  for_each_relocation([this](const ElfW(Rela) & relocation, RelocationKind kind) {
    if (kind != RelocationKind::jump_slot) return;
    auto* slot = reinterpret_cast<std::uintptr_t*>(base + relocation.r_offset);
    const ElfW(Sym)& symbol = symbols_.symbols[symbol_of(relocation)];
    if (symbol.st_shndx != SHN_UNDEF || !contains(*slot)) return;
    const char* name = symbols_.names + symbol.st_name;
    const char* version = needed_version(symbol_of(relocation));
    void* found = version != nullptr ? ::dlvsym(RTLD_DEFAULT, name, version) : nullptr;
    // An interposer (of this library, for example) has no version.
    if (found == nullptr || loader_dlsym()(RTLD_DEFAULT, name) != found) {
      if (void* first = loader_dlsym()(RTLD_DEFAULT, name)) found = first;
    }
    if (found != nullptr) *slot = reinterpret_cast<std::uintptr_t>(found);
  });
}

// Programs list the mathematics library before this one, and the loader has bound them to it.
void Image::interpose_math_calls() const {
  for_each_relocation([this](const ElfW(Rela) & relocation, RelocationKind kind) {
    if (kind != RelocationKind::jump_slot && kind != RelocationKind::address) return;
    const ElfW(Sym)& symbol = symbols_.symbols[symbol_of(relocation)];
    const char* name = symbols_.names + symbol.st_name;
    if (symbol.st_shndx != SHN_UNDEF ||
        std::find(functions_of_ranks.begin(), functions_of_ranks.end(), name) ==
            functions_of_ranks.end())
      return;
    if (const void* ours = loader_dlsym()(this_library(), name))
      write_word(base + relocation.r_offset, ours);
  });
}

void Image::find_private_objects() {
  extra_objects_offset = rounded_up(end_, extra_object_alignment);
  for_each_relocation([this](const ElfW(Rela) & relocation, RelocationKind kind) {
    const ElfW(Sym)& symbol = symbols_.symbols[symbol_of(relocation)];
    const std::string_view name = symbols_.names + symbol.st_name;
    if (kind == RelocationKind::copy) {
      private_objects_.push_back({relocation.r_offset, symbol.st_size, base + relocation.r_offset});
    } else if (kind == RelocationKind::address && symbol.st_shndx == SHN_UNDEF &&
               std::find(objects_of_ranks.begin(), objects_of_ranks.end(), name) !=
                   objects_of_ranks.end()) {
      Dl_info info{};
      void* found = nullptr;
      const std::uintptr_t source =
          word_at(base + relocation.r_offset) - static_cast<std::uintptr_t>(relocation.r_addend);
      if (private_object(source) != nullptr) return;
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

// Decides by value. An address in the template image becomes the same address of the privatized
// image, and so does an address of a private object. Anything else (functions of libraries, null,
// numbers) stays as it is.
void Image::add_slot_if_pointer(Offset offset, std::uintptr_t value) {
  if (contains(value)) {
    slots.push_back({offset, value - base});
    return;
  }
  for (const PrivateObject& object : private_objects_) {
    if (value - object.source < object.size) {
      slots.push_back({offset, object.offset + (value - object.source)});
      return;
    }
  }
}

void Image::collect_slots() {
  const auto add = [this](Offset offset) { add_slot_if_pointer(offset, word_at(base + offset)); };
  for_each_relocation([&](const ElfW(Rela) & relocation, RelocationKind kind) {
    const Offset offset = relocation.r_offset;
    const auto type = static_cast<unsigned>(ELF64_R_TYPE(relocation.r_info));
    if (kind == RelocationKind::thread_local_storage || kind == RelocationKind::copy) return;
    if (kind == RelocationKind::unknown || !is_writable(offset)) {
      privatization_error = path + " has a relocation of type " + std::to_string(type) +
                            " that is not supported: rebuild all of it with -fPIE -pie";
      return;
    }
    // A pointer outside the image (for example to an array's base before its first element) still
    // moves with the image.
    const auto addend = static_cast<Offset>(relocation.r_addend);
    const bool as_loaded = word_at(base + offset) == base + addend;
    if (kind == RelocationKind::relative && as_loaded) {
      slots.push_back({offset, addend});
    } else {
      add(offset);
    }
  });
  for_each_packed_relocation(add);

  // Objects copied whole hold pointers that no table lists: to themselves and to each other.
  for (const PrivateObject& object : private_objects_) {
    for (std::size_t at = 0; at + sizeof(std::uintptr_t) <= object.size;
         at += sizeof(std::uintptr_t)) {
      add_slot_if_pointer(object.offset + at, word_at(object.source + at));
    }
  }
}

// Whether all tables and addresses that the functions above follow lie in the image. The loader has
// followed fewer of them: it does not look up local symbols, for example.
bool Image::has_sound_relocations() const {
  const auto has_room = [this](Offset offset, std::size_t bytes) {
    return offset >= begin_ && offset <= end_ && bytes <= end_ - offset;
  };
  bool is_sound = symbols_.name_bytes == 0 || symbols_.names[symbols_.name_bytes - 1] == '\0';
  for_each_relocation([&](const ElfW(Rela) & relocation, RelocationKind kind) {
    const auto* entry = symbols_.symbols + symbol_of(relocation);
    if (!has_room(reinterpret_cast<std::uintptr_t>(entry) - base, sizeof *entry)) {
      is_sound = false;
      return;
    }
    const std::size_t bytes =
        kind == RelocationKind::copy ? entry->st_size : sizeof(std::uintptr_t);
    is_sound =
        is_sound && entry->st_name < symbols_.name_bytes && has_room(relocation.r_offset, bytes);
  });
  for_each_packed_relocation(
      [&](Offset offset) { is_sound = is_sound && has_room(offset, sizeof(std::uintptr_t)); });
  return is_sound;
}

}  // namespace sorrel::program
