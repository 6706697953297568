#include "runtime/python/frames.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <string_view>
#include <system_error>

#include "base/check.hpp"
#include "base/fixed_text.hpp"
#include "base/printable.hpp"
#include "program/base/user_memory.hpp"

namespace sorrel::runtime {

namespace {

constexpr std::uint32_t none = PythonLayout::none;

// Alike in every version that is listed below.
constexpr std::uint64_t type_offset = 8;
constexpr std::uint64_t size_offset = 16;
constexpr std::uint64_t text_state_offset = 32;

/// From this owner on a frame stands for a call of the interpreter by C code.
constexpr std::uint8_t owned_by_interpreter = 3;

/// Marks a reference that is not counted, in pointers of frames from 3.14 on. Objects are aligned.
constexpr std::uintptr_t reference_mark = 1;

/// Frames that are not shown and follow each other; more are damage.
constexpr int skipped_count_max = 64;

/// How the names of files begin that hold the functions of `import`.
constexpr std::string_view import_files = "<frozen importlib._bootstrap";

constexpr PythonLayout python_3_9{
    .thread = {.innermost = 24, .in_structure = none},
    .frame = {.previous = 24, .code = 32, .instruction = 104, .owner = none},
    .code = {.file = 104, .name = 112, .first_line = 40, .instructions = 48},
    .index_bytes = 1,
    .ascii_header = 48,
    .text_header = 72};

constexpr PythonLayout python_3_10{
    .thread = {.innermost = 24, .in_structure = none},
    .frame = {.previous = 24, .code = 32, .instruction = 96, .owner = none},
    .code = {.file = 104, .name = 112, .first_line = 40, .instructions = 48},
    .index_bytes = 2,
    .ascii_header = 48,
    .text_header = 72};

constexpr PythonLayout python_3_11{
    .thread = {.innermost = 56, .in_structure = 8},
    .frame = {.previous = 48, .code = 32, .instruction = 56, .owner = none},
    .code = {.file = 112, .name = 120, .first_line = 72, .instructions = 184},
    .index_bytes = 0,
    .ascii_header = 48,
    .text_header = 72};

constexpr PythonLayout python_3_12{
    .thread = {.innermost = 56, .in_structure = 0},
    .frame = {.previous = 8, .code = 0, .instruction = 56, .owner = 70},
    .code = {.file = 112, .name = 120, .first_line = 68, .instructions = 192},
    .index_bytes = 0,
    .ascii_header = 40,
    .text_header = 56};

constexpr PythonLayout python_3_13{
    .thread = {.innermost = 72, .in_structure = none},
    .frame = {.previous = 8, .code = 0, .instruction = 56, .owner = 70},
    .code = {.file = 112, .name = 120, .first_line = 68, .instructions = 200},
    .index_bytes = 0,
    .ascii_header = 40,
    .text_header = 56};

// Python 3.15, too.
constexpr PythonLayout python_3_14{
    .thread = {.innermost = 72, .in_structure = none},
    .frame = {.previous = 8, .code = 0, .instruction = 56, .owner = 74},
    .code = {.file = 112, .name = 120, .first_line = 68, .instructions = 208},
    .index_bytes = 0,
    .ascii_header = 40,
    .text_header = 56};

const void* at(const void* object, std::uint64_t offset) {
  return static_cast<const std::byte*>(object) + offset;
}

bool copy(void* to, const void* from, std::size_t bytes, PythonMemory memory) {
  if (memory == PythonMemory::checked) return program::copy_from_user(to, from, bytes);
  std::memcpy(to, from, bytes);
  return true;
}

/// Adds a character as UTF-8.
template <class Text>
void add_utf8(Text& text, std::uint32_t code) {
  const auto byte = [](std::uint32_t value) { return static_cast<char>(value); };
  const auto rest = [&](int shift) { return byte(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) {
    const std::array bytes = {byte(code)};
    text.add({bytes.data(), bytes.size()});
  } else if (code < 0x800) {
    const std::array bytes = {byte(0xc0 | code >> 6), rest(0)};
    text.add({bytes.data(), bytes.size()});
  } else if (code < 0x10000) {
    const std::array bytes = {byte(0xe0 | code >> 12), rest(6), rest(0)};
    text.add({bytes.data(), bytes.size()});
  } else {
    const std::array bytes = {byte(0xf0 | code >> 18), rest(12), rest(6), rest(0)};
    text.add({bytes.data(), bytes.size()});
  }
}

/// Where the characters of a text are.
struct Characters {
  const void* begin;
  std::uint64_t count;
  std::uint32_t bytes;  ///< of each
};

/// `state`: the third word of the text. Nothing if its characters lie elsewhere.
std::optional<Characters> characters_of(const PythonLayout& layout,
                                        const void* text,
                                        std::uint64_t count,
                                        std::uint32_t state) {
  const std::uint32_t bytes = state >> 2 & 7;
  const bool is_compact = (state >> 5 & 1) != 0;
  const bool is_ascii = (state >> 6 & 1) != 0;
  if (!is_compact || (bytes != 1 && bytes != 2 && bytes != 4)) return std::nullopt;
  return Characters{.begin = at(text, is_ascii ? layout.ascii_header : layout.text_header),
                    .count = count,
                    .bytes = bytes};
}

}  // namespace

std::optional<PythonLayout> python_layout(std::string_view version) {
  std::array<int, 3> numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0 && !version.starts_with('.')) return std::nullopt;
    version.remove_prefix(i > 0 ? 1 : 0);
    const auto [end, error] =
        std::from_chars(version.data(), version.data() + version.size(), numbers[i]);
    if (error != std::errc()) return std::nullopt;
    version.remove_prefix(static_cast<std::size_t>(end - version.data()));
  }
  // "+" or a letter behind the number: no release. The layout of a version is settled by then.
  const bool is_release = version.empty() || version.starts_with(' ');
  const bool has_lock = version.find("free-threading") == version.npos;
  if (!is_release || !has_lock || numbers[0] != 3) return std::nullopt;
  switch (numbers[1]) {
    case 9:
      return python_3_9;
    case 10:
      return python_3_10;
    case 11:
      return python_3_11;
    case 12:
      return python_3_12;
    case 13:
      return python_3_13;
    case 14:
    case 15:
      return python_3_14;
    default:
      return std::nullopt;
  }
}

