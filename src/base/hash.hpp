//! Hash - FNV-1a with 64 bits, the same on all machines. Not against an adversary.
//!
//! Source: Fowler, Noll, Vo; the constants are those of draft-eastlake-fnv.
#pragma once

#include <cstdint>
#include <string_view>

namespace sorrel {

/// `hash`: that of a text before this one.
[[nodiscard]] constexpr std::uint64_t hash_of(std::string_view text,
                                              std::uint64_t hash = 0xcbf29ce484222325U) {
  for (const char letter : text)
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3U;
  return hash;
}

}  // namespace sorrel
