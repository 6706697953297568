#include "symbols/line_table.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/prng.hpp"
#include "symbols/symbol_file.hpp"

namespace sorrel::symbols {
namespace {

using Bytes = std::vector<std::byte>;

void append(Bytes& bytes, std::initializer_list<int> values) {
  for (const int value : values)
    bytes.push_back(static_cast<std::byte>(value));
}

template <class Number>
void append_number(Bytes& bytes, Number number) {
  const auto* begin = reinterpret_cast<const std::byte*>(&number);
  bytes.insert(bytes.end(), begin, begin + sizeof number);
}

void append_text(Bytes& bytes, const std::string& text) {
  for (const char letter : text)
    bytes.push_back(static_cast<std::byte>(letter));
  bytes.push_back(std::byte{0});
}

/// The part of a header between its length and its names: instructions of 1 byte, line base -5,
/// line range 14, and no standard opcode above fixed_advance_pc.
void append_parameters(Bytes& header, int version) {
  append(header, {1});
  if (version >= 4) append(header, {1});
  append(header, {1, -5, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1});
}

/// Line 10 of file `file` at 0x1000, line 12 at 0x1004, to 0x1010.
Bytes program_of(int file, std::uint64_t begin = 0x1000) {
  Bytes program;
  append(program, {0, 9, 2});
  append_number(program, begin);
  append(program, {4, file, 3, 9, 1});
  // Special opcode: advances 4 addresses and 2 lines.
  append(program, {10 + 4 * 14 + (2 + 5)});
  append(program, {2, 12, 0, 1, 1});
  return program;
}

Bytes unit_of(int version, const Bytes& names, const Bytes& program) {
  Bytes header;
  append_parameters(header, version);
  header.insert(header.end(), names.begin(), names.end());
  Bytes rest;
  append_number(rest, static_cast<std::uint16_t>(version));
  if (version >= 5) append(rest, {8, 0});
  append_number(rest, static_cast<std::uint32_t>(header.size()));
  rest.insert(rest.end(), header.begin(), header.end());
  rest.insert(rest.end(), program.begin(), program.end());
  Bytes unit;
  append_number(unit, static_cast<std::uint32_t>(rest.size()));
  unit.insert(unit.end(), rest.begin(), rest.end());
  return unit;
}

Bytes names_of_4() {
  Bytes names;
  append_text(names, "/usr/include");
  append_text(names, "");
  append_text(names, "first.c");
  append(names, {0, 0, 0});
  append_text(names, "sub/second.c");
  append(names, {1, 0, 0});
  append_text(names, "");
  return names;
}

/// Files: path by reference to .debug_line_str, folder, and a checksum.
Bytes names_of_5(std::uint32_t first, std::uint32_t second) {
  Bytes names;
  append(names, {1, 1, 0x08, 1});
  append_text(names, "/home/somewhere");
  append(names, {3, 1, 0x1f, 2, 0x0b, 5, 0x1e, 2});
  for (const std::uint32_t path : {first, second}) {
    append_number(names, path);
    append(names, {0});
    for (int i = 0; i < 16; ++i)
      append(names, {i});
  }
  return names;
}

LineQuery ask(const LineSections& sections, std::uint64_t address) {
  LineQuery query{.address = address};
  find_lines(sections, {&query, 1});
  return query;
}

void expect_lines(const LineSections& sections, const char* file) {
  for (const auto& [address, line] : {std::pair<std::uint64_t, std::uint64_t>{0x1000, 10},
                                      {0x1003, 10},
                                      {0x1004, 12},
                                      {0x100f, 12}}) {
    const LineQuery found = ask(sections, address);
    ASSERT_NE(found.file, nullptr) << address;
    EXPECT_STREQ(found.file, file);
    EXPECT_EQ(found.line, line) << address;
  }
  EXPECT_EQ(ask(sections, 0xfff).file, nullptr);
  EXPECT_EQ(ask(sections, 0x1010).file, nullptr);
}

TEST(LineTable, FindsLinesOfVersions2To4) {
  for (const int version : {2, 3, 4}) {
    const Bytes unit = unit_of(version, names_of_4(), program_of(2));
    expect_lines({.lines = unit, .line_strings = {}, .strings = {}}, "second.c");
  }
}

TEST(LineTable, FindsLinesOfVersion5) {
  Bytes texts;
  append_text(texts, "zero.c");
  append_text(texts, "/a/b/one.c");
  const Bytes unit = unit_of(5, names_of_5(0, 7), program_of(1));
  expect_lines({.lines = unit, .line_strings = texts, .strings = {}}, "one.c");
}

TEST(LineTable, LooksThroughAllUnits) {
  Bytes units = unit_of(4, names_of_4(), program_of(1, 0x9000));
  const Bytes second = unit_of(4, names_of_4(), program_of(2));
  units.insert(units.end(), second.begin(), second.end());
  const LineSections sections{.lines = units, .line_strings = {}, .strings = {}};
  expect_lines(sections, "second.c");
  EXPECT_STREQ(ask(sections, 0x9004).file, "first.c");
}

TEST(LineTable, CodeThatTheLinkerHasDroppedIsNotThere) {
  const Bytes unit = unit_of(4, names_of_4(), program_of(1, 0));
  EXPECT_EQ(ask({.lines = unit, .line_strings = {}, .strings = {}}, 2).file, nullptr);
}

TEST(LineTable, AnswersWhateverTheBytesAre) {
  Bytes texts;
  append_text(texts, "zero.c");
  Prng random(1);
  const auto any = [&](std::size_t below) { return static_cast<std::size_t>(random.below(below)); };
  for (int version : {3, 4, 5}) {
    const Bytes names = version == 5 ? names_of_5(0, 7) : names_of_4();
    const Bytes whole = unit_of(version, names, program_of(1));
    for (std::size_t length = 0; length < whole.size(); ++length)
      (void)ask({.lines = std::span<const std::byte>(whole).first(length),
                 .line_strings = texts,
                 .strings = {}},
                0x1004);
    for (int round = 0; round < 20'000; ++round) {
      Bytes damaged = whole;
      for (std::size_t i = any(4) + 1; i > 0; --i)
        damaged[any(damaged.size())] = static_cast<std::byte>(any(256));
      const LineQuery found =
          ask({.lines = damaged, .line_strings = texts, .strings = {}}, 0x1000 + any(16));
      EXPECT_TRUE(found.file == nullptr || std::strlen(found.file) < whole.size());
    }
  }
}

TEST(SymbolFile, KnowsTheFunctionsAndLinesOfThisProgram) {
  const SymbolFile file("/proc/self/exe");
  ASSERT_TRUE(file.is_open());
  EXPECT_FALSE(SymbolFile("/proc/self/exe/no").is_open());
  EXPECT_FALSE(SymbolFile("/proc").is_open());
  EXPECT_FALSE(SymbolFile("/proc/self/stat").is_open());
  EXPECT_FALSE(file.section(".text").empty());
  EXPECT_TRUE(file.section(".bss").empty());
  EXPECT_TRUE(file.section(".none").empty());
  EXPECT_EQ(file.function_at(1), nullptr);
}

}  // namespace
}  // namespace sorrel::symbols
