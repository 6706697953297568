#include "base/inflate.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/copy_bytes.hpp"

namespace sorrel {

namespace {

constexpr std::size_t code_bits_max = 15;
constexpr std::size_t symbol_count_max = 288;
constexpr std::size_t distance_count_max = 32;
constexpr unsigned end_of_block = 256;

/// Numbers of some bits, lowest bit first. Past the end it returns zeros, and is_good() is false.
class BitReader {
 public:
  explicit BitReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  [[nodiscard]] bool is_good() const { return is_good_; }

  unsigned take(unsigned count) {
    while (bit_count_ < count) {
      bits_ |= take_byte() << bit_count_;
      bit_count_ += 8;
    }
    const unsigned number = bits_ & ((1U << count) - 1);
    bits_ >>= count;
    bit_count_ -= count;
    return number;
  }

  /// The rest of a byte of which some bits are taken is skipped.
  void align() { bits_ = bit_count_ = 0; }

  /// Whole bytes, after align().
  std::span<const std::byte> take_bytes(std::size_t count) {
    if (count > bytes_.size()) {
      is_good_ = false;
      return {};
    }
    const auto taken = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return taken;
  }

 private:
  unsigned take_byte() {
    const auto byte = take_bytes(1);
    return byte.empty() ? 0 : std::to_integer<unsigned>(byte[0]);
  }

  std::span<const std::byte> bytes_;
  unsigned bits_ = 0;
  unsigned bit_count_ = 0;
  bool is_good_ = true;
};

/// A prefix code (RFC 1951, 3.2.2). Codes of one length are consecutive numbers, in the order of
/// their symbols, and follow the shorter ones.
class PrefixCode {
 public:
  /// The number of bits of each symbol's code; 0: none. False if there are too many codes.
  [[nodiscard]] bool set(std::span<const std::uint8_t> lengths) {
    counts_ = {};
    for (const std::uint8_t length : lengths)
      ++counts_[length];
    counts_[0] = 0;
    std::array<std::uint16_t, code_bits_max + 1> next{};
    unsigned code = 0;
    for (std::size_t bits = 1; bits <= code_bits_max; ++bits) {
      code = (code + counts_[bits - 1]) << 1;
      if (code + counts_[bits] > 1U << bits) return false;
      next[bits] = static_cast<std::uint16_t>(next[bits - 1] + counts_[bits - 1]);
    }
    for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol) {
      if (lengths[symbol] != 0)
        symbols_[next[lengths[symbol]]++] = static_cast<std::uint16_t>(symbol);
    }
    return true;
  }

  /// The next symbol; symbol_count_max if no code begins so.
  [[nodiscard]] unsigned take(BitReader& bits) const {
    unsigned code = 0;
    unsigned first = 0;
    unsigned shorter_count = 0;
    for (std::size_t length = 1; length <= code_bits_max; ++length) {
      code = code << 1 | bits.take(1);
      first = (first + counts_[length - 1]) << 1;
      if (code - first < counts_[length]) return symbols_[shorter_count + code - first];
      shorter_count += counts_[length];
    }
    return symbol_count_max;
  }

