#include "program/image/symbol_substitution.hpp"

namespace sorrel::program {

namespace {

SubstituteSymbol substitute_symbol = nullptr;

}  // namespace

void set_symbol_substitution(SubstituteSymbol substitute) {
  substitute_symbol = substitute;
}

void* substituted(void* found, const char* symbol) {
  return substitute_symbol != nullptr ? substitute_symbol(found, symbol) : found;
}

}  // namespace sorrel::program
