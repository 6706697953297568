//! Module - one file of the private set, the executable or a library, as the loader mapped and
//! relocated it, before any of its constructors ran.
//!
//! Read by the thread that starts the process, constant once the image is laid out; any thread may
//! read. Addresses within a module are the file's own (`vaddr`); address in memory = base() +
//! vaddr. Limits: position-independent modules of x86_64 and AArch64, without text relocations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <elf.h>
#include <link.h>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include "early/early_modules.hpp"
#include "program/image/relocation.hpp"

namespace sorrel::program {

/// A distance from an image's base.
using Offset = std::uintptr_t;

/// Functions to call in order: their addresses are read from an image's own, relocated table.
struct FunctionTable {
  Offset offset = 0;
  std::size_t count = 0;
};

class Module {
 public:
  /// A loaded module. `path` names its file; `file_name` is opened, if it is not null. `silenced`:
  /// what its dynamic section held before its constructors were held back, or null. Check error().
  Module(const dl_phdr_info& info,
         std::string path,
         const char* file_name,
         const early::Module* silenced);

  /// Why no privatized image can have it, in one line; "" if it can.
  [[nodiscard]] std::string privatization_error() const;

  [[nodiscard]] std::string_view name() const {
    return std::string_view(path).substr(path.rfind('/') + 1);
  }

  /// Whether it is the library of this name (os::is_library()).
  [[nodiscard]] bool is_library(std::string_view library) const;

  [[nodiscard]] Offset begin() const { return begin_; }

  /// The offset behind the last byte of .bss.
  [[nodiscard]] Offset end() const { return end_; }

  /// One past the end counts as inside.
  [[nodiscard]] bool contains(std::uintptr_t address) const {
    return address - base - begin_ <= end_ - begin_;
  }

  /// The offset in an image of an address of this module.
  [[nodiscard]] Offset offset_of(std::uintptr_t address) const { return address - base + shift; }

  void close_file();

  /// Opens the file again, if it still is what is loaded.
  [[nodiscard]] bool reopen_file();

  /// Names of the libraries that it needs.
  [[nodiscard]] std::vector<std::string_view> needed() const;

  [[nodiscard]] std::string_view soname() const;

  /// Calls `visit(relocation, kind)` for each entry of the relocation tables.
  template <class Visit>
  void for_each_relocation(Visit&& visit) const {
    for (const Relocations& table : {data_relocations_, call_relocations_}) {
      for (std::size_t i = 0; i < table.count; ++i) {
        const ElfW(Rela)& relocation = table.begin[i];
        const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(relocation.r_info));
        visit(relocation, relocation_kind(header_->e_machine, type));
      }
    }
  }

  /// Calls `visit(vaddr)` for each word that a packed relocation changes. Source of the encoding:
  /// the generic ELF ABI, section type SHT_RELR. An even word is an address, an odd one a bitmap of
  /// the 63 words that follow the last address covered.
  template <class Visit>
  void for_each_packed_relocation(Visit&& visit) const {
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

  [[nodiscard]] const ElfW(Sym) & symbol_of(const ElfW(Rela) & relocation) const {
    return symbols_.symbols[ELF64_R_SYM(relocation.r_info)];
  }

  [[nodiscard]] const char* name_of(const ElfW(Sym) & symbol) const {
    return symbols_.names + symbol.st_name;
  }

  /// The module's own definition of an exported symbol, in its default version; null: none.
  [[nodiscard]] const ElfW(Sym) * definition(const char* name) const;

  /// The version of the symbol that a relocation needs, or null.
  [[nodiscard]] const char* needed_version(const ElfW(Rela) & relocation) const;

  /// Whether a lazy loader has left this call unbound: its slot leads back into the module.
  [[nodiscard]] bool is_unbound(const ElfW(Rela) & relocation, RelocationKind kind) const;

  [[nodiscard]] bool has_unbound_calls() const;

  /// Whether code finds a thread-local variable by the result of this relocation alone.
  [[nodiscard]] bool is_direct_thread_local_access(const ElfW(Rela) & relocation) const {
    const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(relocation.r_info));
    return program::is_direct_thread_local_access(header_->e_machine, type);
  }

  /// Whether a relocation names this symbol of another module.
  [[nodiscard]] bool uses(std::string_view symbol) const;

  // Written by the constructor and, for `shift`, by the image's layout; constant afterwards.
  std::string path;
  /// Why its file or its tables cannot be read, in one line; "" if they can.
  std::string error;
  /// For mapping its pages; -1 after close_file().
  int file = -1;
  std::uintptr_t base = 0;
  /// The distance of an image's offsets from the file's own addresses; 0 for the executable.
  Offset shift = 0;
  const ElfW(Phdr) * segments = nullptr;
  std::uint16_t segment_count = 0;
  const ElfW(Phdr) * thread_local_segment = nullptr;
  std::size_t alignment = 0;
  Offset dynamic = 0;
  /// .eh_frame_hdr, 0 if there is none.
  Offset unwind_table = 0;
  // Entry points; 0 or empty if the module has none. Without private libraries the loader has run
  // the executable's preinit array, once for all ranks.
  Offset init = 0;
  Offset fini = 0;
  FunctionTable preinit_array;
  FunctionTable init_array;
  FunctionTable fini_array;
  /// The loader's record of what is loaded, as debuggers find it (DT_DEBUG).
  r_debug* debugger_record = nullptr;
  /// It asks the loader to be initialised before all others (DF_1_INITFIRST).
  bool is_initialised_first = false;

 private:
  struct SymbolTable {
    const ElfW(Sym) * symbols = nullptr;
    const char* names = nullptr;
    std::size_t name_bytes = 0;
    const ElfW(Versym) * versions = nullptr;
    const ElfW(Verneed) * needed_versions = nullptr;
  };

  /// The table by which the loader finds symbols by name: of either kind, null if there is none.
  struct HashTables {
    const std::uint32_t* gnu = nullptr;
    const std::uint32_t* generic = nullptr;
  };

  struct Relocations {
    const ElfW(Rela) * begin = nullptr;
    std::size_t count = 0;
  };

  dev_t device_ = 0;
  ino_t inode_ = 0;
  [[nodiscard]] bool find_header();
  [[nodiscard]] bool open_file(const char* name);
  void read_segments();
  void read_dynamic(const early::Module* silenced);
  [[nodiscard]] bool has_dynamic_section_of_file() const;
  [[nodiscard]] bool has_tables_inside() const;
  [[nodiscard]] bool has_sound_relocations() const;

  [[nodiscard]] bool is_definition(std::size_t index, const char* name) const;

  SymbolTable symbols_;
  HashTables hash_tables_;
  const ElfW(Ehdr) * header_ = nullptr;
  Offset begin_ = 0;
  Offset end_ = 0;
  bool has_text_relocations_ = false;
  std::size_t soname_ = 0;
  Relocations data_relocations_;
  Relocations call_relocations_;
  const ElfW(Relr) * packed_relocations_ = nullptr;
  std::size_t packed_relocation_count_ = 0;
};

}  // namespace sorrel::program