 private:
  /// By length; of length 0: 0.
  std::array<std::uint16_t, code_bits_max + 1> counts_{};
  /// By code.
  std::array<std::uint16_t, symbol_count_max> symbols_{};
};

/// A range of numbers that one symbol stands for, with the bits that follow it.
struct Range {
  std::uint16_t first;
  std::uint8_t bit_count;
};

constexpr Range lengths_of_copies[] = {
    {3, 0},  {4, 0},  {5, 0},  {6, 0},   {7, 0},   {8, 0},   {9, 0},   {10, 0},  {11, 1}, {13, 1},
    {15, 1}, {17, 1}, {19, 2}, {23, 2},  {27, 2},  {31, 2},  {35, 3},  {43, 3},  {51, 3}, {59, 3},
    {67, 4}, {83, 4}, {99, 4}, {115, 4}, {131, 5}, {163, 5}, {195, 5}, {227, 5}, {258, 0}};

constexpr Range distances_of_copies[] = {
    {1, 0},     {2, 0},     {3, 0},     {4, 0},      {5, 1},      {7, 1},
    {9, 2},     {13, 2},    {17, 3},    {25, 3},     {33, 4},     {49, 4},
    {65, 5},    {97, 5},    {129, 6},   {193, 6},    {257, 7},    {385, 7},
    {513, 8},   {769, 8},   {1025, 9},  {1537, 9},   {2049, 10},  {3073, 10},
    {4097, 11}, {6145, 11}, {8193, 12}, {12289, 12}, {16385, 13}, {24577, 13}};

class Inflater {
 public:
  Inflater(std::span<const std::byte> bytes, std::span<std::byte> target)
      : bits_(bytes), target_(target) {}

  /// Whether the blocks are sound and fill the target.
  [[nodiscard]] bool run() {
    for (bool is_last = false; !is_last;) {
      is_last = bits_.take(1) != 0;
      if (!take_block(bits_.take(2)) || !bits_.is_good()) return false;
    }
    return size_ == target_.size();
  }

  /// The bytes behind the last block: the checksum, highest byte first.
  [[nodiscard]] std::uint32_t take_checksum() {
    bits_.align();
    std::uint32_t sum = 0;
    for (const std::byte byte : bits_.take_bytes(4))
      sum = sum << 8 | std::to_integer<std::uint32_t>(byte);
    return sum;
  }

 private:
  bool take_block(unsigned kind) {
    enum Kind : unsigned { stored, with_fixed_codes, with_own_codes };

    if (kind == stored) return take_stored();
    if (kind == with_fixed_codes) return set_fixed_codes() && take_coded();
    return kind == with_own_codes && set_own_codes() && take_coded();
  }

  bool take_stored() {
    bits_.align();
    const unsigned size = bits_.take(16);
    const unsigned inverse = bits_.take(16);
    const auto bytes = bits_.take_bytes(size);
    if (size != (~inverse & 0xffff) || bytes.size() > target_.size() - size_) return false;
    copy_bytes(target_.data() + size_, bytes.data(), bytes.size());
    size_ += bytes.size();
    return true;
  }

  bool set_fixed_codes() {
    std::array<std::uint8_t, symbol_count_max> lengths{};
    std::fill(lengths.begin(), lengths.begin() + 144, std::uint8_t{8});
    std::fill(lengths.begin() + 144, lengths.begin() + 256, std::uint8_t{9});
    std::fill(lengths.begin() + 256, lengths.begin() + 280, std::uint8_t{7});
    std::fill(lengths.begin() + 280, lengths.end(), std::uint8_t{8});
    std::array<std::uint8_t, distance_count_max> distances{};
    distances.fill(5);
    return symbols_.set(lengths) && distances_.set(distances);
  }

  bool set_own_codes() {
    const std::size_t symbol_count = bits_.take(5) + 257;
    const std::size_t distance_count = bits_.take(5) + 1;
    const unsigned length_count = bits_.take(4) + 4;
    if (symbol_count > symbol_count_max) return false;
    // The order in which the lengths of the code for lengths come.
    constexpr std::uint8_t order[] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                      11, 4,  12, 3, 13, 2, 14, 1, 15};
    std::array<std::uint8_t, std::size(order)> lengths_of_code{};
    for (unsigned i = 0; i < length_count; ++i)
      lengths_of_code[order[i]] = static_cast<std::uint8_t>(bits_.take(3));
    if (!symbols_.set(lengths_of_code)) return false;
    std::array<std::uint8_t, symbol_count_max + distance_count_max> lengths{};
    const std::span<std::uint8_t> both(lengths.data(), symbol_count + distance_count);
    return take_lengths(both) && symbols_.set(both.first(symbol_count)) &&
           distances_.set(both.subspan(symbol_count));
  }