PythonFrames::PythonFrames(const PythonLayout& layout,
                           const PythonTypes& types,
                           PythonMemory memory,
                           const void* thread)
    : layout_(layout), types_(types), memory_(memory) {
  const void* innermost = nullptr;
  if (!read(innermost, thread, layout_.thread.innermost)) return;
  if (layout_.thread.in_structure == none) {
    frame_ = innermost;
  } else if (!read(frame_, innermost, layout_.thread.in_structure)) {
    frame_ = nullptr;
  }
}

template <class Value>
bool PythonFrames::read(Value& value, const void* object, std::uint64_t offset) const {
  return object != nullptr && copy(&value, at(object, offset), sizeof value, memory_);
}

bool PythonFrames::is_of_type(const void* object, const void* type) const {
  const void* own = nullptr;
  return read(own, object, type_offset) && own == type;
}

bool PythonFrames::next(symbols::SourceText& text) {
  for (int i = 0; frame_ != nullptr && i < skipped_count_max; ++i) {
    std::uint8_t owner = 0;
    if (layout_.frame.owner != none && !read(owner, frame_, layout_.frame.owner)) return false;
    std::uintptr_t reference = 0;
    const void* previous = nullptr;
    if (!read(previous, frame_, layout_.frame.previous)) return false;
    const bool is_function = owner < owned_by_interpreter;
    if (is_function && !read(reference, frame_, layout_.frame.code)) return false;
    const auto* const code = reinterpret_cast<const void*>(reference & ~reference_mark);
    if (is_function && !is_of_type(code, types_.code)) return false;
    const bool is_shown = is_function && describe(code, text);
    frame_ = previous;
    if (is_shown) return true;
  }
  return false;
}

int PythonFrames::offset_of_instruction(const void* code) const {
  constexpr std::int64_t offset_max = std::numeric_limits<int>::max();
  std::int64_t offset = -1;
  std::int64_t count = 0;
  if (layout_.index_bytes != 0) {
    const void* instructions = nullptr;
    std::int32_t index = -1;
    if (!read(instructions, code, layout_.code.instructions) ||
        !read(count, instructions, size_offset) || !read(index, frame_, layout_.frame.instruction))
      return -1;
    offset = std::int64_t{index} * layout_.index_bytes;
  } else {
    // The size of a code object is the number of its instructions, of two bytes.
    const void* instruction = nullptr;
    if (!read(count, code, size_offset) || !read(instruction, frame_, layout_.frame.instruction))
      return -1;
    count *= 2;
    offset = static_cast<const std::byte*>(instruction) -
             static_cast<const std::byte*>(at(code, layout_.code.instructions));
  }
  return offset >= 0 && offset < std::min(count, offset_max) ? static_cast<int>(offset) : -1;
}

bool PythonFrames::describe(const void* code, symbols::SourceText& text) const {
  constexpr std::uint64_t part_count_max = 300;
  const auto text_at = [&](std::uint64_t offset, auto& to, bool is_path) {
    const void* object = nullptr;
    std::uint64_t count = 0;
    std::uint32_t state = 0;
    if (!read(object, code, offset) || !is_of_type(object, types_.text) ||
        !read(count, object, size_offset) || !read(state, object, text_state_offset))
      return;
    const auto characters = characters_of(layout_, object, count, state);
    if (!characters) return;
    // The end of a path.
    const std::uint64_t taken = std::min(characters->count, part_count_max);
    const std::uint64_t first = is_path ? characters->count - taken : 0;
    std::array<std::byte, part_count_max * 4> memory;
    if (!copy(memory.data(), at(characters->begin, first * characters->bytes),
              taken * characters->bytes, memory_))
      return;
    SORREL_ASSERT(characters->bytes <= sizeof(std::uint32_t), "characters of %u bytes",
                  static_cast<unsigned>(characters->bytes));
    for (std::uint64_t i = 0; i < taken; ++i) {
      std::uint32_t character = 0;
      std::memcpy(&character, memory.data() + i * characters->bytes, characters->bytes);
      if (is_path && character == '/') {
        to.clear();
      } else {
        add_utf8(to, character);
      }
    }
  };
  FixedText<part_count_max> name;
  FixedText<part_count_max> file;
  text_at(layout_.code.name, name, false);
  text_at(layout_.code.file, file, true);
  if (file.text().starts_with(import_files)) return false;
  int line = 0;
  const int offset = offset_of_instruction(code);
  if (offset >= 0) line = types_.line_of(code, offset);
  if (line <= 0 && !read(line, code, layout_.code.first_line)) line = 0;
  FixedText<std::tuple_size_v<symbols::SourceText>> shown;
  add_printable(shown, name.text().substr(0, 120));
  shown.add(" (");
  add_printable(shown, file.text().substr(0, 100));
  shown.add(":").add(line).add(")");
  std::memcpy(text.data(), shown.c_str(), shown.text().size() + 1);
  return true;
}

}  // namespace sorrel::runtime
