#include "base/hash.hpp"

#include <gtest/gtest.h>

namespace sorrel {
namespace {

// The authors' test values.
TEST(HashTest, GivesThePublishedValues) {
  EXPECT_EQ(hash_of(""), 0xcbf29ce484222325U);
  EXPECT_EQ(hash_of("a"), 0xaf63dc4c8601ec8cU);
  EXPECT_EQ(hash_of("foobar"), 0x85944171f73967e8U);
}

TEST(HashTest, GoesOnFromTheHashOfATextBefore) {
  EXPECT_EQ(hash_of("bar", hash_of("foo")), hash_of("foobar"));
}

}  // namespace
}  // namespace sorrel
