#include "tools/sorrel/env/shell_settings.hpp"

#include <gtest/gtest.h>
#include <map>

namespace sorrel::tool {
namespace {

TEST(ShellSettingsTest, FoldersOfOtherMpisComeLater) {
  const FolderVariable path{.name = "PATH", .first = {"/s/bin/mpi"}, .present = {"/s/bin"}};
  EXPECT_EQ(value_with(path, "/usr/bin:/bin"), "/s/bin/mpi:/s/bin:/usr/bin:/bin");
  EXPECT_EQ(value_with(path, "/usr/bin:/s/bin"), "/s/bin/mpi:/usr/bin:/s/bin");
  EXPECT_EQ(value_with(path, "/o/bin:/s/bin/mpi:/s/bin"), "/s/bin/mpi:/o/bin:/s/bin");
  EXPECT_EQ(value_with(path, "/s/bin/mpi:/s/bin"), "/s/bin/mpi:/s/bin");
  EXPECT_EQ(value_with(path, nullptr), "/s/bin/mpi:/s/bin");
}

TEST(ShellSettingsTest, TheFoldersThatManKnowsStay) {
  const FolderVariable pages{.name = "MANPATH", .present = {"/s/man"}};
  EXPECT_EQ(value_with(pages, nullptr), "/s/man:");
  EXPECT_EQ(value_with(pages, "/a"), "/s/man:/a");
}

TEST(ShellSettingsTest, EachShellHasItsCommandsAndNothingIsSaidTwice) {
  const std::vector<FolderVariable> variables = {
      {.name = "PATH", .first = {"/it's/mpi"}}, {.name = "CMAKE_PREFIX_PATH", .present = {"/a b"}}};
  const std::map<std::string, std::string> set = {{"PATH", "/bin"}};
  const auto lookup = [&](const char* name) {
    const auto found = set.find(name);
    return found == set.end() ? nullptr : found->second.c_str();
  };
  EXPECT_EQ(shell_settings(variables, Shell::posix, lookup),
            "export PATH='/it'\\''s/mpi:/bin'\nexport CMAKE_PREFIX_PATH='/a b'\n");
  EXPECT_EQ(shell_settings(variables, Shell::fish, lookup),
            "set -gx PATH '/it'\\''s/mpi' '/bin'\nset -gx CMAKE_PREFIX_PATH '/a b'\n");
  EXPECT_EQ(shell_settings(variables, Shell::csh, lookup),
            "setenv PATH '/it'\\''s/mpi:/bin';\nsetenv CMAKE_PREFIX_PATH '/a b';\n");
  const auto done = [](const char* name) { return *name == 'P' ? "/it's/mpi" : "/a b"; };
  EXPECT_EQ(shell_settings(variables, Shell::posix, done), "");
}

}  // namespace
}  // namespace sorrel::tool
