#include "os/elf_file.hpp"

#include <algorithm>
#include <cstdlib>
#include <elf.h>
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
  EXPECT_TRUE(elf.defines_function("main"));
  EXPECT_FALSE(elf.defines_function("mai"));
  EXPECT_FALSE(elf.defines_function("MPI_Finalize")) << "it is imported";
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

/// The file with its names moved behind everything else, into a segment of their own, as patchelf
/// and auditwheel move them. Its first note makes room for the segment.
std::string with_moved_names(std::string bytes) {
  const auto header_at = [&](std::size_t index) {
    const auto* file = reinterpret_cast<const Elf64_Ehdr*>(bytes.data());
    return reinterpret_cast<Elf64_Phdr*>(bytes.data() + file->e_phoff) + index;
  };
  const std::size_t count = reinterpret_cast<const Elf64_Ehdr*>(bytes.data())->e_phnum;
  Elf64_Phdr* note = nullptr;
  const Elf64_Phdr* dynamic = nullptr;
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < count; ++i) {
    Elf64_Phdr* header = header_at(i);
    if (header->p_type == PT_NOTE && note == nullptr) note = header;
    if (header->p_type == PT_DYNAMIC) dynamic = header;
    if (header->p_type == PT_LOAD) end = std::max(end, header->p_vaddr + header->p_memsz);
  }
  if (note == nullptr || dynamic == nullptr) return "";
  auto* entries = reinterpret_cast<Elf64_Dyn*>(bytes.data() + dynamic->p_offset);
  Elf64_Dyn* strings = nullptr;
  std::uint64_t size = 0;
  for (Elf64_Dyn* entry = entries; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_STRTAB) strings = entry;
    if (entry->d_tag == DT_STRSZ) size = entry->d_un.d_val;
  }
  if (strings == nullptr) return "";
  // The names are in the first segment, where addresses are offsets.
  const std::string names = bytes.substr(strings->d_un.d_ptr, size);
  const std::uint64_t address = (end + 4095) / 4096 * 4096;
  const std::uint64_t offset = (bytes.size() + 4095) / 4096 * 4096;
  *note = {.p_type = PT_LOAD,
           .p_flags = PF_R,
           .p_offset = offset,
           .p_vaddr = address,
           .p_paddr = address,
           .p_filesz = size,
           .p_memsz = size,
           .p_align = 4096};
  strings->d_un.d_ptr = address;
  bytes.resize(offset);
  return bytes + names;
}

TEST(ElfFile, SymbolsAreTheSameWhereverTheirNamesLie) {
  const TemporaryFolder folder;
  for (const char* name : {"/lib/libbetween.so.1", "/program", "/without_mpi", "/own_new"}) {
    SCOPED_TRACE(name);
    std::ifstream file(subjects + name, std::ios::binary);
    const std::string moved = with_moved_names({std::istreambuf_iterator<char>(file), {}});
    ASSERT_NE(moved, "");
    const std::string path = folder.path() + "/moved";
    std::ofstream(path, std::ios::binary | std::ios::trunc) << moved;
    const ElfFile before = open_good(subjects + name);
    const ElfFile after = open_good(path);
    EXPECT_EQ(after.soname, before.soname);
    for (const bool is_defined : {false, true})
      EXPECT_EQ(symbols_of(after, is_defined), symbols_of(before, is_defined));
    EXPECT_FALSE(symbols_of(after, false).empty());
  }
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
