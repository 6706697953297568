#include "base/crc32c.hpp"

#include <array>
#include <cstddef>
#include <gtest/gtest.h>
#include <numeric>
#include <string_view>
#include <vector>

namespace sorrel {
namespace {

using Check = std::uint32_t (*)(const void*, std::size_t, std::uint32_t);

class Crc32cTest : public testing::TestWithParam<Check> {};

TEST_P(Crc32cTest, AgreesWithTheStandard) {
  // RFC 3720, B.4, and the usual check value.
  std::array<unsigned char, 32> bytes{};
  EXPECT_EQ(GetParam()(bytes.data(), bytes.size(), 0), 0x8a9136aaU);
  bytes.fill(0xff);
  EXPECT_EQ(GetParam()(bytes.data(), bytes.size(), 0), 0x62a8ab43U);
  std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(0));
  EXPECT_EQ(GetParam()(bytes.data(), bytes.size(), 0), 0x46dd794eU);
  const std::string_view digits = "123456789";
  EXPECT_EQ(GetParam()(digits.data(), digits.size(), 0), 0xe3069283U);
  EXPECT_EQ(GetParam()(digits.data(), 0, 0), 0U);
}

TEST_P(Crc32cTest, TheCheckOfTwoPartsIsThatOfTheWhole) {
  std::vector<unsigned char> bytes(100);
  std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(7));
  const std::uint32_t whole = GetParam()(bytes.data(), bytes.size(), 0);
  for (std::size_t first = 0; first <= bytes.size(); ++first) {
    const std::uint32_t of_first = GetParam()(bytes.data(), first, 0);
    EXPECT_EQ(GetParam()(bytes.data() + first, bytes.size() - first, of_first), whole) << first;
  }
}

INSTANTIATE_TEST_SUITE_P(BothWays, Crc32cTest, testing::Values(crc32c, crc32c_by_table));

}  // namespace
}  // namespace sorrel
