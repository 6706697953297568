//! UserKey - a secret of the user, by which checkpoints of this user's jobs are recognized.
//!
//! A file of 32 random bytes, which only its user may read and which is made on first use. The code
//! of a text is HMAC-SHA-256 with this key (base/sha256.hpp): without the key no other text can be
//! given the right code. Errors are texts for users; empty: success.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/keyed_hash.hpp"

namespace sorrel::checkpoint {

class UserKey {
 public:
  /// Reads the file; makes it, and its folder, if it is missing. Blocks the thread. After an error
  /// there is no key.
  [[nodiscard]] std::string open(const std::string& path);

  [[nodiscard]] bool is_there() const { return is_there_; }

  /// 64 hexadecimal digits; "" without a key. Depends on where each part ends.
  [[nodiscard]] std::string code_of(std::span<const std::string_view> parts) const;

  /// For contents that are too many for code_of(): add them, and then give the numbers to
  /// code_of(). With a key.
  [[nodiscard]] KeyedHash hash() const { return KeyedHash(bytes_); }

  /// The code of contents by their numbers.
  [[nodiscard]] std::string code_of(const KeyedHash::Numbers& numbers) const;

 private:
  std::array<std::uint8_t, 32> bytes_{};
  bool is_there_ = false;
};

}  // namespace sorrel::checkpoint
