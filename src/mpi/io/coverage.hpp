//! Coverage - which bytes of a window of a file are to be written: a bit for each. Pure.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sorrel::mpi {

class Coverage {
 public:
  explicit Coverage(std::size_t bytes_max) : words_(bytes_max / bits + 1) {}

  void clear() { std::fill(words_.begin(), words_.end(), 0); }

  void add(std::size_t begin, std::size_t bytes) {
    std::size_t word = begin / bits;
    std::size_t from = begin % bits;
    while (bytes != 0) {
      const std::size_t now = std::min(bytes, bits - from);
      words_[word++] |= (~std::uint64_t{0} >> (bits - now)) << from;
      bytes -= now;
      from = 0;
    }
  }

  /// Calls visit(begin, bytes) for each run, ascending.
  template <class Visit>
  void visit_runs(Visit&& visit) const {
    const std::size_t end = words_.size() * bits;
    for (std::size_t begin = next(0, 0); begin != end;) {
      const std::size_t after = next(begin, ~std::uint64_t{0});
      visit(begin, after - begin);
      begin = next(after, 0);
    }
  }

 private:
  static constexpr std::size_t bits = 64;

  /// The first bit from `at` on that is set (`inverted` 0) or clear (all ones).
  [[nodiscard]] std::size_t next(std::size_t at, std::uint64_t inverted) const {
    for (std::size_t word = at / bits; word < words_.size(); ++word) {
      std::uint64_t found = words_[word] ^ inverted;
      if (word == at / bits) found &= ~std::uint64_t{0} << (at % bits);
      if (found != 0) return word * bits + static_cast<std::size_t>(std::countr_zero(found));
    }
    return words_.size() * bits;
  }

  std::vector<std::uint64_t> words_;
};

}  // namespace sorrel::mpi
