#include "program/image/module.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/check.hpp"
#include "os/library_state.hpp"
#include "program/base/libc.hpp"

namespace sorrel::program {

Module::Module(const dl_phdr_info& info,
               std::string name,
               const char* file_name,
               const early::Module* silenced)
    : path(std::move(name)),
      base(info.dlpi_addr),
      segments(info.dlpi_phdr),
      segment_count(info.dlpi_phnum) {
  if (!find_header() || (file_name != nullptr && !open_file(file_name))) return;
  read_segments();
  read_dynamic(silenced);
}

void Module::close_file() {
  if (file >= 0) ::close(std::exchange(file, -1));
}

bool Module::reopen_file() {
  file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status{};
  if (file >= 0 && ::fstat(file, &status) == 0 && status.st_dev == device_ &&
      status.st_ino == inode_)
    return true;
  close_file();
  return false;
}

bool Module::find_header() {
  for (int i = 0; i < segment_count; ++i) {
    // A large alignment gives zeros a segment of their own, at any offset and without bytes of the
    // file.
    if (segments[i].p_type == PT_LOAD && segments[i].p_offset == 0 && segments[i].p_filesz != 0) {
      header_ = reinterpret_cast<const ElfW(Ehdr)*>(base + segments[i].p_vaddr);
    }
  }
  if (header_ == nullptr) error = "the ELF header of " + path + " is not in memory";
  return header_ != nullptr;
}

bool Module::open_file(const char* name) {
  file = ::open(name, O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    error = "cannot open " + path + ", which is loaded, through " + name + ": " +
            std::string(std::strerror(errno));
    return false;
  }
  // If the program was started through the loader by hand, /proc/self/exe is the loader, and its
  // pages would be garbage to the program.
  ElfW(Ehdr) header{};
  if (::pread(file, &header, sizeof header, 0) != static_cast<ssize_t>(sizeof header) ||
      std::memcmp(&header, header_, sizeof header) != 0) {
    error = path + " is not what is loaded: start the program itself, not through the loader";
    return false;
  }
  struct stat status{};
  if (::fstat(file, &status) == 0) {
    device_ = status.st_dev;
    inode_ = status.st_ino;
  }
  return true;
}

void Module::read_segments() {
  begin_ = ~Offset{0};
  alignment = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  for (int i = 0; i < segment_count; ++i) {
    const ElfW(Phdr)& segment = segments[i];
    if (segment.p_type == PT_LOAD) {
      begin_ = std::min(begin_, segment.p_vaddr & ~(alignment - 1));
      end_ = std::max(end_, segment.p_vaddr + segment.p_memsz);
    } else if (segment.p_type == PT_DYNAMIC) {
      dynamic = segment.p_vaddr;
    } else if (segment.p_type == PT_GNU_EH_FRAME) {
      unwind_table = segment.p_vaddr;
    } else if (segment.p_type == PT_TLS) {
      thread_local_segment = &segment;
    }
  }
  SORREL_ASSERT(begin_ < end_, "%s has a header and no segment", path.c_str());
  // Done last, so that begin_ above is rounded to pages only. The system also ignores an alignment
  // that is not a power of two.
  for (int i = 0; i < segment_count; ++i) {
    if (segments[i].p_type == PT_LOAD && std::has_single_bit(segments[i].p_align)) {
      alignment = std::max(alignment, static_cast<std::size_t>(segments[i].p_align));
    }
  }
  SORREL_ASSERT(std::has_single_bit(alignment), "%s is aligned to %zu", path.c_str(), alignment);
}

void Module::read_dynamic(const early::Module* silenced) {
  const auto find = [this](ElfW(Sxword) tag) -> const ElfW(Dyn) * {
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(base + dynamic);
    while (entry->d_tag != DT_NULL && entry->d_tag != tag)
      ++entry;
    return entry->d_tag == tag ? entry : nullptr;
  };
  const auto value_of = [&](ElfW(Sxword) tag) -> std::uintptr_t {
    const ElfW(Dyn)* entry = find(tag);
    return entry == nullptr ? 0 : entry->d_un.d_val;
  };
  // The loader has made some of these absolute and left others unchanged; this differs between
  // architectures and loaders.
  const auto place_of = [&](ElfW(Sxword) tag) -> Offset {
    const std::uintptr_t value = value_of(tag);
    return contains(value) && value >= base ? value - base : value;
  };
  const auto read_table = [&]<class T>(const T*& table, ElfW(Sxword) tag) {
    if (find(tag) != nullptr) table = reinterpret_cast<const T*>(base + place_of(tag));
  };
  init = place_of(DT_INIT);
  fini = place_of(DT_FINI);
  init_array = {place_of(DT_INIT_ARRAY), value_of(DT_INIT_ARRAYSZ) / sizeof(void*)};
  fini_array = {place_of(DT_FINI_ARRAY), value_of(DT_FINI_ARRAYSZ) / sizeof(void*)};
  preinit_array.offset = place_of(DT_PREINIT_ARRAY);
  read_table(symbols_.symbols, DT_SYMTAB);
  read_table(symbols_.names, DT_STRTAB);
  symbols_.name_bytes = value_of(DT_STRSZ);
  read_table(symbols_.versions, DT_VERSYM);
  read_table(symbols_.needed_versions, DT_VERNEED);
  read_table(hash_tables_.gnu, DT_GNU_HASH);
  read_table(hash_tables_.generic, DT_HASH);
  read_table(data_relocations_.begin, DT_RELA);
  data_relocations_.count = value_of(DT_RELASZ) / sizeof(ElfW(Rela));
  read_table(call_relocations_.begin, DT_JMPREL);
  call_relocations_.count = value_of(DT_PLTRELSZ) / sizeof(ElfW(Rela));
  read_table(packed_relocations_, DT_RELR);
  packed_relocation_count_ = value_of(DT_RELRSZ) / sizeof(ElfW(Relr));
  has_text_relocations_ = find(DT_TEXTREL) != nullptr || (value_of(DT_FLAGS) & DF_TEXTREL) != 0;
  is_initialised_first = (value_of(DT_FLAGS_1) & DF_1_INITFIRST) != 0;
  soname_ = value_of(DT_SONAME);
  debugger_record = reinterpret_cast<r_debug*>(value_of(DT_DEBUG));
  if (silenced == nullptr) return;
  init = silenced->init;
  fini = silenced->fini;
  init_array.count = silenced->init_bytes / sizeof(void*);
  fini_array.count = silenced->fini_bytes / sizeof(void*);
  preinit_array.count = silenced->preinit_bytes / sizeof(void*);
}

bool Module::is_library(std::string_view library) const {
  return os::is_library(path, library);
}

std::string_view Module::soname() const {
  return soname_ != 0 && soname_ < symbols_.name_bytes ? symbols_.names + soname_
                                                       : std::string_view();
}

std::vector<std::string_view> Module::needed() const {
  std::vector<std::string_view> names;
  // A relocation may have damaged the section after the loader has read it.
  const std::size_t name_bytes = has_tables_inside() ? symbols_.name_bytes : 0;
  const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(base + dynamic);
  for (; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_NEEDED && entry->d_un.d_val < name_bytes)
      names.emplace_back(symbols_.names + entry->d_un.d_val);
  }
  return names;
}

