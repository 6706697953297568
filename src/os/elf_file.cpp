#include "os/elf_file.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace sorrel::os {

namespace {

constexpr unsigned char byte_order_here =
    std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
constexpr std::uint64_t nowhere = ~std::uint64_t{0};

/// A copy of the T at `offset`, or nothing if it is not within the file. Data may be misaligned.
template <typename T>
std::optional<T> copy_at(std::span<const std::byte> bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string machine_name(Elf64_Half machine) {
  switch (machine) {
    case EM_386:
      return "i386";
    case EM_X86_64:
      return "x86_64";
    case EM_ARM:
      return "arm";
    case EM_AARCH64:
      return "aarch64";
    case EM_PPC64:
      return "ppc64";
    case EM_RISCV:
      return "riscv";
    case EM_S390:
      return "s390";
    default:
      return "machine " + std::to_string(machine);
  }
}

/// Maps the whole file; on failure returns an empty span and sets `error`.
std::span<const std::byte> map_file(const std::string& path, std::optional<ElfError>& error) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status{};
  if (file < 0 || fstat(file, &status) != 0) {
    error = ElfError{ElfErrorKind::cannot_open, std::strerror(errno)};
    if (file >= 0) close(file);
    return {};
  }
  std::span<const std::byte> bytes;
  if (!S_ISREG(status.st_mode)) {
    error =
        ElfError{ElfErrorKind::not_a_file, S_ISDIR(status.st_mode) ? "a folder" : "a special file"};
  } else if (status.st_size == 0) {
    error = ElfError{ElfErrorKind::not_elf, "empty"};
  } else {
    const auto size_bytes = static_cast<std::size_t>(status.st_size);
    void* address = mmap(nullptr, size_bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (address == MAP_FAILED) {
      error = ElfError{ElfErrorKind::cannot_open, std::strerror(errno)};
    } else {
      bytes = {static_cast<const std::byte*>(address), size_bytes};
    }
  }
  close(file);
  return bytes;
}

std::string first_line(std::span<const std::byte> bytes) {
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  const std::string_view view(text, std::min<std::size_t>(bytes.size(), 256));
  std::string_view line = view.substr(0, view.find('\n'));
  line.remove_prefix(std::min(line.find_first_not_of(" \t", 2), line.size()));
  return std::string(line);
}

}  // namespace

std::variant<ElfFile, ElfError> ElfFile::open(const std::string& path) {
  std::optional<ElfError> error;
  ElfFile elf;
  elf.bytes_ = map_file(path, error);
  if (error) return *std::move(error);
  const auto magic = copy_at<std::array<char, 2>>(elf.bytes_, 0);
  if (magic && (*magic)[0] == '#' && (*magic)[1] == '!') {
    return ElfError{ElfErrorKind::script, first_line(elf.bytes_)};
  }
  const auto ident = copy_at<std::array<unsigned char, EI_NIDENT>>(elf.bytes_, 0);
  if (!ident || std::memcmp(ident->data(), ELFMAG, SELFMAG) != 0) {
    return ElfError{ElfErrorKind::not_elf, ""};
  }
  const auto machine = copy_at<Elf64_Half>(elf.bytes_, offsetof(Elf64_Ehdr, e_machine));
  if (!machine) return ElfError{ElfErrorKind::damaged, "the file ends in its header"};
  if ((*ident)[EI_CLASS] != ELFCLASS64 || (*ident)[EI_DATA] != byte_order_here ||
      *machine != machine_here) {
    const char* width = (*ident)[EI_CLASS] == ELFCLASS64 ? " (64 bit)" : " (32 bit)";
    return ElfError{ElfErrorKind::other_architecture, machine_name(*machine) + width};
  }
  if (std::string damage = elf.read_headers(); !damage.empty()) {
    return ElfError{ElfErrorKind::damaged, std::move(damage)};
  }
  return elf;
}

ElfFile::ElfFile(ElfFile&& other) noexcept {
  *this = std::move(other);
}

ElfFile& ElfFile::operator=(ElfFile&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  headers = std::move(other.headers);
  segments_ = std::move(other.segments_);
  needed = std::move(other.needed);
  kind = other.kind;
  interpreter = other.interpreter;
  soname = other.soname;
  rpath = other.rpath;
  runpath = other.runpath;
  strings_offset_ = other.strings_offset_;
  strings_bytes_ = other.strings_bytes_;
  symbols_offset_ = other.symbols_offset_;
  symbol_count_ = other.symbol_count_;
  data_relocations_ = other.data_relocations_;
  call_relocations_ = other.call_relocations_;
  call_table = other.call_table;
  tls_bytes = other.tls_bytes;
  data_bytes = other.data_bytes;
  bss_bytes = other.bss_bytes;
  relro_begin_ = other.relro_begin_;
  relro_end_ = other.relro_end_;
  has_tls = other.has_tls;
  has_text_relocations = other.has_text_relocations;
  is_initialised_first = other.is_initialised_first;
  return *this;
}

ElfFile::~ElfFile() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

std::string ElfFile::read_headers() {
  const auto header = copy_at<Elf64_Ehdr>(bytes_, 0);
  if (!header) return "the file ends in its header";
  if (header->e_type == ET_EXEC) kind = ElfKind::executable_fixed;
  if (header->e_type == ET_DYN) kind = ElfKind::shared_library;
  if (kind == ElfKind::other) return "";
  if (header->e_phentsize != sizeof(Elf64_Phdr)) return "segment table of unknown shape";
  return read_segments(header->e_phoff, header->e_phnum);
}

std::string ElfFile::read_segments(std::uint64_t table, std::size_t count) {
  for (std::size_t index = 0; index < count; ++index) {
    const auto header = copy_at<Elf64_Phdr>(bytes_, table + index * sizeof(Elf64_Phdr));
    if (!header) return "the file ends in its segment table";
    headers.push_back(*header);
    if (header->p_type == PT_GNU_RELRO) {
      relro_begin_ = header->p_vaddr;
      relro_end_ = header->p_vaddr + header->p_memsz;
    }
  }
  const Elf64_Phdr* dynamic = nullptr;
  for (const Elf64_Phdr& header : headers) {
    if (header.p_type != PT_NOTE && header.p_type != PT_NULL && header.p_filesz != 0 &&
        (header.p_offset > bytes_.size() || bytes_.size() - header.p_offset < header.p_filesz)) {
      return "the file ends in one of its segments";
    }
    if (header.p_type == PT_LOAD) {
      segments_.push_back({header.p_vaddr, header.p_offset, header.p_filesz});
      if ((header.p_flags & PF_W) != 0)
        add_globals(header.p_vaddr, header.p_filesz, header.p_memsz);
    } else if (header.p_type == PT_TLS && header.p_memsz != 0) {
      has_tls = true;
      tls_bytes = header.p_memsz;
    } else if (header.p_type == PT_INTERP && header.p_filesz > 1) {
      interpreter = {reinterpret_cast<const char*>(bytes_.data() + header.p_offset),
                     header.p_filesz - 1};
      if (kind == ElfKind::shared_library) kind = ElfKind::executable_pie;
    } else if (header.p_type == PT_DYNAMIC) {
      dynamic = &header;
    }
  }
  return dynamic == nullptr ? "" : read_dynamic(dynamic->p_offset, dynamic->p_filesz);
}

void ElfFile::add_globals(std::uint64_t address,
                          std::uint64_t file_bytes,
                          std::uint64_t memory_bytes) {
  // The part that is read-only after relocation is at the front of its segment.
  std::uint64_t begin = address;
  if (relro_begin_ <= begin && begin < relro_end_) begin = relro_end_;
  const std::uint64_t file_end = address + file_bytes;
  const std::uint64_t memory_end = address + memory_bytes;
  if (file_end > begin) data_bytes += file_end - begin;
  if (memory_end > std::max(begin, file_end)) bss_bytes += memory_end - std::max(begin, file_end);
}

std::string ElfFile::read_dynamic(std::uint64_t offset, std::uint64_t size_bytes) {
  // The names as offsets in the table of names, which may come last.
  std::vector<std::uint64_t> needed_at;
  std::uint64_t soname_at = nowhere;
  std::uint64_t rpath_at = nowhere;
  std::uint64_t runpath_at = nowhere;
  std::uint64_t hash = nowhere;
  std::uint64_t gnu_hash = nowhere;
  std::uint64_t strings = nowhere;
  std::uint64_t symbols = nowhere;

  struct Entry {
    std::int64_t tag;
    std::uint64_t* value;
  };

  const Entry known[] = {{DT_SONAME, &soname_at},
                         {DT_RPATH, &rpath_at},
                         {DT_RUNPATH, &runpath_at},
                         {DT_HASH, &hash},
                         {DT_GNU_HASH, &gnu_hash},
                         {DT_STRTAB, &strings},
                         {DT_STRSZ, &strings_bytes_},
                         {DT_SYMTAB, &symbols},
                         {DT_RELA, &data_relocations_.address},
                         {DT_RELASZ, &data_relocations_.size_bytes},
                         {DT_JMPREL, &call_relocations_.address},
                         {DT_PLTRELSZ, &call_relocations_.size_bytes},
                         {DT_PLTGOT, &call_table}};
  for (std::uint64_t at = offset; at < offset + size_bytes; at += sizeof(Elf64_Dyn)) {
    const auto entry = copy_at<Elf64_Dyn>(bytes_, at);
    if (!entry || entry->d_tag == DT_NULL) break;
    const std::uint64_t value = entry->d_un.d_val;
    if (entry->d_tag == DT_NEEDED) needed_at.push_back(value);
    if (entry->d_tag == DT_TEXTREL || (entry->d_tag == DT_FLAGS && (value & DF_TEXTREL) != 0))
      has_text_relocations = true;
    if (entry->d_tag == DT_FLAGS_1) {
      if ((value & DF_1_PIE) != 0) kind = ElfKind::executable_pie;
      is_initialised_first = (value & DF_1_INITFIRST) != 0;
    }
    const auto* const found = std::ranges::find(known, entry->d_tag, &Entry::tag);
    if (found != std::end(known)) *found->value = value;
  }
  strings_offset_ = offset_of(strings);
  symbols_offset_ = offset_of(symbols);
  if (strings_offset_ > bytes_.size() || bytes_.size() - strings_offset_ < strings_bytes_) {
    return "the file ends in its table of names";
  }
  for (const std::uint64_t name : needed_at)
    needed.push_back(text_at(name));
  soname = text_at(soname_at);
  rpath = text_at(rpath_at);
  runpath = text_at(runpath_at);
  if (symbols_offset_ != nowhere) count_symbols(hash, gnu_hash);
  return "";
}

void ElfFile::count_symbols(std::uint64_t hash_address, std::uint64_t gnu_hash_address) {
  // No table has the number of symbols, and tools such as patchelf move tables, so that the
  // distance of two says nothing. The old hash table has one chain entry for each symbol. The GNU
  // hash table has those after its first symbol. It is empty in a file that defines none; then the
  // symbols that relocations use are all that matter.
  if (const auto chains = copy_at<Elf64_Word>(bytes_, offset_of(hash_address) + 4);
      hash_address != nowhere && chains) {
    symbol_count_ = *chains;
    return;
  }
  const std::uint64_t hashed = gnu_hash_address == nowhere ? 0 : end_of_hashed(gnu_hash_address);
  symbol_count_ = hashed != 0 ? hashed : end_of_relocated();
}

std::uint64_t ElfFile::end_of_hashed(std::uint64_t gnu_hash_address) const {
  const std::uint64_t table = offset_of(gnu_hash_address);
  const auto head = copy_at<std::array<Elf64_Word, 4>>(bytes_, table);
  if (!head) return 0;
  const auto [bucket_count, first_symbol, bloom_words, shift] = *head;
  const std::uint64_t buckets = table + sizeof *head + std::uint64_t{bloom_words} * 8;
  const std::uint64_t chains_offset = buckets + std::uint64_t{bucket_count} * 4;
  std::uint64_t last = 0;
  for (std::uint64_t bucket = 0; bucket < bucket_count; ++bucket) {
    const auto symbol = copy_at<Elf64_Word>(bytes_, buckets + bucket * 4);
    if (!symbol) return 0;
    last = std::max<std::uint64_t>(last, *symbol);
  }
  if (last == 0) return 0;
  // The last chain ends at the entry whose lowest bit is set.
  for (; last >= first_symbol; ++last) {
    const auto entry = copy_at<Elf64_Word>(bytes_, chains_offset + (last - first_symbol) * 4);
    if (!entry) return 0;
    if ((*entry & 1) != 0) return last + 1;
  }
  return 0;
}

std::uint64_t ElfFile::end_of_relocated() const {
  std::uint64_t end = 0;
  for (const Relocations& table : {data_relocations_, call_relocations_}) {
    const std::uint64_t begin = offset_of(table.address);
    for (std::uint64_t at = 0; begin != nowhere && at < table.size_bytes;
         at += sizeof(Elf64_Rela)) {
      const auto entry = copy_at<Elf64_Rela>(bytes_, begin + at);
      if (!entry) break;
      end = std::max<std::uint64_t>(end, ELF64_R_SYM(entry->r_info) + 1);
    }
  }
  return end;
}

std::uint64_t ElfFile::offset_of(std::uint64_t address) const {
  for (const Segment& segment : segments_) {
    if (address >= segment.address && address - segment.address < segment.file_bytes) {
      return segment.offset + (address - segment.address);
    }
  }
  return nowhere;
}

bool ElfFile::defines_function(std::string_view name) const {
  const auto header = copy_at<Elf64_Ehdr>(bytes_, 0);
  if (!header || header->e_shentsize != sizeof(Elf64_Shdr)) return false;
  for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto section = copy_at<Elf64_Shdr>(bytes_, header->e_shoff + i * sizeof(Elf64_Shdr));
    if (!section || (section->sh_type != SHT_SYMTAB && section->sh_type != SHT_DYNSYM)) continue;
    const auto texts =
        copy_at<Elf64_Shdr>(bytes_, header->e_shoff + section->sh_link * sizeof(Elf64_Shdr));
    if (!texts) continue;
    for (std::uint64_t at = 0; at < section->sh_size; at += sizeof(Elf64_Sym)) {
      const auto symbol = copy_at<Elf64_Sym>(bytes_, section->sh_offset + at);
      if (!symbol) break;
      if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF) continue;
      const std::uint64_t text = texts->sh_offset + symbol->st_name;
      if (text >= bytes_.size() || bytes_.size() - text <= name.size()) continue;
      const auto* found = reinterpret_cast<const char*>(bytes_.data() + text);
      if (found[name.size()] == '\0' && std::string_view(found, name.size()) == name) return true;
    }
  }
  return false;
}

