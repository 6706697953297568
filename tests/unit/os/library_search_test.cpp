// Goal: the loader's cache is read, and a damaged one does no harm; folders are searched as the
// loader does. Method: generated caches, complete, truncated and with random bytes; folders with
// files of this machine and of another one.
#include "os/library_search.hpp"

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <unistd.h>
#include <variant>
#include <vector>

namespace sorrel::os {
namespace {

#if defined(__aarch64__)
constexpr std::int32_t kind_here = 0x0a03;
#else
constexpr std::int32_t kind_here = 0x0303;
#endif

struct Entry {
  std::string name;
  std::string path;
  std::int32_t kind = kind_here;
  std::uint64_t hardware = 0;
};

template <class T>
void append(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string cache_of(const std::vector<Entry>& entries) {
  std::string header = "glibc-ld.so.cache1.1";
  append(header, static_cast<std::uint32_t>(entries.size()));
  header.resize(48);
  const std::size_t texts_begin = header.size() + entries.size() * 24;
  std::string texts;
  const auto place = [&](const std::string& text) {
    const auto offset = static_cast<std::uint32_t>(texts_begin + texts.size());
    texts += text + '\0';
    return offset;
  };
  for (const Entry& entry : entries) {
    append(header, entry.kind);
    append(header, place(entry.name));
    append(header, place(entry.path));
    append(header, std::uint32_t{0});
    append(header, entry.hardware);
  }
  return header + texts;
}

TEST(LibrarySearch, TheCacheIsAskedByNameAndArchitecture) {
  const std::string cache = cache_of({{"liba.so.1", "/old/liba.so.1", 0x0003},
                                      {"liba.so.1", "/newer/liba.so.1", kind_here, 3},
                                      {"liba.so.1", "/opt/liba.so.1"},
                                      {"libb.so.1", "/opt/libb.so.1"}});
  EXPECT_EQ(find_in_cache("liba.so.1", cache), "/opt/liba.so.1");
  EXPECT_EQ(find_in_cache("libb.so.1", cache), "/opt/libb.so.1");
  EXPECT_EQ(find_in_cache("libc.so.1", cache), "");
  EXPECT_EQ(find_in_cache("liba.so.1", ""), "");
  EXPECT_EQ(find_in_cache("liba.so.1", "ld.so-1.7.0" + cache), "");
}

TEST(LibrarySearch, ADamagedCacheDoesNoHarm) {
  const std::string whole = cache_of({{"liba.so.1", "/opt/liba.so.1"}});
  std::mt19937 random(17);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    (void)find_in_cache("liba.so.1", whole.substr(0, size));
    std::string damaged = whole;
    damaged[size] = static_cast<char>(random());
    (void)find_in_cache("liba.so.1", damaged);
  }
}

TEST(LibrarySearch, ListsAreSplitAndEmptyPartsLeftOut) {
  EXPECT_EQ(split_path("a::b:"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(split_path("a,b", ','), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(split_path("").empty());
}

TEST(LibrarySearch, AnEmptyPartOfTheSearchPathIsTheWorkingDirectory) {
  using Folders = std::vector<std::string>;
  EXPECT_EQ(search_with("/a::/b").before_runpath, (Folders{"/a", ".", "/b"}));
  EXPECT_EQ(search_with(":/b").before_runpath, (Folders{".", "/b"}));
  EXPECT_EQ(search_with("/a;/b:").before_runpath, (Folders{"/a", "/b", "."}));
  EXPECT_TRUE(search_with("").before_runpath.empty());
  EXPECT_TRUE(search_with(nullptr).before_runpath.empty());
}

TEST(LibrarySearch, FilesForAnotherMachineArePassedOver) {
  namespace fs = std::filesystem;
  const std::string needer_path = std::string(SORREL_SUBJECTS) + "/program";
  const auto opened = ElfFile::open(needer_path);
  const auto* needer = std::get_if<ElfFile>(&opened);
  ASSERT_NE(needer, nullptr);
  const fs::path root = fs::temp_directory_path() / ("library_search_" + std::to_string(getpid()));
  for (const char* folder : {"other", "here", "text"})
    fs::create_directories(root / folder);
  fs::copy_file(std::string(SORREL_SUBJECTS) + "/other_architecture", root / "other/libx.so");
  fs::copy_file(needer_path, root / "here/libx.so");
  std::ofstream(root / "text/libx.so") << "no library";
  const auto find = [&](const char* first, const char* second, OtherMachines others) {
    const std::string path = (root / first).string() + ":" + (root / second).string();
    return find_library("libx.so", *needer, needer_path, search_with(path.c_str()), others);
  };
  EXPECT_EQ(find("other", "here", OtherMachines::pass_over), root / "here/libx.so");
  EXPECT_EQ(find("other", "here", OtherMachines::accept), root / "other/libx.so");
  EXPECT_EQ(find("other", "other", OtherMachines::pass_over), "");
  // The loader ends with an error at a file that is no library.
  EXPECT_EQ(find("text", "here", OtherMachines::pass_over), root / "text/libx.so");
  fs::remove_all(root);
}

}  // namespace
}  // namespace sorrel::os
