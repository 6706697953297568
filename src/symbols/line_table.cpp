#include "symbols/line_table.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "base/byte_cursor.hpp"

namespace sorrel::symbols {

namespace {

// DWARF's names.
enum StandardOpcode : std::uint8_t {
  copy = 1,
  advance_pc,
  advance_line,
  set_file,
  set_column,
  negate_stmt,
  set_basic_block,
  const_add_pc,
  fixed_advance_pc,
};

enum ExtendedOpcode : std::uint8_t { end_sequence = 1, set_address, define_file };

enum Form : std::uint8_t {
  form_block2 = 0x03,
  form_block4 = 0x04,
  form_data2 = 0x05,
  form_data4 = 0x06,
  form_data8 = 0x07,
  form_string = 0x08,
  form_block = 0x09,
  form_block1 = 0x0a,
  form_data1 = 0x0b,
  form_strp = 0x0e,
  form_udata = 0x0f,
  form_data16 = 0x1e,
  form_line_strp = 0x1f,
};

constexpr std::uint64_t content_path = 1;

const char* text_at(std::span<const std::byte> section, std::uint64_t offset) {
  if (offset >= section.size()) return nullptr;
  ByteCursor cursor(section.subspan(static_cast<std::size_t>(offset)));
  const char* text = cursor.take_text();
  return cursor.is_good() ? text : nullptr;
}

const char* without_folders(const char* path) {
  if (path == nullptr) return nullptr;
  const char* slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

/// One line number program with its header.
class Unit {
 public:
  Unit(const LineSections& sections, ByteCursor bytes, bool is_64_bit)
      : sections_(sections), is_64_bit_(is_64_bit) {
    read_header(bytes);
  }

  void answer(std::span<LineQuery> queries) {
    if (!is_readable_) return;
    const auto by_address = [](const LineQuery& query) { return query.address; };
    lowest_queried_ = std::ranges::min(queries, {}, by_address).address;
    highest_queried_ = std::ranges::max(queries, {}, by_address).address;
    queries_ = queries;
    while (program_.is_good() && !program_.at_end())
      run_instruction();
  }

 private:
  struct Row {
    std::uint64_t address = 0;
    std::uint64_t file = 1;
    std::uint64_t line = 1;
  };

  std::uint64_t take_offset(ByteCursor& bytes) const {
    return is_64_bit_ ? bytes.take<std::uint64_t>() : bytes.take<std::uint32_t>();
  }

  void read_header(ByteCursor bytes) {
    version_ = bytes.take<std::uint16_t>();
    if (version_ < 2 || version_ > 5) return;
    // Sizes of an address and of a segment's selector.
    if (version_ >= 5) bytes.skip(2);
    ByteCursor header = bytes.take_part(take_offset(bytes));
    program_ = bytes;
    instruction_bytes_ = header.take<std::uint8_t>();
    // Number of operations in an instruction; always one on supported machines.
    if (version_ >= 4) header.skip(1);
    header.skip(1);
    line_base_ = header.take<std::int8_t>();
    line_range_ = header.take<std::uint8_t>();
    opcode_base_ = header.take<std::uint8_t>();
    for (unsigned opcode = 1; opcode < opcode_base_; ++opcode)
      operand_counts_[opcode] = header.take<std::uint8_t>();
    is_readable_ = header.is_good() && line_range_ != 0 && opcode_base_ != 0;
    names_ = header;
  }

  void run_instruction() {
    const unsigned opcode = program_.take<std::uint8_t>();
    if (opcode >= opcode_base_) {
      const unsigned step = opcode - opcode_base_;
      advance(step / line_range_);
      row_.line += static_cast<std::uint64_t>(line_base_ + static_cast<int>(step % line_range_));
      emit();
      return;
    }
    switch (opcode) {
      case 0:
        run_extended();
        break;
      case copy:
        emit();
        break;
      case advance_pc:
        advance(program_.take_uleb());
        break;
      case advance_line:
        row_.line += static_cast<std::uint64_t>(program_.take_sleb());
        break;
      case set_file:
        row_.file = program_.take_uleb();
        break;
      case const_add_pc:
        advance((255u - opcode_base_) / line_range_);
        break;
      case fixed_advance_pc:
        row_.address += program_.take<std::uint16_t>();
        break;
      default:
        for (unsigned i = 0; i < operand_counts_[opcode]; ++i)
          (void)program_.take_uleb();
    }
  }

  void run_extended() {
    const std::uint64_t bytes = program_.take_uleb();
    ByteCursor operands = program_.take_part(bytes);
    switch (operands.take<std::uint8_t>()) {
      case end_sequence:
        emit();
        row_ = {};
        has_previous_ = false;
        break;
      case set_address:
        row_.address = bytes > 8 ? operands.take<std::uint64_t>() : operands.take<std::uint32_t>();
        break;
      default:
        break;
    }
  }

  void advance(std::uint64_t instructions) { row_.address += instructions * instruction_bytes_; }

  /// A row is valid from its address to that of the next row of its sequence.
  void emit() {
    // Code that the linker has dropped stands at address 0.
    const bool may_answer = has_previous_ && sequence_begin_ != 0 && previous_.line != 0 &&
                            previous_.address <= highest_queried_ && row_.address > lowest_queried_;
    if (may_answer) {
      for (LineQuery& query : queries_) {
        if (query.file != nullptr || query.address < previous_.address ||
            query.address >= row_.address)
          continue;
        query.file = without_folders(file_name(previous_.file));
        query.line = previous_.line;
      }
    }
    if (!has_previous_) sequence_begin_ = row_.address;
    previous_ = row_;
    has_previous_ = true;
  }

  [[nodiscard]] const char* file_name(std::uint64_t number) const {
    return version_ >= 5 ? file_name_of_5(number) : file_name_of_4(number);
  }

  /// Versions 2 to 4: folders, then files from number 1 on; an empty text ends each list.
  [[nodiscard]] const char* file_name_of_4(std::uint64_t number) const {
    ByteCursor names = names_;
    while (*names.take_text() != '\0') {
    }
    for (std::uint64_t i = 1; names.is_good(); ++i) {
      const char* name = names.take_text();
      if (*name == '\0') return nullptr;
      if (i == number) return name;
      for (int field = 0; field < 3; ++field)
        (void)names.take_uleb();
    }
    return nullptr;
  }

  /// The layout of an entry of version 5: content and form of each of its fields.
  struct EntryFormat {
    unsigned count = 0;
    ByteCursor fields;
  };

  static EntryFormat take_format(ByteCursor& names) {
    EntryFormat format{.count = names.take<std::uint8_t>(), .fields = names};
    for (unsigned i = 0; i < 2 * format.count; ++i)
      (void)names.take_uleb();
    return format;
  }

  /// Skips an entry; returns its path, or null.
  const char* take_entry(ByteCursor& names, EntryFormat format) const {
    const char* path = nullptr;
    for (unsigned i = 0; i < format.count && names.is_good(); ++i) {
      const std::uint64_t content = format.fields.take_uleb();
      const char* text = take_field(names, format.fields.take_uleb());
      if (content == content_path) path = text;
    }
    return path;
  }

  /// Skips a field; returns its text if it is one.
  const char* take_field(ByteCursor& names, std::uint64_t form) const {
    switch (form) {
      case form_string:
        return names.take_text();
      case form_line_strp:
        return text_at(sections_.line_strings, take_offset(names));
      case form_strp:
        return text_at(sections_.strings, take_offset(names));
      case form_udata:
        (void)names.take_uleb();
        return nullptr;
      default:
        names.skip(field_bytes(names, form));
        return nullptr;
    }
  }

  /// The size of a field, which for blocks precedes it and is taken.
  static std::uint64_t field_bytes(ByteCursor& names, std::uint64_t form) {
    switch (form) {
      case form_data1:
        return 1;
      case form_data2:
        return 2;
      case form_data4:
        return 4;
      case form_data8:
        return 8;
      case form_data16:
        return 16;
      case form_block:
        return names.take_uleb();
      case form_block1:
        return names.take<std::uint8_t>();
      case form_block2:
        return names.take<std::uint16_t>();
      case form_block4:
        return names.take<std::uint32_t>();
      default:
        // Unknown: nothing behind it can be read.
        return std::numeric_limits<std::uint64_t>::max();
    }
  }

  [[nodiscard]] const char* file_name_of_5(std::uint64_t number) const {
    ByteCursor names = names_;
    const EntryFormat folder_format = take_format(names);
    const std::uint64_t folder_count = names.take_uleb();
    // Entries without a field take no bytes, so their number can be anything in a damaged file.
    for (std::uint64_t i = 0; i < folder_count && folder_format.count != 0 && names.is_good(); ++i)
      (void)take_entry(names, folder_format);
    const EntryFormat file_format = take_format(names);
    const std::uint64_t file_count = names.take_uleb();
    if (number >= file_count || file_format.count == 0) return nullptr;
    for (std::uint64_t i = 0; i < number && names.is_good(); ++i)
      (void)take_entry(names, file_format);
    return take_entry(names, file_format);
  }

  const LineSections& sections_;
  bool is_64_bit_;
  bool is_readable_ = false;
  std::uint16_t version_ = 0;
  std::uint8_t instruction_bytes_ = 1;
  int line_base_ = 0;
  unsigned line_range_ = 1;
  unsigned opcode_base_ = 0;
  std::array<std::uint8_t, 256> operand_counts_{};
  ByteCursor names_;
  ByteCursor program_;
  std::span<LineQuery> queries_;
  std::uint64_t lowest_queried_ = 0;
  std::uint64_t highest_queried_ = 0;
  Row row_;
  Row previous_;
  bool has_previous_ = false;
  std::uint64_t sequence_begin_ = 0;
};

}  // namespace

void find_lines(const LineSections& sections, std::span<LineQuery> queries) {
  if (queries.empty()) return;
  ByteCursor lines(sections.lines);
  while (lines.is_good() && !lines.at_end()) {
    constexpr std::uint32_t escape_to_64_bit = 0xffffffff;
    std::uint64_t bytes = lines.take<std::uint32_t>();
    const bool is_64_bit = bytes == escape_to_64_bit;
    if (is_64_bit) bytes = lines.take<std::uint64_t>();
    Unit(sections, lines.take_part(bytes), is_64_bit).answer(queries);
  }
}

}  // namespace sorrel::symbols
