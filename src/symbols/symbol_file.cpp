#include "symbols/symbol_file.hpp"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/inflate.hpp"

namespace sorrel::symbols {

namespace {

/// Size of a compressed section's contents: more take too long in a crash.
constexpr std::uint64_t contents_bytes_max = std::uint64_t{64} << 20;

constexpr unsigned char own_class = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;

std::span<const std::byte> map_file(const char* path) {
  // A path may name a FIFO, which must not block.
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return {};
  struct stat status{};
  void* mapping = MAP_FAILED;
  const bool is_file = fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
  if (is_file) {
    mapping =
        mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, file, 0);
  }
  close(file);
  if (mapping == MAP_FAILED) return {};
  return {static_cast<const std::byte*>(mapping), static_cast<std::size_t>(status.st_size)};
}

void unmap(std::span<const std::byte> bytes) {
  if (!bytes.empty()) munmap(const_cast<std::byte*>(bytes.data()), bytes.size());
}

}  // namespace

SymbolFile::SymbolFile(const char* path) : bytes_(map_file(path)) {
  const auto headers = array_at<ElfW(Ehdr)>(0, 1);
  const bool is_own_kind =
      !headers.empty() && std::memcmp(headers[0].e_ident, ELFMAG, SELFMAG) == 0 &&
      headers[0].e_ident[EI_CLASS] == own_class && headers[0].e_ident[EI_DATA] == ELFDATA2LSB;
  if (is_own_kind) {
    header_ = &headers[0];
    return;
  }
  unmap(bytes_);
  bytes_ = {};
}

SymbolFile::~SymbolFile() {
  unmap(bytes_);
  unmap(lines_);
  unmap(line_strings_);
}

/// `count` objects at an offset; empty if the file is too short for them or they are not aligned.
template <class T>
std::span<const T> SymbolFile::array_at(std::uint64_t offset, std::uint64_t count) const {
  if (offset > bytes_.size() || offset % alignof(T) != 0) return {};
  if (count > (bytes_.size() - offset) / sizeof(T)) return {};
  return {reinterpret_cast<const T*>(bytes_.data() + offset), static_cast<std::size_t>(count)};
}

std::uint64_t SymbolFile::first_page() const {
  if (!is_open()) return 0;
  const std::uint64_t page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
  for (const ElfW(Phdr) & segment : array_at<ElfW(Phdr)>(header_->e_phoff, header_->e_phnum)) {
    if (segment.p_type == PT_LOAD) first = std::min<std::uint64_t>(first, segment.p_vaddr);
  }
  return first / page * page;
}

std::span<const ElfW(Shdr)> SymbolFile::sections() const {
  if (!is_open()) return {};
  return array_at<ElfW(Shdr)>(header_->e_shoff, header_->e_shnum);
}

std::span<const std::byte> SymbolFile::bytes_of(const ElfW(Shdr) & section) const {
  if (section.sh_type == SHT_NOBITS || (section.sh_flags & SHF_COMPRESSED) != 0) return {};
  return array_at<std::byte>(section.sh_offset, section.sh_size);
}

/// A string of a string table; empty if it is not there.
const char* SymbolFile::text_of(const ElfW(Shdr) & section, std::uint64_t offset) const {
  const auto texts = bytes_of(section);
  // With a zero at the end of the table, every string in it ends.
  if (offset >= texts.size() || texts.back() != std::byte{0}) return "";
  return reinterpret_cast<const char*>(texts.data() + offset);
}

const ElfW(Shdr) * SymbolFile::find(std::string_view name) const {
  const auto all = sections();
  if (all.empty() || header_->e_shstrndx >= all.size()) return nullptr;
  const ElfW(Shdr)& names = all[header_->e_shstrndx];
  const auto found = std::ranges::find_if(
      all, [&](const ElfW(Shdr) & section) { return text_of(names, section.sh_name) == name; });
  return found == all.end() ? nullptr : &*found;
}

std::span<const std::byte> SymbolFile::section(std::string_view name) const {
  const ElfW(Shdr)* found = find(name);
  return found == nullptr ? std::span<const std::byte>{} : bytes_of(*found);
}

/// A section's contents. `memory` keeps them if the section is compressed.
std::span<const std::byte> SymbolFile::decompressed(const char* name,
                                                    std::span<const std::byte>& memory) const {
  const ElfW(Shdr)* found = find(name);
  if (found == nullptr || (found->sh_flags & SHF_COMPRESSED) == 0) return section(name);
  if (!memory.empty() || found->sh_type == SHT_NOBITS) return memory;
  const auto headers = array_at<ElfW(Chdr)>(found->sh_offset, 1);
  const auto bytes = array_at<std::byte>(found->sh_offset, found->sh_size);
  if (headers.empty() || bytes.size() < sizeof headers[0]) return {};
  const ElfW(Chdr)& header = headers[0];
  if (header.ch_type != ELFCOMPRESS_ZLIB || header.ch_size > contents_bytes_max) return {};
  const auto size = static_cast<std::size_t>(header.ch_size);
  void* mapping = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return {};
  const std::span<std::byte> contents(static_cast<std::byte*>(mapping), size);
  if (inflate(bytes.subspan(sizeof header), contents)) {
    memory = contents;
  } else {
    unmap(contents);
  }
  return memory;
}

LineSections SymbolFile::line_sections() {
  return {.lines = decompressed(".debug_line", lines_),
          .line_strings = decompressed(".debug_line_str", line_strings_),
          .strings = section(".debug_str")};
}

const char* SymbolFile::function_at(std::uint64_t address) const {
  const char* name = function_in(".symtab", address);
  return name != nullptr ? name : function_in(".dynsym", address);
}

const char* SymbolFile::function_in(std::string_view table, std::uint64_t address) const {
  const ElfW(Shdr)* symbols = find(table);
  const auto all = sections();
  if (symbols == nullptr || symbols->sh_link >= all.size() || symbols->sh_type == SHT_NOBITS)
    return nullptr;
  const std::uint64_t count = symbols->sh_size / sizeof(ElfW(Sym));
  for (const ElfW(Sym) & symbol : array_at<ElfW(Sym)>(symbols->sh_offset, count)) {
    const unsigned type = ELF64_ST_TYPE(symbol.st_info);
    const bool holds = (type == STT_FUNC || type == STT_GNU_IFUNC) &&
                       symbol.st_shndx != SHN_UNDEF &&
                       address - symbol.st_value < std::max<std::uint64_t>(symbol.st_size, 1);
    if (!holds) continue;
    const char* name = text_of(all[symbols->sh_link], symbol.st_name);
    if (*name != '\0') return name;
  }
  return nullptr;
}

}  // namespace sorrel::symbols
