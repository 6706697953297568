#include "fuzz/mutate_elf.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <elf.h>
#include <optional>
#include <string_view>
#include <utility>

namespace sorrel::fuzz {

namespace {

struct Field {
  const char* name;
  std::size_t offset;
  std::size_t bytes;
};

#define SORREL_FIELD(Type, member)                        \
  Field {                                                 \
    #member, offsetof(Type, member), sizeof(Type::member) \
  }

constexpr Field header_fields[] = {
    SORREL_FIELD(Elf64_Ehdr, e_ident),     SORREL_FIELD(Elf64_Ehdr, e_type),
    SORREL_FIELD(Elf64_Ehdr, e_machine),   SORREL_FIELD(Elf64_Ehdr, e_version),
    SORREL_FIELD(Elf64_Ehdr, e_entry),     SORREL_FIELD(Elf64_Ehdr, e_phoff),
    SORREL_FIELD(Elf64_Ehdr, e_shoff),     SORREL_FIELD(Elf64_Ehdr, e_ehsize),
    SORREL_FIELD(Elf64_Ehdr, e_phentsize), SORREL_FIELD(Elf64_Ehdr, e_phnum),
    SORREL_FIELD(Elf64_Ehdr, e_shentsize), SORREL_FIELD(Elf64_Ehdr, e_shnum)};
constexpr Field segment_fields[] = {
    SORREL_FIELD(Elf64_Phdr, p_type),   SORREL_FIELD(Elf64_Phdr, p_flags),
    SORREL_FIELD(Elf64_Phdr, p_offset), SORREL_FIELD(Elf64_Phdr, p_vaddr),
    SORREL_FIELD(Elf64_Phdr, p_filesz), SORREL_FIELD(Elf64_Phdr, p_memsz),
    SORREL_FIELD(Elf64_Phdr, p_align)};
constexpr Field dynamic_fields[] = {SORREL_FIELD(Elf64_Dyn, d_tag), SORREL_FIELD(Elf64_Dyn, d_un)};
constexpr Field symbol_fields[] = {
    SORREL_FIELD(Elf64_Sym, st_name), SORREL_FIELD(Elf64_Sym, st_info),
    SORREL_FIELD(Elf64_Sym, st_shndx), SORREL_FIELD(Elf64_Sym, st_value),
    SORREL_FIELD(Elf64_Sym, st_size)};
constexpr Field relocation_fields[] = {SORREL_FIELD(Elf64_Rela, r_offset),
                                       SORREL_FIELD(Elf64_Rela, r_info),
                                       SORREL_FIELD(Elf64_Rela, r_addend)};
constexpr Field word_fields[] = {Field{"word", 0, 4}};

#undef SORREL_FIELD

constexpr std::uint64_t segment_types[] = {PT_NULL, PT_LOAD,        PT_DYNAMIC,   PT_INTERP,
                                           PT_NOTE, PT_TLS,         PT_GNU_STACK, PT_GNU_RELRO,
                                           PT_PHDR, PT_GNU_EH_FRAME};
constexpr std::uint64_t dynamic_tags[] = {
    DT_NULL,     DT_NEEDED,  DT_PLTRELSZ, DT_HASH,       DT_STRTAB,       DT_SYMTAB,
    DT_RELA,     DT_RELASZ,  DT_RELAENT,  DT_STRSZ,      DT_INIT,         DT_FINI,
    DT_SONAME,   DT_RPATH,   DT_RUNPATH,  DT_SYMBOLIC,   DT_REL,          DT_TEXTREL,
    DT_JMPREL,   DT_FLAGS,   DT_FLAGS_1,  DT_INIT_ARRAY, DT_INIT_ARRAYSZ, DT_FINI_ARRAY,
    DT_GNU_HASH, DT_VERNEED, DT_VERSYM,   DT_RELACOUNT,  DT_DEBUG,        DT_AUXILIARY};

/// Entries of one size, all within the file.
struct Table {
  std::string name;
  std::size_t offset = 0;
  std::size_t entry_bytes = 1;
  std::size_t count = 0;
  std::span<const Field> fields;
};

class Damage {
 public:
  Damage(Bytes& file, Prng& random) : file_(file), random_(random) { find_tables(); }

  std::string once() {
    if (tables_.empty() || random_.below(6) == 0) {
      mutate_once(file_, file_.size() + 4096, random_, {});
      return "bytes";
    }
    const Table& table = pick<Table>(random_, tables_);
    const std::size_t index = random_.below(table.count);
    const std::size_t entry = table.offset + index * table.entry_bytes;
    const std::string where = table.name + "[" + std::to_string(index) + "]";
    switch (random_.below(10)) {
      case 0:
        return exchange(table, entry, where);
      case 1:
        std::fill_n(file_.begin() + static_cast<std::ptrdiff_t>(entry), table.entry_bytes,
                    std::uint8_t{0});
        return where + " cleared";
      default:
        return change_field(table, entry, where);
    }
  }

 private:
  template <class T>
  std::optional<T> read(std::uint64_t offset) const {
    if (offset > file_.size() || file_.size() - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, file_.data() + offset, sizeof value);
    return value;
  }

  void add(std::string name,
           std::uint64_t offset,
           std::size_t entry_bytes,
           std::uint64_t count,
           std::span<const Field> fields) {
    if (offset >= file_.size()) return;
    const std::uint64_t room = (file_.size() - offset) / entry_bytes;
    const auto fitting = static_cast<std::size_t>(std::min(count, room));
    if (fitting == 0) return;
    tables_.push_back(
        {std::move(name), static_cast<std::size_t>(offset), entry_bytes, fitting, fields});
  }

