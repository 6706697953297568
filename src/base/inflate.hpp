//! inflate() - decompresses zlib's format (RFC 1950, RFC 1951), in which compilers and linkers
//! compress debug sections.
//!
//! Pure and safe in a signal handler: it allocates nothing and needs 2 KiB of stack. Damaged bytes
//! are an error and write nothing outside of the target. Any thread.
#pragma once

#include <cstddef>
#include <span>

namespace sorrel {

/// Whether `compressed` is sound and its contents fill `target` exactly.
[[nodiscard]] bool inflate(std::span<const std::byte> compressed, std::span<std::byte> target);

}  // namespace sorrel
