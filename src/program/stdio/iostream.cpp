//! std::ios_base::sync_with_stdio for ranks does nothing.
//!
//! Ranks share libstdc++ and its stream buffers, which call stdio and so reach the rank's own
//! streams. The real function would replace these buffers in the library's streams and destroy the
//! ones that the ranks' streams still use.

#include "program/base/libc.hpp"
#include "program/rank/rank_process.hpp"

SORREL_INTERPOSED bool sorrel_sync_with_stdio(bool sync) asm("_ZNSt8ios_base15sync_with_stdioEb");

SORREL_INTERPOSED bool sorrel_sync_with_stdio(bool sync) {
  using namespace sorrel::program;
  static auto* const real = next_definition<bool(bool)>("_ZNSt8ios_base15sync_with_stdioEb");
  return current_rank_process() != nullptr ? true : real(sync);
}
