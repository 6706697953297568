//! Targeted damage to ELF files: fields of the headers, of the dynamic section, of symbols,
//! relocations and hash tables, in addition to the damage that mutation.hpp does to any file. Pure.
#pragma once

#include <string>

#include "base/prng.hpp"
#include "fuzz/mutation.hpp"

namespace sorrel::fuzz {

/// Damages a 64-bit ELF file in one to four positions. Returns a description, one line.
std::string mutate_elf(Bytes& file, Prng& random);

}  // namespace sorrel::fuzz
