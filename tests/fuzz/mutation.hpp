//! Mutation - random damage to a buffer, a function of a seed. Pure.
//!
//! The operations are those common to fuzzers: flipped bits, special bytes and words, removed,
//! repeated and exchanged blocks, truncation, tokens. The same seed gives the same damage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/prng.hpp"

namespace sorrel::fuzz {

using Bytes = std::vector<std::uint8_t>;

/// A random element; `choices` is not empty.
template <class T>
const T& pick(Prng& random, std::span<const T> choices) {
  return choices[random.below(choices.size())];
}

/// A number near a bound of some type: 0, 1, all ones, a power of two and its neighbours, or any.
[[nodiscard]] std::uint64_t special_number(Prng& random);

/// Damages `data` once, and keeps it at most `size_max` bytes long. `tokens`: tokens of the format,
/// inserted or written over existing bytes; may be empty.
void mutate_once(Bytes& data,
                 std::size_t size_max,
                 Prng& random,
                 std::span<const std::string> tokens);

}  // namespace sorrel::fuzz
