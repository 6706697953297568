#include "os/find_object.hpp"

#include <gtest/gtest.h>

namespace sorrel::os {
namespace {

void expect_same(void* address) {
  dl_find_object expected{};
  dl_find_object found{};
  ASSERT_EQ(_dl_find_object(address, &expected), 0);
  ASSERT_EQ(sorrel_find_object(address, &found, &dl_iterate_phdr), 0);
  EXPECT_EQ(found.dlfo_map_start, expected.dlfo_map_start);
  EXPECT_GE(found.dlfo_map_end, address);
  EXPECT_EQ(found.dlfo_link_map, expected.dlfo_link_map);
  EXPECT_EQ(found.dlfo_eh_frame, expected.dlfo_eh_frame);
}

TEST(FindObjectTest, TheExecutableIsFoundAsByTheLoader) {
  expect_same(reinterpret_cast<void*>(&expect_same));
}

TEST(FindObjectTest, ALibraryIsFoundAsByTheLoader) {
  expect_same(dlsym(RTLD_NEXT, "qsort"));
}

TEST(FindObjectTest, AnAddressOfNoFileIsNotFound) {
  dl_find_object found{};
  int local = 0;
  EXPECT_EQ(sorrel_find_object(&local, &found, &dl_iterate_phdr), -1);
  EXPECT_EQ(sorrel_find_object(nullptr, &found, &dl_iterate_phdr), -1);
}

}  // namespace
}  // namespace sorrel::os
