#include "os/elf_file.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "unit/base/temporary_folder.hpp"

namespace sorrel::os {
namespace {

const std::string subjects = SORREL_SUBJECTS;

ElfFile open_good(const std::string& path) {
  auto opened = ElfFile::open(path);
  if (auto* error = std::get_if<ElfError>(&opened)) ADD_FAILURE() << path << ": " << error->detail;
  return std::get<ElfFile>(std::move(opened));
}

std::optional<ElfErrorKind> error_kind_of(const std::string& path) {
  auto opened = ElfFile::open(path);
  if (auto* error = std::get_if<ElfError>(&opened)) return error->kind;
  return std::nullopt;
}

std::vector<std::string> symbols_of(const ElfFile& elf, bool defined) {
  std::vector<std::string> names;
  elf.for_each_symbol([&](const ElfSymbol& symbol) {
    if (symbol.is_defined == defined) names.emplace_back(symbol.name);
  });
  return names;
}

bool holds(const std::vector<std::string>& names, const std::string& wanted) {
  return std::find(names.begin(), names.end(), wanted) != names.end();
}

TEST(ElfFile, APositionIndependentExecutableIsToldWithWhatItNeeds) {
  const ElfFile elf = open_good(subjects + "/program");
  EXPECT_EQ(elf.kind, ElfKind::executable_pie);
  EXPECT_FALSE(elf.is_static());
  EXPECT_FALSE(elf.has_tls);
  EXPECT_NE(std::find(elf.needed.begin(), elf.needed.end(), "libmpi_abi.so.1"), elf.needed.end());
  const auto undefined = symbols_of(elf, false);
  EXPECT_TRUE(holds(undefined, "MPI_Init"));
  EXPECT_TRUE(holds(undefined, "MPI_Finalize"));
  EXPECT_FALSE(holds(undefined, "MPI_Imaginary"));
}

TEST(ElfFile, TextIsFoundWhereverItIs) {
  const ElfFile elf = open_good(subjects + "/program");
  EXPECT_TRUE(elf.contains("MPI_Finalize"));
  EXPECT_TRUE(
      elf.contains("\x7f"
                   "ELF"));
  EXPECT_FALSE(elf.contains("MPI_Imaginary"));
}

TEST(ElfFile, WritableGlobalsAreCountedWithoutWhatIsReadOnlyAfterRelocation) {
  const ElfFile elf = open_good(subjects + "/program");
  EXPECT_GE(elf.data_bytes, sizeof(int));
  EXPECT_LT(elf.data_bytes, 4096u);
  EXPECT_GE(elf.bss_bytes, 100000u);
  EXPECT_LT(elf.bss_bytes, 104096u);
}

TEST(ElfFile, ThreadLocalsShow) {
  const ElfFile elf = open_good(subjects + "/with_tls");
  EXPECT_TRUE(elf.has_tls);
  EXPECT_EQ(elf.tls_bytes, sizeof(int));
}

TEST(ElfFile, AnExecutableForAFixedAddressIsToldApart) {
  const ElfFile elf = open_good(subjects + "/fixed");
  EXPECT_EQ(elf.kind, ElfKind::executable_fixed);
  EXPECT_FALSE(elf.is_static());
}

TEST(ElfFile, AStaticExecutableIsToldApart) {
  EXPECT_TRUE(open_good(subjects + "/static").is_static());
}

TEST(ElfFile, ASharedLibraryTellsItsNameAndWhatItDefines) {
  const ElfFile elf = open_good(subjects + "/lib/libbetween.so.1");
  EXPECT_EQ(elf.kind, ElfKind::shared_library);
  EXPECT_EQ(elf.soname, "libbetween.so.1");
  EXPECT_TRUE(holds(symbols_of(elf, true), "library_function"));
  EXPECT_TRUE(holds(symbols_of(elf, false), "MPI_Imaginary"));
}

TEST(ElfFile, OldAndNewRunPathsAreToldApart) {
  const ElfFile elf = open_good(subjects + "/other_rpath");
  EXPECT_NE(elf.rpath, "");
  EXPECT_EQ(elf.runpath, "");
}

TEST(ElfFile, WhatIsNoProgramIsNamed) {
  EXPECT_EQ(error_kind_of(subjects + "/nothing"), ElfErrorKind::cannot_open);
  EXPECT_EQ(error_kind_of(subjects + "/folder"), ElfErrorKind::not_a_file);
  EXPECT_EQ(error_kind_of("/dev/null"), ElfErrorKind::not_a_file);
  EXPECT_EQ(error_kind_of(subjects + "/script"), ElfErrorKind::script);
  EXPECT_EQ(error_kind_of(subjects + "/text"), ElfErrorKind::not_elf);
  EXPECT_EQ(error_kind_of(subjects + "/empty"), ElfErrorKind::not_elf);
  EXPECT_EQ(error_kind_of(subjects + "/truncated"), ElfErrorKind::damaged);
  EXPECT_EQ(error_kind_of(subjects + "/other_architecture"), ElfErrorKind::other_architecture);
}

TEST(ElfFile, DamagedFilesAreErrorsOrReadingsButNeverCrashes) {
  const char* given = std::getenv("SORREL_SEED");
  const unsigned seed =
      given != nullptr ? static_cast<unsigned>(std::atoi(given)) : std::random_device{}();
  SCOPED_TRACE("SORREL_SEED=" + std::to_string(seed));
  std::mt19937 random(seed);
  std::ifstream file(subjects + "/program", std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(file), {}};
  const TemporaryFolder folder;
  for (int round = 0; round < 300; ++round) {
    std::string bad = good;
    // These offsets hit the headers, the dynamic section and the symbols.
    for (int change = 0; change < 8; ++change) {
      const std::size_t reach = change % 2 == 0 ? 1024 : bad.size();
      bad[16 + random() % (reach - 16)] = static_cast<char>(random());
    }
    if (round % 3 == 0) bad.resize(random() % bad.size());
    const std::string path = folder.path() + "/damaged";
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bad;
    auto opened = ElfFile::open(path);
    if (const auto* elf = std::get_if<ElfFile>(&opened)) {
      std::size_t letters = elf->interpreter.size() + elf->soname.size();
      elf->for_each_symbol([&](const ElfSymbol& symbol) { letters += symbol.name.size(); });
      EXPECT_LT(letters, std::size_t{1} << 40);
    }
  }
}

}  // namespace
}  // namespace sorrel::os
