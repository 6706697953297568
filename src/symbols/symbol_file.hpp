//! SymbolFile - an executable or shared library on disk, as needed for a backtrace: the functions
//! and the sections that name source lines.
//!
//! Safe in a signal handler: it maps the file, and memory for sections that are compressed (zlib,
//! at most 64 MiB each). Every offset is checked; a damaged file has no symbols. Other compressed
//! sections count as absent. Any thread, each with its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <link.h>
#include <span>
#include <string_view>

#include "symbols/line_table.hpp"

namespace sorrel::symbols {

class SymbolFile {
 public:
  /// Maps the file; check is_open().
  explicit SymbolFile(const char* path);
  ~SymbolFile();
  SymbolFile(const SymbolFile&) = delete;
  SymbolFile& operator=(const SymbolFile&) = delete;

  [[nodiscard]] bool is_open() const { return !bytes_.empty(); }

  /// The address, in the file's numbering, of the first page that the loader maps.
  [[nodiscard]] std::uint64_t first_page() const;

  /// A section's bytes, empty if it has none.
  [[nodiscard]] std::span<const std::byte> section(std::string_view name) const;

  /// The sections that name source lines, valid as long as the SymbolFile. Without .debug_str if it
  /// is compressed: it is large, and compilers put the names of files elsewhere.
  [[nodiscard]] LineSections line_sections();

  /// The linker's name of the function that holds an address; null if there is none. Valid as long
  /// as the SymbolFile.
  [[nodiscard]] const char* function_at(std::uint64_t address) const;

 private:
  template <class T>
  [[nodiscard]] std::span<const T> array_at(std::uint64_t offset, std::uint64_t count) const;
  [[nodiscard]] std::span<const ElfW(Shdr)> sections() const;
  [[nodiscard]] const ElfW(Shdr) * find(std::string_view name) const;
  [[nodiscard]] std::span<const std::byte> bytes_of(const ElfW(Shdr) & section) const;
  [[nodiscard]] std::span<const std::byte> decompressed(const char* name,
                                                        std::span<const std::byte>& memory) const;
  [[nodiscard]] const char* text_of(const ElfW(Shdr) & section, std::uint64_t offset) const;
  [[nodiscard]] const char* function_in(std::string_view table, std::uint64_t address) const;

  std::span<const std::byte> bytes_;
  const ElfW(Ehdr) * header_ = nullptr;
  // Mapped for the contents of compressed sections.
  std::span<const std::byte> lines_;
  std::span<const std::byte> line_strings_;
};

}  // namespace sorrel::symbols
