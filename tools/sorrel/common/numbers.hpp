//! Numbers on the command line: strict parsing of counts and sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sorrel::tool {

/// A whole decimal number, digits only; else nothing. A number too large for 64 bits reads as the
/// largest.
[[nodiscard]] std::optional<std::uint64_t> parse_count(std::string_view text);

/// Bytes, or with K, M, G (KiB, MiB, GiB; also written k, KB, KiB); nothing for other text or
/// beyond 64 bits.
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text);

/// "1 MiB", "16 KiB", "1000 bytes": exact, in the largest unit that divides.
[[nodiscard]] std::string format_size(std::uint64_t size_bytes);

}  // namespace sorrel::tool
