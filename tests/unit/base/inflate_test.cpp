#include "base/inflate.hpp"

#include <array>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <vector>

namespace sorrel {
namespace {

using Bytes = std::vector<unsigned char>;

// Made by zlib. One block each: stored, with the fixed codes, with codes of its own.
const Bytes stored = {0x78, 0x01, 0x01, 0x04, 0x00, 0xfb, 0xff, 0x68,
                      0x61, 0x6c, 0x6f, 0x04, 0x0e, 0x01, 0xa5};
const Bytes with_fixed_codes = {0x78, 0x01, 0xcb, 0x48, 0xcc, 0xc9, 0x57, 0xc8,
                                0x80, 0x11, 0x00, 0x26, 0xa8, 0x05, 0x2d};
const Bytes with_own_codes = {
    0x78, 0xda, 0x6d, 0xd0, 0x3b, 0x0a, 0x80, 0x30, 0x10, 0x05, 0xc0, 0xab, 0xec, 0x09, 0xc4, 0xcd,
    0x3f, 0x7a, 0x9a, 0x60, 0x63, 0x50, 0x62, 0x88, 0x82, 0xd7, 0x57, 0x61, 0x63, 0xf5, 0xea, 0xe9,
    0xa6, 0xa5, 0xb2, 0xd1, 0x48, 0x77, 0xca, 0xd7, 0x49, 0xb9, 0xd0, 0x9a, 0xf6, 0x63, 0x58, 0x6a,
    0x9d, 0xc6, 0x99, 0xda, 0x67, 0x0c, 0xcc, 0x8b, 0x29, 0x60, 0x6c, 0x04, 0x35, 0x40, 0xc5, 0x82,
    0x06, 0x61, 0x10, 0xb4, 0x00, 0xb5, 0x15, 0x74, 0x00, 0x8d, 0x12, 0xf4, 0x08, 0xa3, 0x60, 0x00,
    0x68, 0x9d, 0x60, 0x04, 0xe8, 0x74, 0x3f, 0x40, 0x41, 0xfe, 0x1f, 0x82, 0x45, 0xfd, 0x88, 0x51,
    0x52, 0xe8, 0x49, 0x8c, 0x96, 0xe2, 0xbb, 0xf4, 0x00, 0xb7, 0x62, 0x84, 0x91};

std::string contents_of_own_codes() {
  std::string text;
  for (int i = 0; i < 14; ++i)
    text += "rank " + std::to_string(i) + " waits in halo.cpp:" + std::to_string(7 * i) + "; ";
  return text;
}

/// "?" if the bytes are refused.
std::string inflated(const Bytes& compressed, std::size_t size) {
  std::string text(size, ' ');
  const bool is_sound =
      inflate(std::as_bytes(std::span(compressed)), std::as_writable_bytes(std::span(text)));
  return is_sound ? text : "?";
}

TEST(Inflate, ReadsBlocksOfEachKind) {
  EXPECT_EQ(inflated(stored, 4), "halo");
  EXPECT_EQ(inflated(with_fixed_codes, 14), "halo halo halo");
  const std::string text = contents_of_own_codes();
  EXPECT_EQ(inflated(with_own_codes, text.size()), text);
}

TEST(Inflate, RefusesAnotherSize) {
  EXPECT_EQ(inflated(stored, 3), "?");
  EXPECT_EQ(inflated(with_fixed_codes, 13), "?");
  EXPECT_EQ(inflated(with_fixed_codes, 15), "?");
}

TEST(Inflate, RefusesAnIncompleteStream) {
  const std::size_t size = contents_of_own_codes().size();
  for (std::size_t bytes = 0; bytes < with_own_codes.size(); ++bytes) {
    const Bytes part(with_own_codes.begin(),
                     with_own_codes.begin() + static_cast<std::ptrdiff_t>(bytes));
    EXPECT_EQ(inflated(part, size), "?") << bytes;
  }
}

TEST(Inflate, RefusesEachWrongBit) {
  const std::string text = contents_of_own_codes();
  for (std::size_t bit = 0; bit < 8 * with_own_codes.size(); ++bit) {
    Bytes damaged = with_own_codes;
    damaged[bit / 8] ^= static_cast<unsigned char>(1U << bit % 8);
    const std::string found = inflated(damaged, text.size());
    // A few bits, such as those that fill the last byte, mean nothing.
    EXPECT_TRUE(found == "?" || found == text) << bit;
  }
}

}  // namespace
}  // namespace sorrel
