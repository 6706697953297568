// A hash of contents with a secret key, beside the same arithmetic in its plainest form.
#include "base/keyed_hash.hpp"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <string_view>
#include <vector>

#include "base/prng.hpp"
#include "base/sha256.hpp"

namespace sorrel {
namespace {

using Bytes = std::vector<std::uint8_t>;
__extension__ using Product = unsigned __int128;

const Bytes key(32, 7);

Bytes random_bytes(std::size_t count, std::uint64_t seed) {
  Prng random(seed);
  Bytes bytes(count);
  for (std::uint8_t& byte : bytes)
    byte = static_cast<std::uint8_t>(random.below(256));
  return bytes;
}

KeyedHash::Numbers hash_in_parts(const Bytes& bytes, std::size_t part, const Bytes& with = key) {
  KeyedHash hash(with);
  for (std::size_t at = 0; at < bytes.size(); at += part)
    hash.add(bytes.data() + at, std::min(part, bytes.size() - at));
  return hash.finish();
}

std::uint64_t secret(std::string_view name, std::size_t number) {
  const std::string_view place(reinterpret_cast<const char*>(&number), sizeof number);
  const auto digest = hmac_sha256(key, std::array<std::string_view, 2>{name, place});
  std::uint64_t value = 0;
  std::memcpy(&value, digest.data(), sizeof value);
  return value;
}

/// Polynomials modulo 2^61 - 1 of NH of each KiB, by division.
KeyedHash::Numbers plain_hash(Bytes bytes) {
  constexpr Product prime = (Product{1} << 61) - 1;
  const std::uint64_t length = bytes.size();
  bytes.resize((bytes.size() + 1023) / 1024 * 1024);
  std::vector<std::uint32_t> words;
  for (std::size_t block = 0; block < bytes.size(); block += 1024) {
    Product sum = 0;
    for (std::size_t i = 0; i < 128; i += 2) {
      std::uint64_t pair[2];
      std::memcpy(pair, bytes.data() + block + 8 * i, sizeof pair);
      const std::uint64_t first = pair[0] + secret("words of KeyedHash", i);
      const std::uint64_t second = pair[1] + secret("words of KeyedHash", i + 1);
      sum += Product{first} * second;
    }
    for (int part = 0; part < 4; ++part, sum >>= 32)
      words.push_back(static_cast<std::uint32_t>(sum));
  }
  words.push_back(static_cast<std::uint32_t>(length));
  words.push_back(static_cast<std::uint32_t>(length >> 32));
  KeyedHash::Numbers numbers{};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const Product point = secret("points of KeyedHash", i) % prime;
    for (const std::uint32_t word : words)
      numbers[i] = static_cast<std::uint64_t>((numbers[i] + Product{word}) % prime * point % prime);
  }
  return numbers;
}

TEST(KeyedHashTest, IsTheFunctionOfItsDescription) {
  for (const std::size_t count : {0U, 1U, 31U, 1023U, 1024U, 1025U, 5000U})
    EXPECT_EQ(hash_in_parts(random_bytes(count, count), 4096),
              plain_hash(random_bytes(count, count)))
        << count;
}

TEST(KeyedHashTest, PartsDoNotMatter) {
  const Bytes bytes = random_bytes(10000, 1);
  const auto whole = hash_in_parts(bytes, bytes.size());
  for (const std::size_t part : {1U, 7U, 1000U, 1024U, 1500U, 4096U})
    EXPECT_EQ(hash_in_parts(bytes, part), whole) << part;
}

TEST(KeyedHashTest, EachBitTheLengthAndTheKeyMatter) {
  Bytes bytes = random_bytes(2100, 2);
  const auto whole = hash_in_parts(bytes, 2100);
  for (std::size_t bit = 0; bit < 8 * bytes.size(); bit += 5) {
    bytes[bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
    EXPECT_NE(hash_in_parts(bytes, 2100), whole) << bit;
    bytes[bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
  }
  EXPECT_NE(hash_in_parts(bytes, 2100, Bytes(32, 8)), whole);
  bytes.push_back(0);
  EXPECT_NE(hash_in_parts(bytes, 2101), whole);
}

}  // namespace
}  // namespace sorrel
