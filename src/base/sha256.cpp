#include "base/sha256.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/check.hpp"

namespace sorrel {

namespace {

/// Cube roots of the first 64 primes: the first 32 bits of their fractions.
constexpr std::array<std::uint32_t, 64> round_constants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t word_at(const std::uint8_t* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 |
         std::uint32_t{bytes[2]} << 8 | bytes[3];
}

template <class Word>
void store(std::uint8_t* bytes, Word word) {
  for (std::size_t i = sizeof word; i-- != 0; word >>= 8)
    bytes[i] = static_cast<std::uint8_t>(word);
}

}  // namespace

void Sha256::take_block(const std::uint8_t* block) {
  std::array<std::uint32_t, 64> schedule;
  for (std::size_t t = 0; t < 16; ++t)
    schedule[t] = word_at(block + 4 * t);
  for (std::size_t t = 16; t < 64; ++t) {
    const std::uint32_t old = schedule[t - 15];
    const std::uint32_t recent = schedule[t - 2];
    const std::uint32_t sigma0 = std::rotr(old, 7) ^ std::rotr(old, 18) ^ old >> 3;
    const std::uint32_t sigma1 = std::rotr(recent, 17) ^ std::rotr(recent, 19) ^ recent >> 10;
    schedule[t] = sigma1 + schedule[t - 7] + sigma0 + schedule[t - 16];
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (std::size_t t = 0; t < 64; ++t) {
    const std::uint32_t sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t choice = (e & f) ^ (~e & g);
    const std::uint32_t first = h + sum1 + choice + round_constants[t] + schedule[t];
    const std::uint32_t sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t majority = (a & b) ^ (a & c) ^ (b & c);
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + sum0 + majority;
  }
  const std::array<std::uint32_t, 8> result = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < result.size(); ++i)
    state_[i] += result[i];
}

void Sha256::add(const void* data, std::size_t bytes) {
  const auto* from = static_cast<const std::uint8_t*>(data);
  while (bytes != 0) {
    const std::size_t used = byte_count_ % block_bytes;
    const std::size_t part = std::min(bytes, block_bytes - used);
    std::memcpy(rest_.data() + used, from, part);
    byte_count_ += part;
    from += part;
    bytes -= part;
    if (used + part == block_bytes) take_block(rest_.data());
  }
}

Sha256::Digest Sha256::finish() {
  const std::uint64_t bit_count = byte_count_ * 8;
  constexpr std::uint8_t end = 0x80;
  add(&end, 1);
  constexpr std::uint8_t zero = 0;
  while (byte_count_ % block_bytes != block_bytes - sizeof bit_count)
    add(&zero, 1);
  std::array<std::uint8_t, sizeof bit_count> length{};
  store(length.data(), bit_count);
  add(length.data(), length.size());
  Digest digest{};
  for (std::size_t i = 0; i < state_.size(); ++i)
    store(digest.data() + 4 * i, state_[i]);
  return digest;
}

Sha256::Digest hmac_sha256(std::span<const std::uint8_t> key,
                           std::span<const std::string_view> parts) {
  SORREL_ASSERT(key.size() <= Sha256::block_bytes);
  std::array<std::uint8_t, Sha256::block_bytes> inner_key{};
  std::array<std::uint8_t, Sha256::block_bytes> outer_key{};
  std::ranges::copy(key, inner_key.begin());
  std::ranges::copy(key, outer_key.begin());
  for (std::size_t i = 0; i < Sha256::block_bytes; ++i) {
    inner_key[i] ^= 0x36;
    outer_key[i] ^= 0x5c;
  }
  Sha256 inner;
  inner.add(inner_key.data(), inner_key.size());
  for (const std::string_view part : parts)
    inner.add(part.data(), part.size());
  const Sha256::Digest digest = inner.finish();
  Sha256 outer;
  outer.add(outer_key.data(), outer_key.size());
  outer.add(digest.data(), digest.size());
  return outer.finish();
}

}  // namespace sorrel