  void find_tables() {
    const auto header = read<Elf64_Ehdr>(0);
    if (!header) return;
    add("header", 0, sizeof *header, 1, header_fields);
    add("segment", header->e_phoff, sizeof(Elf64_Phdr), header->e_phnum, segment_fields);
    for (std::size_t i = 0; i < header->e_phnum; ++i) {
      const auto segment = read<Elf64_Phdr>(header->e_phoff + i * sizeof(Elf64_Phdr));
      if (!segment) return;
      if (segment->p_type == PT_DYNAMIC) find_dynamic_tables(*segment);
      if (segment->p_type == PT_INTERP)
        add("interpreter", segment->p_offset, 4, segment->p_filesz / 4, word_fields);
    }
  }

  /// Linkers give the first segment equal addresses and offsets; the tables are in it.
  void find_dynamic_tables(const Elf64_Phdr& dynamic) {
    const std::uint64_t count = dynamic.p_filesz / sizeof(Elf64_Dyn);
    add("dynamic", dynamic.p_offset, sizeof(Elf64_Dyn), count, dynamic_fields);
    std::uint64_t strings_bytes = 0;
    std::uint64_t relocation_bytes = 0;
    std::uint64_t jump_bytes = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto entry = read<Elf64_Dyn>(dynamic.p_offset + i * sizeof(Elf64_Dyn));
      if (!entry) return;
      if (entry->d_tag == DT_STRSZ) strings_bytes = entry->d_un.d_val;
      if (entry->d_tag == DT_RELASZ) relocation_bytes = entry->d_un.d_val;
      if (entry->d_tag == DT_PLTRELSZ) jump_bytes = entry->d_un.d_val;
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto entry = read<Elf64_Dyn>(dynamic.p_offset + i * sizeof(Elf64_Dyn));
      if (!entry) return;
      const std::uint64_t at = entry->d_un.d_ptr;
      if (entry->d_tag == DT_SYMTAB) add("symbol", at, sizeof(Elf64_Sym), 24, symbol_fields);
      if (entry->d_tag == DT_STRTAB) add("names", at, 4, strings_bytes / 4, word_fields);
      if (entry->d_tag == DT_GNU_HASH) add("gnu_hash", at, 4, 24, word_fields);
      if (entry->d_tag == DT_HASH) add("hash", at, 4, 24, word_fields);
      if (entry->d_tag == DT_RELA)
        add("relocation", at, sizeof(Elf64_Rela), relocation_bytes / sizeof(Elf64_Rela),
            relocation_fields);
      if (entry->d_tag == DT_JMPREL)
        add("jump", at, sizeof(Elf64_Rela), jump_bytes / sizeof(Elf64_Rela), relocation_fields);
    }
  }

  std::string exchange(const Table& table, std::size_t entry, const std::string& where) {
    const std::size_t index = random_.below(table.count);
    const std::size_t other = table.offset + index * table.entry_bytes;
    if (random_.below(2) == 0) {
      std::memmove(file_.data() + entry, file_.data() + other, table.entry_bytes);
      return where + " = [" + std::to_string(index) + "]";
    }
    for (std::size_t i = 0; i < table.entry_bytes; ++i)
      std::swap(file_[entry + i], file_[other + i]);
    return where + " <-> [" + std::to_string(index) + "]";
  }

  std::string change_field(const Table& table, std::size_t entry, const std::string& where) {
    const Field& field = pick<Field>(random_, table.fields);
    const std::string_view name = field.name;
    const std::size_t bytes = std::min<std::size_t>(field.bytes, 8);
    // Any eight bytes of a longer field, such as e_ident.
    const std::size_t at = entry + field.offset + random_.below(field.bytes - bytes + 1);
    std::uint64_t value = 0;
    std::memcpy(&value, file_.data() + at, bytes);
    if (name == "p_type" && random_.below(2) == 0) {
      value = pick<std::uint64_t>(random_, segment_types);
    } else if (name == "d_tag" && random_.below(4) != 0) {
      value = pick<std::uint64_t>(random_, dynamic_tags);
    } else {
      value = near(value);
    }
    std::memcpy(file_.data() + at, &value, bytes);
    return where + "." + field.name + " = " + std::to_string(value);
  }

  /// A wrong number of the same magnitude as `value`.
  std::uint64_t near(std::uint64_t value) {
    static constexpr std::uint64_t steps[] = {1, 2, 4, 8, 16, 24, 64, 4096, 65536};
    switch (random_.below(6)) {
      case 0:
        return value + pick<std::uint64_t>(random_, steps);
      case 1:
        return value - pick<std::uint64_t>(random_, steps);
      case 2:
        return value ^ (std::uint64_t{1} << random_.below(64));
      case 3:
        return file_.size() + random_.below(3) - 1;
      case 4:
        return random_.below(file_.size() + 1);
      default:
        return special_number(random_);
    }
  }

  Bytes& file_;
  Prng& random_;
  std::vector<Table> tables_;
};

}  // namespace

std::string mutate_elf(Bytes& file, Prng& random) {
  std::string done;
  const std::uint64_t places = 1 + random.below(4);
  for (std::uint64_t i = 0; i < places; ++i)
    done += (i == 0 ? "" : ", ") + Damage(file, random).once();
  return done;
}

}  // namespace sorrel::fuzz
