//! read_small_file - reads a text file of a user, of an earlier run or of the kernel.
//!
//! Never blocks and never reads without end: a FIFO or a device is an error, and so is a file that
//! is larger than expected.
#pragma once

#include <cstddef>
#include <string>

namespace sorrel {

/// Reads at most `bytes_max` into `text`. Returns the error as the rest of a sentence: "does not
/// exist"; "" on success.
[[nodiscard]] std::string read_small_file(const std::string& path,
                                          std::size_t bytes_max,
                                          std::string& text);

}  // namespace sorrel
