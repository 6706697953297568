//! RecordCode - records as a sequence of bytes, most of them 5 to 8 bytes long: the form of files
//! (README.md, "Files").
//!
//! Words that recur are written as one byte: encoder and decoder keep the latest word of each hash.
//! So a sequence is read from its beginning. O(1) each. Pure.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "trace/record.hpp"

namespace sorrel::trace {

/// Size of one record: its kind, the forms of its words, and the words.
inline constexpr std::size_t record_bytes_max = 2 + 8 + 3 * 8;

/// How a word is written; two bits.
enum class WordForm : std::uint8_t {
  zero = 0,   ///< no byte
  known = 1,  ///< one byte, the hash of the word: the latest one that has it
  low = 2,    ///< its lower four bytes; the others are zero
  whole = 3,
};

/// The latest word of each hash.
class KnownWords {
 public:
  /// Fibonacci hashing (Knuth, The Art of Computer Programming, volume 3, section 6.4).
  static std::uint8_t hash_of(std::uint64_t word) {
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
    return static_cast<std::uint8_t>(word * golden >> 56);
  }

  [[nodiscard]] std::uint64_t& at(std::uint8_t hash) { return words_[hash]; }

 private:
  std::array<std::uint64_t, 256> words_{};
};

/// What both sides remember. The subjects, which are many with many ranks, do not displace the
/// other words.
struct CodeState {
  std::uint64_t time = 0;
  KnownWords subjects;
  KnownWords others;
};

/// Cycles are counted modulo 2^56.
inline constexpr std::uint64_t time_mask = ~std::uint64_t{0} >> Record::kind_bits;

class RecordEncoder {
 public:
  /// Writes at most record_bytes_max bytes; returns their end. The bytes up to `to` +
  /// record_bytes_max are overwritten.
  std::byte* encode(const Record& record, std::byte* to) {
    const std::uint64_t time = record.time_and_kind >> Record::kind_bits;
    const std::uint64_t step = (time - state_.time) & time_mask;
    state_.time = time;
    to[0] = static_cast<std::byte>(record.kind());
    std::byte* const forms = to + 1;
    to += 2;
    // No byte, 2, 4 or 8.
    unsigned form =
        (step != 0 ? 1U : 0U) + (step >> 16 != 0 ? 1U : 0U) + (step >> 32 != 0 ? 1U : 0U);
    std::memcpy(to, &step, sizeof step);
    to += (1U << form) & ~1U;
    to = put(record.subject, state_.subjects, 2, form, to);
    to = put(record.first, state_.others, 4, form, to);
    to = put(record.second, state_.others, 6, form, to);
    *forms = static_cast<std::byte>(form);
    return to;
  }

 private:
  static std::byte* put(
      std::uint64_t word, KnownWords& known, int shift, unsigned& forms, std::byte* to) {
    if (word == 0) return to;
    const std::uint8_t hash = KnownWords::hash_of(word);
    std::uint64_t& latest = known.at(hash);
    if (latest == word) {
      *to = static_cast<std::byte>(hash);
      forms |= static_cast<unsigned>(WordForm::known) << shift;
      return to + 1;
    }
    latest = word;
    std::memcpy(to, &word, sizeof word);
    const bool is_low = word >> 32 == 0;
    forms |= static_cast<unsigned>(is_low ? WordForm::low : WordForm::whole) << shift;
    return to + (is_low ? 4 : 8);
  }

  CodeState state_;
};

class RecordDecoder {
 public:
  /// The number of bytes of the record at the beginning; 0 if they end within it.
  std::size_t decode(std::span<const std::byte> from, Record& record) {
    if (from.size() < 2) return 0;
    const auto forms = static_cast<unsigned>(from[1]);
    std::size_t at = 2;
    const std::size_t time_bytes = (1U << (forms & 3)) & ~1U;
    std::uint64_t step = 0;
    if (from.size() - at < time_bytes) return 0;
    std::memcpy(&step, from.data() + at, time_bytes);
    at += time_bytes;
    state_.time = (state_.time + step) & time_mask;
    record.time_and_kind = state_.time << Record::kind_bits | static_cast<std::uint8_t>(from[0]);
    const bool is_whole = take(from, at, forms >> 2, state_.subjects, record.subject) &&
                          take(from, at, forms >> 4, state_.others, record.first) &&
                          take(from, at, forms >> 6, state_.others, record.second);
    return is_whole ? at : 0;
  }

 private:
  static bool take(std::span<const std::byte> from,
                   std::size_t& at,
                   unsigned form,
                   KnownWords& known,
                   std::uint64_t& word) {
    constexpr std::array<std::size_t, 4> sizes = {0, 1, 4, 8};
    const std::size_t count = sizes[form & 3];
    if (from.size() - at < count) return false;
    word = 0;
    std::memcpy(&word, from.data() + at, count);
    at += count;
    if (static_cast<WordForm>(form & 3) == WordForm::known) {
      word = known.at(static_cast<std::uint8_t>(word));
    } else if (word != 0) {
      known.at(KnownWords::hash_of(word)) = word;
    }
    return true;
  }

  CodeState state_;
};

}  // namespace sorrel::trace
