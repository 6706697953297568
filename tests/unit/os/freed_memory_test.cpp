#include "os/freed_memory.hpp"

#include <gtest/gtest.h>
#include <map>
#include <string>

namespace sorrel::os {
namespace {

bool is_set(const std::map<std::string, std::string>& environment) {
  return has_allocator_setting([&](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

TEST(FreedMemoryTest, WhatTheUserHasSetHolds) {
  EXPECT_FALSE(is_set({}));
  EXPECT_FALSE(is_set({{"GLIBC_TUNABLES", "glibc.rtld.nns=5"}, {"MALLOC_PERTURB_", "1"}}));
  EXPECT_TRUE(is_set({{"GLIBC_TUNABLES", "glibc.rtld.nns=5:glibc.malloc.top_pad=1"}}));
  EXPECT_TRUE(is_set({{"MALLOC_TRIM_THRESHOLD_", "131072"}}));
  EXPECT_TRUE(is_set({{"MALLOC_MMAP_THRESHOLD_", "131072"}}));
  EXPECT_TRUE(is_set({{"MALLOC_TOP_PAD_", "0"}}));
  EXPECT_TRUE(is_set({{"MALLOC_MMAP_MAX_", "0"}}));
}

}  // namespace
}  // namespace sorrel::os
