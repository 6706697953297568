#include "fuzz/mutation.hpp"

#include <algorithm>
#include <cstring>

namespace sorrel::fuzz {

namespace {

using Position = Bytes::iterator::difference_type;

/// Mostly short, at most to the end of the data.
std::size_t block_length(const Bytes& data, std::size_t at, Prng& random) {
  const std::size_t rest = data.size() - at;
  const std::size_t most = random.below(4) == 0 ? rest : std::min<std::size_t>(rest, 32);
  return most == 0 ? 0 : 1 + random.below(most);
}

void insert_at(Bytes& data, std::size_t at, const Bytes& inserted) {
  data.insert(data.begin() + static_cast<Position>(at), inserted.begin(), inserted.end());
}

void write_at(Bytes& data, std::size_t at, const Bytes& written) {
  const std::size_t count = std::min(written.size(), data.size() - at);
  std::copy_n(written.begin(), count, data.begin() + static_cast<Position>(at));
}

Bytes bytes_of_number(Prng& random) {
  const std::uint64_t number = special_number(random);
  Bytes bytes(std::size_t{1} << random.below(4));
  std::memcpy(bytes.data(), &number, bytes.size());
  return bytes;
}

/// A number in digits, for text formats.
Bytes digits_of_number(Prng& random) {
  static constexpr std::string_view odd[] = {"nan",  "-nan", "inf", "-inf", "1e308", "1e-400",
                                             "1e99", "-0",   "-1",  "0x10", "1.5",   "."};
  const std::string text = random.below(2) == 0 ? std::string(pick<std::string_view>(random, odd))
                                                : std::to_string(special_number(random));
  return {text.begin(), text.end()};
}

Bytes copied_block(const Bytes& data, Prng& random) {
  const std::size_t from = random.below(data.size());
  const std::size_t length = block_length(data, from, random);
  const auto begin = data.begin() + static_cast<Position>(from);
  return {begin, begin + static_cast<Position>(length)};
}

}  // namespace

std::uint64_t special_number(Prng& random) {
  const std::uint64_t power = std::uint64_t{1} << random.below(64);
  switch (random.below(6)) {
    case 0:
      return random.below(3);
    case 1:
      return ~random.below(3);
    case 2:
      return power - 1;
    case 3:
      return power + random.below(2);
    case 4:
      return random.below(100'000);
    default:
      return random.next();
  }
}

void mutate_once(Bytes& data,
                 std::size_t size_max,
                 Prng& random,
                 std::span<const std::string> tokens) {
  if (data.empty()) data.push_back(static_cast<std::uint8_t>(random.next()));
  const std::size_t at = random.below(data.size());
  switch (random.below(tokens.empty() ? 8 : 10)) {
    case 0:
      data[at] ^= static_cast<std::uint8_t>(1U << random.below(8));
      break;
    case 1:
      data[at] = static_cast<std::uint8_t>(random.next());
      break;
    case 2:
      write_at(data, at, bytes_of_number(random));
      break;
    case 3:
      insert_at(data, at, digits_of_number(random));
      break;
    case 4: {
      const auto length = static_cast<Position>(block_length(data, at, random));
      const auto begin = data.begin() + static_cast<Position>(at);
      data.erase(begin, begin + length);
      break;
    }
    case 5:
      write_at(data, at, copied_block(data, random));
      break;
    case 6:
      insert_at(data, at, copied_block(data, random));
      break;
    case 7:
      data.resize(at);
      break;
    default: {
      const std::string& token = pick(random, tokens);
      const Bytes bytes(token.begin(), token.end());
      random.below(2) == 0 ? insert_at(data, at, bytes) : write_at(data, at, bytes);
      break;
    }
  }
  data.resize(std::min(data.size(), size_max));
}

}  // namespace sorrel::fuzz
