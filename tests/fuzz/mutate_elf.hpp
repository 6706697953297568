//! Damage to ELF files where it hurts: fields of the headers, of the dynamic section, of symbols,
//! relocations and hash tables, beside what mutation.hpp does to any file. Pure.
#pragma once

#include <string>

#include "base/prng.hpp"
#include "fuzz/mutation.hpp"

namespace sorrel::fuzz {

/// Damages a 64-bit ELF file in one to four places. Returns what was done, one line.
std::string mutate_elf(Bytes& file, Prng& random);

}  // namespace sorrel::fuzz
