//! file_openers - the names of the C library's functions that open a file by its path, which
//! program/libc/files.cpp interposes.
//!
//! Any thread. With _FORTIFY_SOURCE the C library's headers use the names with numbers where flags
//! are not a constant.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace sorrel::program {

inline constexpr std::array<std::string_view, 12> file_openers = {
    "open",     "open64",     "openat",     "openat64",     "creat", "creat64",
    "__open_2", "__open64_2", "__openat_2", "__openat64_2", "fopen", "fopen64"};

[[nodiscard]] constexpr bool opens_files(std::string_view name) {
  return std::find(file_openers.begin(), file_openers.end(), name) != file_openers.end();
}

}  // namespace sorrel::program
