//! Functions of shared libraries that ranks get other ones for, in the place of what the loader has
//! bound: those of a GPU's driver (program/gpu).
//!
//! Set once, before the first image is read; then constant.
#pragma once

namespace sorrel::program {

/// What a rank gets for `found`, the address of `symbol`: another one, or itself.
using SubstituteSymbol = void* (*)(void* found, const char* symbol);

void set_symbol_substitution(SubstituteSymbol substitute);

/// `found` without a substitution.
[[nodiscard]] void* substituted(void* found, const char* symbol);

}  // namespace sorrel::program
