#include "base/sha256.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "base/text.hpp"

namespace sorrel {
namespace {

std::string text_of_digest(const Sha256::Digest& digest) {
  std::string text;
  for (const std::uint8_t byte : digest)
    text += text_of("%02x", byte);
  return text;
}

std::string hash_of(const std::string& text, std::size_t part_bytes) {
  Sha256 hash;
  for (std::size_t at = 0; at < text.size(); at += part_bytes)
    hash.add(text.data() + at, std::min(part_bytes, text.size() - at));
  return text_of_digest(hash.finish());
}

// The examples of the standard: none, one and two blocks, and many.
TEST(Sha256Test, IsTheFunctionOfTheStandard) {
  EXPECT_EQ(hash_of("", 1), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hash_of("abc", 3), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hash_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hash_of(std::string(1'000'000, 'a'), 977),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256Test, DoesNotDependOnTheParts) {
  for (const std::size_t bytes : {55U, 56U, 63U, 64U, 65U, 119U, 120U, 200U}) {
    const std::string text(bytes, 'x');
    const std::string whole = hash_of(text, bytes);
    for (const std::size_t part : {1U, 7U, 64U})
      EXPECT_EQ(hash_of(text, part), whole) << bytes << " bytes in parts of " << part;
  }
}

// RFC 4231, test cases 1 and 2.
TEST(HmacSha256Test, IsTheFunctionOfTheStandard) {
  const std::vector<std::uint8_t> twenty(20, 0x0b);
  const std::string_view greeting[] = {"Hi ", "There"};
  EXPECT_EQ(text_of_digest(hmac_sha256(twenty, greeting)),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  const std::uint8_t name[] = {'J', 'e', 'f', 'e'};
  const std::string_view question[] = {"what do ya want ", "for nothing?"};
  EXPECT_EQ(text_of_digest(hmac_sha256(name, question)),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

}  // namespace
}  // namespace sorrel