  /// Coded by symbols_.
  bool take_lengths(std::span<std::uint8_t> lengths) {
    // The symbols from 16 on: repeat the last length, and zeros twice.
    constexpr unsigned repeat_last = 16;
    constexpr Range repetitions[] = {{3, 2}, {3, 3}, {11, 7}};
    for (std::size_t i = 0; i < lengths.size();) {
      const unsigned symbol = symbols_.take(bits_);
      if (symbol >= repeat_last + std::size(repetitions) || !bits_.is_good()) return false;
      if (symbol < repeat_last) {
        lengths[i++] = static_cast<std::uint8_t>(symbol);
        continue;
      }
      if (symbol == repeat_last && i == 0) return false;
      const std::uint8_t value = symbol == repeat_last ? lengths[i - 1] : std::uint8_t{0};
      const std::size_t count = take_of(repetitions[symbol - repeat_last]);
      if (count > lengths.size() - i) return false;
      std::ranges::fill(lengths.subspan(i, count), value);
      i += count;
    }
    return true;
  }

  bool take_coded() {
    for (;;) {
      const unsigned symbol = symbols_.take(bits_);
      if (!bits_.is_good()) return false;
      if (symbol == end_of_block) return true;
      if (symbol > end_of_block) {
        if (!copy(symbol - end_of_block - 1)) return false;
      } else if (size_ < target_.size()) {
        target_[size_++] = static_cast<std::byte>(symbol);
      } else {
        return false;
      }
    }
  }

  /// Repeats earlier bytes.
  bool copy(unsigned length_symbol) {
    if (length_symbol >= std::size(lengths_of_copies)) return false;
    const std::size_t length = take_of(lengths_of_copies[length_symbol]);
    const unsigned distance_symbol = distances_.take(bits_);
    if (distance_symbol >= std::size(distances_of_copies)) return false;
    const std::size_t distance = take_of(distances_of_copies[distance_symbol]);
    if (distance > size_ || length > target_.size() - size_) return false;
    // The source may reach into what is being written.
    for (const std::size_t end = size_ + length; size_ < end; ++size_)
      target_[size_] = target_[size_ - distance];
    return true;
  }

  std::size_t take_of(const Range& range) { return range.first + bits_.take(range.bit_count); }

  BitReader bits_;
  std::span<std::byte> target_;
  std::size_t size_ = 0;
  /// Literals, the end of the block, and lengths of copies.
  PrefixCode symbols_;
  PrefixCode distances_;
};

std::uint32_t adler32(std::span<const std::byte> bytes) {
  constexpr std::uint32_t modulus = 65521;
  // So many sums of bytes fit before a division.
  constexpr std::size_t part_bytes = 5000;
  std::uint32_t sum = 1;
  std::uint32_t sum_of_sums = 0;
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min(bytes.size(), part_bytes));
    for (const std::byte byte : part) {
      sum += std::to_integer<std::uint32_t>(byte);
      sum_of_sums += sum;
    }
    sum %= modulus;
    sum_of_sums %= modulus;
    bytes = bytes.subspan(part.size());
  }
  return sum_of_sums << 16 | sum;
}

}  // namespace

bool inflate(std::span<const std::byte> compressed, std::span<std::byte> target) {
  if (compressed.size() < 2) return false;
  const auto method = std::to_integer<unsigned>(compressed[0]);
  const auto flags = std::to_integer<unsigned>(compressed[1]);
  constexpr unsigned deflate = 8;
  constexpr unsigned has_dictionary = 0x20;
  if ((method & 15) != deflate || (method << 8 | flags) % 31 != 0 || (flags & has_dictionary) != 0)
    return false;
  Inflater inflater(compressed.subspan(2), target);
  return inflater.run() && inflater.take_checksum() == adler32(target);
}

}  // namespace sorrel
