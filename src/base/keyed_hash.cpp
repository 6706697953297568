#include "base/keyed_hash.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include "base/copy_bytes.hpp"
#include "base/sha256.hpp"

namespace sorrel {

// Numbers are read as they are in memory.
static_assert(std::endian::native == std::endian::little);

namespace {

__extension__ using Product = unsigned __int128;

constexpr std::uint64_t prime = (std::uint64_t{1} << 61) - 1;

std::uint64_t remainder(Product value) {
  const std::uint64_t sum =
      static_cast<std::uint64_t>(value & prime) + static_cast<std::uint64_t>(value >> 61);
  return sum >= prime ? sum - prime : sum;
}

}  // namespace

KeyedHash::KeyedHash(std::span<const std::uint8_t> key) {
  const auto fill = [&](std::string_view name, std::span<std::uint64_t> numbers) {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const std::string_view number(reinterpret_cast<const char*>(&i), sizeof i);
      const Sha256::Digest digest = hmac_sha256(key, std::array<std::string_view, 2>{name, number});
      std::memcpy(&numbers[i], digest.data(), sizeof numbers[i]);
    }
  };
  fill("words of KeyedHash", words_);
  fill("points of KeyedHash", points_);
  for (std::uint64_t& point : points_)
    point = remainder(point);
}

void KeyedHash::take_word(std::uint32_t word) {
  for (std::size_t i = 0; i < sums_.size(); ++i)
    sums_[i] = remainder(Product{remainder(Product{sums_[i]} + word)} * points_[i]);
}

void KeyedHash::take_block(const std::byte* block) {
  // Two sums, since each waits for its last product.
  std::array<Product, 2> sums{};
  for (std::size_t i = 0; i < word_count; i += 4) {
    std::array<std::uint64_t, 4> at;
    std::memcpy(at.data(), block + i * sizeof(std::uint64_t), sizeof at);
    sums[0] += Product{at[0] + words_[i]} * (at[1] + words_[i + 1]);
    sums[1] += Product{at[2] + words_[i + 2]} * (at[3] + words_[i + 3]);
  }
  const Product sum = sums[0] + sums[1];
  for (unsigned shift = 0; shift < 128; shift += 32)
    take_word(static_cast<std::uint32_t>(sum >> shift));
}

void KeyedHash::add(const void* data, std::size_t bytes) {
  const auto* from = static_cast<const std::byte*>(data);
  const std::size_t begun = byte_count_ % block_bytes;
  byte_count_ += bytes;
  if (begun != 0) {
    const std::size_t count = std::min(bytes, block_bytes - begun);
    copy_bytes(rest_.data() + begun, from, count);
    from += count;
    bytes -= count;
    if (begun + count < block_bytes) return;
    take_block(rest_.data());
  }
  for (; bytes >= block_bytes; from += block_bytes, bytes -= block_bytes)
    take_block(from);
  if (bytes != 0) copy_bytes(rest_.data(), from, bytes);
}

KeyedHash::Numbers KeyedHash::finish() {
  const std::size_t begun = byte_count_ % block_bytes;
  if (begun != 0) {
    std::fill(rest_.begin() + static_cast<std::ptrdiff_t>(begun), rest_.end(), std::byte{});
    take_block(rest_.data());
  }
  take_word(static_cast<std::uint32_t>(byte_count_));
  take_word(static_cast<std::uint32_t>(byte_count_ >> 32));
  return sums_;
}

}  // namespace sorrel