bool ElfFile::contains(std::string_view text) const {
  return memmem(bytes_.data(), bytes_.size(), text.data(), text.size()) != nullptr;
}

std::string_view ElfFile::text_at(std::uint64_t string_offset) const {
  if (string_offset >= strings_bytes_) return {};
  const auto* text = reinterpret_cast<const char*>(bytes_.data() + strings_offset_ + string_offset);
  return {text, strnlen(text, strings_bytes_ - string_offset)};
}

ElfSymbol ElfFile::symbol_at(const Elf64_Sym& symbol) const {
  return {.name = text_at(symbol.st_name),
          .is_defined = symbol.st_shndx != SHN_UNDEF,
          .is_weak = ELF64_ST_BIND(symbol.st_info) == STB_WEAK,
          .is_data = ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT,
          .address = symbol.st_value};
}

void ElfFile::for_each_symbol(const std::function<void(const ElfSymbol&)>& visit) const {
  for (std::uint64_t index = 1; index < symbol_count_; ++index) {
    const auto symbol = copy_at<Elf64_Sym>(bytes_, symbols_offset_ + index * sizeof(Elf64_Sym));
    if (!symbol) return;
    const ElfSymbol found = symbol_at(*symbol);
    if (ELF64_ST_BIND(symbol->st_info) == STB_LOCAL || found.name.empty()) continue;
    visit(found);
  }
}

