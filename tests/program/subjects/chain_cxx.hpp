// The C++ library of the chain.
#pragma once

#include <stdexcept>
#include <string>

#include "chain.h"

class ChainError : public std::runtime_error {
 public:
  ChainError(const std::string& what, int rank) : std::runtime_error(what), rank(rank) {}

  ~ChainError() override;
  int rank;
};

struct ChainBase {
  virtual ~ChainBase() = default;

  [[nodiscard]] virtual int value() const { return 0; }
};

struct ChainDerived : ChainBase {
  [[nodiscard]] int value() const override;
};

inline int chain_inline = 3;

inline int& chain_local_static() {
  static int value = 10;
  return value;
}

extern thread_local int chain_cxx_thread_local;
std::string& chain_name();
std::string& chain_thread_name();
ChainBase* chain_make();
[[noreturn]] void chain_throw(int rank);
int chain_calls(void (*thrower)(int), int rank);
int chain_inline_seen();
int chain_local_static_seen();
