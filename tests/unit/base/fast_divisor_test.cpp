#include "base/fast_divisor.hpp"

#include <gtest/gtest.h>
#include <limits>

#include "base/prng.hpp"

namespace sorrel {
namespace {

constexpr std::uint64_t largest = std::numeric_limits<std::uint32_t>::max();

TEST(FastDivisorTest, AgreesWithDivisionAroundEveryMultiple) {
  for (const std::uint32_t divisor : {1U, 2U, 3U, 7U, 64U, 97U, 1000U, 65'537U, 0x7fff'ffffU}) {
    const FastDivisor fast(divisor);
    for (std::uint64_t k = 0; k < 1000; ++k) {
      for (const std::uint64_t value : {k * divisor, k * divisor + 1, k * divisor + divisor - 1})
        ASSERT_EQ(fast.quotient_of(value), value / divisor) << value << " / " << divisor;
    }
    for (const std::uint64_t value :
         {largest, largest - 1, largest + 1, 4 * largest, ~std::uint64_t{0}})
      ASSERT_EQ(fast.quotient_of(value), value / divisor) << value << " / " << divisor;
  }
}

TEST(FastDivisorTest, AgreesWithDivisionAnywhere) {
  Prng prng(1);
  for (int i = 0; i < 100'000; ++i) {
    const auto divisor = static_cast<std::uint32_t>(1 + prng.below(largest));
    const std::uint64_t value = prng.next() >> prng.below(64);
    ASSERT_EQ(FastDivisor(divisor).quotient_of(value), value / divisor)
        << value << " / " << divisor;
  }
}

}  // namespace
}  // namespace sorrel
