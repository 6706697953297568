//! ElfFile - the parts of a program or shared library that the dynamic loader reads, from its file.
//!
//! Any thread may call. The file is mapped read-only and read only where its headers point, so a
//! large program costs a few pages. Every offset is checked: a damaged file is an error, never a
//! crash. Reads 64-bit files of this machine's byte order and architecture only; loads nothing and
//! runs nothing. All string views point into the mapping and live as long as the ElfFile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <elf.h>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sorrel::os {

#if defined(__x86_64__)
constexpr Elf64_Half machine_here = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half machine_here = EM_AARCH64;
#endif

enum class ElfErrorKind {
  cannot_open,  ///< detail: the system's error message
  not_a_file,   ///< a folder, a pipe, ...
  script,       ///< begins with "#!"; detail: the interpreter's line
  not_elf,
  other_architecture,  ///< detail: its name
  damaged,             ///< detail: the damaged part
};

struct ElfError {
  ElfErrorKind kind;
  std::string detail;
};

enum class ElfKind {
  executable_pie,    ///< position-independent executable
  executable_fixed,  ///< linked for one address (ET_EXEC)
  shared_library,
  other,  ///< object file, core dump
};

struct ElfSymbol {
  std::string_view name;
  bool is_defined;
  bool is_weak;
  bool is_data;  ///< a variable
  std::uint64_t address;
};

/// A relocation: the loader writes to `address`. `type` is the architecture's relocation number.
struct ElfRelocation {
  std::uint64_t address;
  std::uint32_t type;
  std::int64_t addend;
  std::string_view symbol;  ///< "" if it names none
};

class ElfFile {
 public:
  [[nodiscard]] static std::variant<ElfFile, ElfError> open(const std::string& path);

  ElfFile(ElfFile&& other) noexcept;
  ElfFile& operator=(ElfFile&& other) noexcept;
  ~ElfFile();

  /// True for a program without a dynamic loader, "static-pie" included.
  [[nodiscard]] bool is_static() const { return interpreter.empty(); }

  /// Calls `visit` for every named symbol that is exported or imported, in the file's order.
  void for_each_symbol(const std::function<void(const ElfSymbol&)>& visit) const;

  /// Calls `visit` for every relocation of the dynamic tables; packed ones (DT_RELR) are left out.
  void for_each_relocation(const std::function<void(const ElfRelocation&)>& visit) const;

  /// The part of the file that `header` maps.
  [[nodiscard]] std::span<const std::byte> bytes_of(const Elf64_Phdr& header) const;

  /// The word at an address, as the file has it; 0 if the file has none there.
  [[nodiscard]] std::uint64_t word_at(std::uint64_t address) const;

  [[nodiscard]] std::uint64_t call_table_bytes() const;

  /// Whether the file defines a function of this name, exported or not. False for one that is not
  /// exported if the file's table of symbols was removed (strip).
  [[nodiscard]] bool defines_function(std::string_view name) const;

  /// Whether the file contains these bytes. Reads all of it.
  [[nodiscard]] bool contains(std::string_view text) const;

  // Written by open().
  ElfKind kind = ElfKind::other;
  std::string_view interpreter;
  std::string_view soname;
  std::string_view rpath;
  std::string_view runpath;
  std::vector<std::string_view> needed;
  bool has_tls = false;
  /// The loader changes its code (DT_TEXTREL).
  bool has_text_relocations = false;
  /// The loader initialises it before all other libraries (DF_1_INITFIRST).
  bool is_initialised_first = false;
  std::uint64_t tls_bytes = 0;
  /// Bytes of initialised (.data) and zeroed (.bss) globals, without those that are read-only after
  /// relocation.
  std::uint64_t data_bytes = 0;
  std::uint64_t bss_bytes = 0;
  std::vector<Elf64_Phdr> headers;
  /// The slots of the procedure linkage table (DT_PLTGOT): the loader's own, and one for each call.
  std::uint64_t call_table = 0;

 private:
  ElfFile() = default;
  [[nodiscard]] std::string read_headers();
  [[nodiscard]] std::string read_segments(std::uint64_t table, std::size_t count);
  [[nodiscard]] ElfSymbol symbol_at(const Elf64_Sym& symbol) const;
  [[nodiscard]] std::string read_dynamic(std::uint64_t offset, std::uint64_t size_bytes);
  void count_symbols(std::uint64_t hash_address, std::uint64_t gnu_hash_address);
  /// The number of symbols up to the last one in the GNU hash table; 0: the table is empty or
  /// damaged.
  [[nodiscard]] std::uint64_t end_of_hashed(std::uint64_t gnu_hash_address) const;
  /// The number of symbols up to the last one that a relocation uses.
  [[nodiscard]] std::uint64_t end_of_relocated() const;
  void add_globals(std::uint64_t address, std::uint64_t file_bytes, std::uint64_t memory_bytes);
  [[nodiscard]] std::string_view text_at(std::uint64_t string_offset) const;
  [[nodiscard]] std::uint64_t offset_of(std::uint64_t address) const;

  struct Segment {
    std::uint64_t address;
    std::uint64_t offset;
    std::uint64_t file_bytes;
  };

  /// A table of relocations: its address in memory, and its size.
  struct Relocations {
    std::uint64_t address = 0;
    std::uint64_t size_bytes = 0;
  };

  std::span<const std::byte> bytes_;
  std::vector<Segment> segments_;
  std::uint64_t strings_offset_ = 0;
  std::uint64_t strings_bytes_ = 0;
  std::uint64_t symbols_offset_ = 0;
  std::uint64_t symbol_count_ = 0;
  Relocations data_relocations_;
  Relocations call_relocations_;
  std::uint64_t relro_begin_ = 0;
  std::uint64_t relro_end_ = 0;
};

}  // namespace sorrel::os