bool Module::has_tables_inside() const {
  const auto is_inside = [this](Offset begin, std::size_t count, std::size_t entry_bytes) {
    return count == 0 || (begin >= begin_ && begin < end_ && count <= (end_ - begin) / entry_bytes);
  };
  const auto offset = [this](const void* table) {
    return reinterpret_cast<std::uintptr_t>(table) - base;
  };
  return is_inside(init_array.offset, init_array.count, sizeof(void*)) &&
         is_inside(preinit_array.offset, preinit_array.count, sizeof(void*)) &&
         is_inside(fini_array.offset, fini_array.count, sizeof(void*)) &&
         is_inside(offset(data_relocations_.begin), data_relocations_.count, sizeof(ElfW(Rela))) &&
         is_inside(offset(call_relocations_.begin), call_relocations_.count, sizeof(ElfW(Rela))) &&
         is_inside(offset(packed_relocations_), packed_relocation_count_, sizeof(ElfW(Relr))) &&
         is_inside(offset(symbols_.names), symbols_.name_bytes, 1);
}

bool Module::has_dynamic_section_of_file() const {
  const auto* in_memory = reinterpret_cast<const ElfW(Dyn)*>(base + dynamic);
  const ElfW(Phdr)* segment =
      std::find_if(segments, segments + segment_count, [this](const ElfW(Phdr) & each) {
        return each.p_type == PT_DYNAMIC && each.p_vaddr == dynamic;
      });
  for (std::size_t i = 0; (i + 1) * sizeof(ElfW(Dyn)) <= segment->p_filesz; ++i) {
    ElfW(Dyn) in_file{};
    const auto offset = static_cast<off_t>(segment->p_offset + i * sizeof in_file);
    if (::pread(file, &in_file, sizeof in_file, offset) != static_cast<ssize_t>(sizeof in_file) ||
        in_file.d_tag != in_memory[i].d_tag)
      return false;
    if (in_file.d_tag == DT_NULL) return true;
  }
  return false;
}

