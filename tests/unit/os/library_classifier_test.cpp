// Goal: which libraries ranks share, which are private to a rank, and when there is no such choice.
// Method: files of the test subjects under other names, with changed dependencies and properties.
// Does not cover what the files themselves tell (library_state_test, elf_file_test).
#include "os/library_classifier.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "os/library_search.hpp"

namespace sorrel::os {
namespace {

using Names = std::vector<std::string>;

ElfFile subject(const std::string& name) {
  auto opened = ElfFile::open(SORREL_SUBJECTS "/" + name);
  auto* file = std::get_if<ElfFile>(&opened);
  if (file == nullptr) ADD_FAILURE() << name << ": " << std::get<ElfError>(opened).detail;
  return std::move(*file);
}

ElfFile with_state(std::vector<std::string_view> needed = {}) {
  ElfFile file = subject("lib/libkeeps_much.so.1");
  file.needed = std::move(needed);
  return file;
}

ElfFile without_state(std::vector<std::string_view> needed = {}) {
  ElfFile file = subject("lib/libkeeps_nothing.so.1");
  file.needed = std::move(needed);
  return file;
}

class Classification {
 public:
  explicit Classification(Names declared = {})
      : declared_(std::move(declared)), classifier_(declared_) {
    classifier_.add_program("app", subject("with_data"));
  }

  /// A library that the program needs, or only another library.
  void add(const std::string& name, const ElfFile& file, bool is_first = true) {
    classifier_.add_library(name, file);
    list(name, is_first);
  }

  /// A library that is known by its name.
  void list(const std::string& name, bool is_first = true) {
    if (is_first) first_.push_back(name);
    libraries_.push_back({name, "/lib/" + name, true, ""});
  }

  std::string run() { return classifier_.classify(first_, libraries_); }

  std::string run_with_private(Names requested = {}) {
    requested_ = std::move(requested);
    classifier_.allow_private(requested_);
    return run();
  }

  [[nodiscard]] const NeededLibrary& library(const std::string& name) const {
    return *std::ranges::find(libraries_, name, &NeededLibrary::name);
  }

  [[nodiscard]] bool is_shared(const std::string& name) const { return library(name).is_shared; }

  LibraryClassifier& classifier() { return classifier_; }

