//! read_small_file - a text that a person or an earlier run has left in a file.
//!
//! Never waits and never reads without end: a FIFO or a device is an error, and so is a file that
//! is larger than expected.
#pragma once

#include <cstddef>
#include <string>

namespace sorrel {

/// Reads at most `bytes_max` into `text`. The result says what is wrong with the file, as the rest
/// of a sentence: "does not exist"; "" if it has been read.
[[nodiscard]] std::string read_small_file(const std::string& path,
                                          std::size_t bytes_max,
                                          std::string& text);

}  // namespace sorrel