std::string Module::privatization_error() const {
  if (header_->e_type != ET_DYN) {
    return path + " is not position independent: rebuild with -fPIE -pie";
  }
  if (header_->e_machine != EM_X86_64 && header_->e_machine != EM_AARCH64) {
    return path + " is for an architecture other than x86_64 and AArch64";
  }
  if (!has_dynamic_section_of_file())
    return path + " is damaged: a relocation has changed its dynamic section";
  if (!has_tables_inside())
    return path + " is damaged: its dynamic section names tables that lie outside of it";
  if (!has_sound_relocations())
    return path + " is damaged: a relocation names a symbol or a place that is not in it";
  if (has_text_relocations_)
    return path + " has text relocations: rebuild all of it with -fPIE -pie, a library with -fPIC";
  if (contains(reinterpret_cast<std::uintptr_t>(loader_dlsym()(RTLD_DEFAULT, "malloc")))) {
    return path +
           " defines its own malloc, which privatized images cannot share: link it as a shared "
           "library";
  }
  return {};
}

const char* Module::needed_version(const ElfW(Rela) & relocation) const {
  if (symbols_.versions == nullptr || symbols_.needed_versions == nullptr) return nullptr;
  const unsigned wanted = symbols_.versions[ELF64_R_SYM(relocation.r_info)] & 0x7fffU;
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

bool Module::is_definition(std::size_t index, const char* name) const {
  constexpr unsigned hidden_version = 0x8000;
  const ElfW(Sym)& symbol = symbols_.symbols[index];
  return symbol.st_shndx != SHN_UNDEF && std::strcmp(name_of(symbol), name) == 0 &&
         (symbols_.versions == nullptr || (symbols_.versions[index] & hidden_version) == 0);
}

// Source of the tables' layouts: the generic ELF ABI; for the first kind, glibc (elf/dl-lookup.c).
const ElfW(Sym) * Module::definition(const char* name) const {
  if (const std::uint32_t* table = hash_tables_.gnu) {
    std::uint32_t hash = 5381;
    for (const char* letter = name; *letter != '\0'; ++letter)
      hash = hash * 33 + static_cast<unsigned char>(*letter);
    const std::uint32_t bucket_count = table[0];
    const std::uint32_t first = table[1];
    const std::uint32_t* buckets = table + 4 + std::size_t{2} * table[2];
    const std::uint32_t* hashes = buckets + bucket_count;
    std::uint32_t index = bucket_count == 0 ? 0 : buckets[hash % bucket_count];
    // The lowest bit marks the last symbol of a bucket.
    for (bool is_last = index == 0; !is_last; ++index) {
      const std::uint32_t found = hashes[index - first];
      if ((found | 1) == (hash | 1) && is_definition(index, name)) return &symbols_.symbols[index];
      is_last = (found & 1) != 0;
    }
    return nullptr;
  }
  const std::uint32_t count = hash_tables_.generic != nullptr ? hash_tables_.generic[1] : 0;
  for (std::uint32_t index = 1; index < count; ++index) {
    if (is_definition(index, name)) return &symbols_.symbols[index];
  }
  return nullptr;
}

bool Module::is_unbound(const ElfW(Rela) & relocation, RelocationKind kind) const {
  return kind == RelocationKind::jump_slot && symbol_of(relocation).st_shndx == SHN_UNDEF &&
         contains(*reinterpret_cast<const std::uintptr_t*>(base + relocation.r_offset));
}

bool Module::has_unbound_calls() const {
  bool is_any_unbound = false;
  for_each_relocation([&](const ElfW(Rela) & relocation, RelocationKind kind) {
    is_any_unbound = is_any_unbound || is_unbound(relocation, kind);
  });
  return is_any_unbound;
}

bool Module::uses(std::string_view symbol) const {
  bool is_found = false;
  for_each_relocation([&](const ElfW(Rela) & relocation, RelocationKind kind) {
    is_found =
        is_found ||
        ((kind == RelocationKind::jump_slot || kind == RelocationKind::address) &&
         symbol_of(relocation).st_shndx == SHN_UNDEF && name_of(symbol_of(relocation)) == symbol);
  });
  return is_found;
}

// Whether all tables and addresses that the functions above follow lie in the image. The loader has
// followed fewer of them: it does not look up local symbols, for example.
bool Module::has_sound_relocations() const {
  const auto has_room = [this](Offset offset, std::size_t bytes) {
    return offset >= begin_ && offset <= end_ && bytes <= end_ - offset;
  };
  bool is_sound = symbols_.name_bytes == 0 || symbols_.names[symbols_.name_bytes - 1] == '\0';
  for_each_relocation([&](const ElfW(Rela) & relocation, RelocationKind kind) {
    const auto* entry = &symbol_of(relocation);
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