 private:
  Names declared_;
  Names requested_;
  LibraryClassifier classifier_;
  Names first_;
  std::vector<NeededLibrary> libraries_;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

#if defined(__x86_64__)
TEST(LibraryClassifier, LibrariesWithoutStateAreShared) {
  Classification all;
  all.add("liba.so", without_state());
  all.list("libc.so.6");
  EXPECT_EQ(all.run_with_private(), "");
  EXPECT_TRUE(all.is_shared("liba.so"));
  EXPECT_EQ(all.library("liba.so").reason, "no writable data");
  EXPECT_TRUE(all.is_shared("libc.so.6"));
  EXPECT_TRUE(all.classifier().private_libraries().empty());
}

TEST(LibraryClassifier, WhatNeedsAPrivateLibraryIsPrivate) {
  Classification all;
  all.add("libtop.so", without_state({"libmiddle.so"}));
  all.add("libmiddle.so", without_state({"libstate.so"}), false);
  all.add("libstate.so", with_state({"libbelow.so"}), false);
  all.add("libbelow.so", without_state(), false);
  EXPECT_EQ(all.run_with_private(), "");
  EXPECT_EQ(all.classifier().private_libraries(),
            (Names{"libmiddle.so", "libstate.so", "libtop.so"}));
  EXPECT_EQ(all.library("libtop.so").reason, "it needs libmiddle.so, which is private");
  EXPECT_TRUE(all.is_shared("libbelow.so"));
}

TEST(LibraryClassifier, OnRequestALibraryWithoutStateIsPrivate) {
  Classification all;
  all.add("liba.so", without_state());
  EXPECT_EQ(all.run_with_private({"/opt/lib/liba.so"}), "");
  EXPECT_EQ(all.library("liba.so").reason, "requested by --private");
}

TEST(LibraryClassifier, WhatIsPrivateAlreadyDecidesForWhatNeedsIt) {
  Classification all;
  all.add("libplugin.so", without_state({"libloaded.so"}));
  all.classifier().set_private("libloaded.so");
  EXPECT_EQ(all.run_with_private(), "");
  EXPECT_FALSE(all.is_shared("libplugin.so"));
}
#endif

TEST(LibraryClassifier, StateNeedsAPrivateLibraryOrAProcess) {
  Classification in_processes;
  in_processes.add("liba.so", with_state());
  EXPECT_TRUE(contains(in_processes.run(), "liba.so has writable data"));
  EXPECT_FALSE(in_processes.is_shared("liba.so"));
  EXPECT_EQ(in_processes.classifier().callback_reason(), "");
  Classification in_one_process;
  in_one_process.add("liba.so", with_state());
  EXPECT_EQ(in_one_process.run_with_private(), "");
  EXPECT_EQ(in_one_process.classifier().private_libraries(), Names{"liba.so"});
  EXPECT_TRUE(contains(in_one_process.library("liba.so").reason, " bytes of writable data"));
}

TEST(LibraryClassifier, SeveralLibrariesAreCounted) {
  Classification all;
  for (const char* name : {"liba.so", "libb.so", "libc1.so"})
    all.add(name, with_state());
  EXPECT_TRUE(contains(all.run(), "liba.so and 2 other libraries have writable data"));
}

TEST(LibraryClassifier, DeclaredLibrariesAreSharedWithWhatOnlyTheyNeed) {
  Classification all({"libtop.so"});
  all.add("libtop.so", with_state({"libbelow.so"}));
  all.add("libbelow.so", with_state(), false);
  EXPECT_EQ(all.run_with_private(), "");
  EXPECT_TRUE(all.is_shared("libtop.so"));
  EXPECT_TRUE(all.is_shared("libbelow.so"));
}

TEST(LibraryClassifier, ADeclaredLibraryCannotNeedAPrivateOne) {
  Classification all({"libtop.so"});
  all.add("libtop.so", with_state({"libbelow.so"}));
  all.add("libbelow.so", with_state());
  EXPECT_TRUE(contains(all.run_with_private(), "libtop.so, which ranks share, needs libbelow.so"));
  EXPECT_TRUE(all.classifier().private_libraries().empty());
}

TEST(LibraryClassifier, WhatCannotBePrivateIsNamed) {
  Classification text;
  ElfFile file = with_state();
  file.has_text_relocations = true;
  text.add("liba.so", file);
  EXPECT_TRUE(contains(text.run_with_private(), "liba.so has text relocations"));
  EXPECT_TRUE(text.classifier().private_libraries().empty());
  Classification first;
  file.has_text_relocations = false;
  file.is_initialised_first = true;
  first.add("liba.so", file);
  EXPECT_TRUE(contains(first.run_with_private(), "liba.so is initialised before all other"));
}

TEST(LibraryClassifier, TheCxxLibraryIsPrivateUnlessASharedLibraryNeedsIt) {
  Classification own;
  own.list("libstdc++.so.6");
  EXPECT_EQ(own.run_with_private(), "");
  EXPECT_EQ(own.classifier().private_libraries(), Names{"libstdc++.so.6"});
  Classification shared({"liba.so"});
  shared.add("liba.so", with_state({"libstdc++.so.6"}));
  shared.list("libstdc++.so.6");
  EXPECT_EQ(shared.run_with_private(), "");
  EXPECT_TRUE(shared.is_shared("libstdc++.so.6"));
}

TEST(LibraryClassifier, ALibraryOfTheWholeProcessForbidsPrivateOnes) {
  Classification all;
  all.add("liba.so", with_state());
  all.list("libasan.so.8");
  EXPECT_TRUE(contains(all.run_with_private(), "liba.so has writable data"));
}

// The C library stands for a program that has variables of a process, and what libraries use.
TEST(LibraryClassifier, ProgramsThatLibrariesCallAreFound) {
  const auto search = search_with(nullptr);
  const auto opened =
      ElfFile::open(find_library("libc.so.6", subject("with_data"), SORREL_SUBJECTS, search));
  const auto* program = std::get_if<ElfFile>(&opened);
  if (program == nullptr) GTEST_SKIP() << "the C library's file was not found";
  const Names none;
  LibraryClassifier classifier(none);
  classifier.add_program("app", *program);
  classifier.add_library("liba.so", with_state());
  const Names first{"liba.so"};
  std::vector<NeededLibrary> libraries{{"liba.so", "/lib/liba.so", true, ""}};
  EXPECT_TRUE(contains(classifier.classify(first, libraries), "which the C library keeps once"));
  EXPECT_TRUE(contains(classifier.callback_reason(), "of which each rank of one process has its"));
  EXPECT_FALSE(libraries.front().is_shared);
}

}  // namespace
}  // namespace sorrel::os
