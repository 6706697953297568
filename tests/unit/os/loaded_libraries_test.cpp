#include "os/loaded_libraries.hpp"

#include <algorithm>
#include <gtest/gtest.h>

namespace sorrel::os {

namespace {

TEST(LoadedLibraries, IncludeTheLibraryOfC) {
  const std::vector<std::string> paths = loaded_libraries();
  const auto is_libc = [](const std::string& path) {
    return path.find("/libc.so.6") != std::string::npos;
  };
  EXPECT_TRUE(std::any_of(paths.begin(), paths.end(), is_libc));
}

TEST(LoadedLibraries, NameWhatTheyNeed) {
  EXPECT_TRUE(is_needed("libc.so.6"));
  EXPECT_FALSE(is_needed("libc.so"));
  EXPECT_FALSE(is_needed("libnothing.so.1"));
}

}  // namespace

}  // namespace sorrel::os
