#include "tools/sorrel/common/code_files.hpp"

#include <charconv>
#include <fmt/core.h>
#include <system_error>
#include <variant>

#include "base/fixed_text.hpp"
#include "base/printable.hpp"
#include "os/elf_file.hpp"
#include "os/library_search.hpp"
#include "symbols/demangle.hpp"
#include "symbols/line_table.hpp"
#include "symbols/symbol_file.hpp"

namespace sorrel::tool {

std::string text_of(const CodePlace* place) {
  if (place == nullptr || place->file.empty()) return "-";
  const std::string source =
      place->line == 0 ? place->file : fmt::format("{}:{}", place->file, place->line);
  return place->function.empty() ? source : fmt::format("{} ({})", place->function, source);
}

CodePlace code_place_of(std::string_view text) {
  const std::size_t open = text.find(" (");
  const std::size_t colon = text.rfind(':');
  const CodePlace place{.function = {}, .file = std::string(text), .line = 0};
  if (open == text.npos || colon == text.npos || colon < open || !text.ends_with(')')) return place;
  const std::string_view digits = text.substr(colon + 1, text.size() - colon - 2);
  std::uint64_t line = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), line);
  if (error != std::errc() || end != digits.data() + digits.size()) return place;
  return {.function = std::string(text.substr(0, open)),
          .file = std::string(text.substr(open + 2, colon - open - 2)),
          .line = line};
}

struct CodeFiles::CodeFile {
  explicit CodeFile(const std::string& path) : symbols(path.c_str()), elf(os::ElfFile::open(path)) {
    if (symbols.is_open()) lines = symbols.line_sections();
  }

  /// The address of a byte of the file, as the file numbers addresses.
  [[nodiscard]] std::uint64_t address_of(std::uint64_t offset) const {
    const auto* file = std::get_if<os::ElfFile>(&elf);
    if (file == nullptr) return offset;
    for (const Elf64_Phdr& header : file->headers) {
      if (header.p_type == PT_LOAD && offset >= header.p_offset &&
          offset < header.p_offset + header.p_filesz)
        return offset - header.p_offset + header.p_vaddr;
    }
    return offset;
  }

  symbols::SymbolFile symbols;
  symbols::LineSections lines;
  std::variant<os::ElfFile, os::ElfError> elf;
};

CodeFiles::CodeFiles() = default;
CodeFiles::~CodeFiles() = default;

const CodePlace& CodeFiles::of(const std::string& path, std::uint64_t offset) {
  const std::pair key(path, offset);
  auto place = places_.find(key);
  if (place == places_.end()) place = places_.emplace(key, find(path, offset)).first;
  return place->second;
}

CodePlace CodeFiles::find(const std::string& path, std::uint64_t offset) {
  std::unique_ptr<CodeFile>& file = files_[path];
  if (file == nullptr) file = std::make_unique<CodeFile>(path);
  CodePlace place{.function = {}, .file = path.substr(path.rfind('/') + 1), .line = 0};
  if (!file->symbols.is_open()) return place;
  // The call lies before the place to which it returns.
  const std::uint64_t address = file->address_of(offset) - 1;
  if (const char* name = file->symbols.function_at(address); name != nullptr) {
    FixedText<256> text;
    symbols::add_demangled(text, name);
    place.function = printable(text.text());
  }
  symbols::LineQuery query{.address = address, .file = nullptr, .line = 0};
  find_lines(file->lines, {&query, 1});
  if (query.file == nullptr) return place;
  place.file = printable(query.file);
  place.line = query.line;
  return place;
}

}  // namespace sorrel::tool
