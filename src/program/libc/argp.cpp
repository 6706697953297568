//! argp_parse: uses the variables that the rank's program has set for it.

#include <argp.h>

#include "program/base/libc.hpp"
#include "program/rank/rank_process.hpp"

namespace {

/// Ranks of one program set the same value, or each its own image's function, which does the same.
template <class T>
void give(const sorrel::program::PrivatizedImage& copy, T& live) {
  T* own = copy.own(live);
  if (own != nullptr && own != &live) __atomic_store(&live, own, __ATOMIC_RELAXED);
}

}  // namespace

SORREL_INTERPOSED error_t
argp_parse(const argp* parser, int argc, char** argv, unsigned flags, int* index, void* input) {
  using namespace sorrel::program;
  static auto* const real = next_definition<decltype(::argp_parse)>("argp_parse");
  if (RankProcess* process = current_rank_process()) {
    give(process->copy(), argp_program_version);
    give(process->copy(), argp_program_version_hook);
    give(process->copy(), argp_program_bug_address);
    give(process->copy(), argp_err_exit_status);
  }
  return real(parser, argc, argv, flags, index, input);
}