void ElfFile::for_each_relocation(const std::function<void(const ElfRelocation&)>& visit) const {
  for (const Relocations& table : {data_relocations_, call_relocations_}) {
    const std::uint64_t begin = offset_of(table.address);
    for (std::uint64_t at = 0; at < table.size_bytes; at += sizeof(Elf64_Rela)) {
      const auto entry = copy_at<Elf64_Rela>(bytes_, begin + at);
      if (begin == nowhere || !entry) break;
      const std::uint64_t index = ELF64_R_SYM(entry->r_info);
      const auto symbol = copy_at<Elf64_Sym>(bytes_, symbols_offset_ + index * sizeof(Elf64_Sym));
      visit({.address = entry->r_offset,
             .type = static_cast<std::uint32_t>(ELF64_R_TYPE(entry->r_info)),
             .addend = entry->r_addend,
             .symbol = index != 0 && symbol ? text_at(symbol->st_name) : std::string_view()});
    }
  }
}

std::span<const std::byte> ElfFile::bytes_of(const Elf64_Phdr& header) const {
  const std::uint64_t begin = std::min<std::uint64_t>(header.p_offset, bytes_.size());
  return bytes_.subspan(begin, std::min<std::uint64_t>(header.p_filesz, bytes_.size() - begin));
}

std::uint64_t ElfFile::word_at(std::uint64_t address) const {
  return copy_at<std::uint64_t>(bytes_, offset_of(address)).value_or(0);
}

std::uint64_t ElfFile::call_table_bytes() const {
  // The loader's three words, and one for each call.
  return call_table == 0
             ? 0
             : (3 + call_relocations_.size_bytes / sizeof(Elf64_Rela)) * sizeof(std::uint64_t);
}

}  // namespace sorrel::os
