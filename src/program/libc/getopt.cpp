//! getopt, getopt_long and getopt_long_only: a scan per rank.

#include <getopt.h>

#include "program/base/libc.hpp"
#include "program/rank/rank_process.hpp"

using namespace sorrel::program;

using LongGetopt =
    int(int argc, char* const* argv, const char* options, const option* long_options, int* index);

SORREL_INTERPOSED int getopt(int argc, char* const* argv, const char* options) noexcept {
  static auto* const real = next_definition<int(int, char* const*, const char*)>("getopt");
  RankProcess* process = current_rank_process();
  if (process == nullptr) return real(argc, argv, options);
  return process->getopt_state().next(argc, argv, {.short_options = options});
}

// The name of getopt in programs that request plain POSIX.
SORREL_INTERPOSED int __posix_getopt(int argc, char* const* argv, const char* options) {
  static auto* const real = next_definition<int(int, char* const*, const char*)>("__posix_getopt");
  RankProcess* process = current_rank_process();
  if (process == nullptr) return real(argc, argv, options);
  return process->getopt_state().next(argc, argv, {.short_options = options, .is_posix = true});
}

SORREL_INTERPOSED int getopt_long(int argc,
                                  char* const* argv,
                                  const char* options,
                                  const option* long_options,
                                  int* index) noexcept {
  static auto* const real = next_definition<LongGetopt>("getopt_long");
  RankProcess* process = current_rank_process();
  if (process == nullptr) return real(argc, argv, options, long_options, index);
  return process->getopt_state().next(
      argc, argv, {.short_options = options, .long_options = long_options, .long_index = index});
}

SORREL_INTERPOSED int getopt_long_only(int argc,
                                       char* const* argv,
                                       const char* options,
                                       const option* long_options,
                                       int* index) noexcept {
  static auto* const real = next_definition<LongGetopt>("getopt_long_only");
  RankProcess* process = current_rank_process();
  if (process == nullptr) return real(argc, argv, options, long_options, index);
  return process->getopt_state().next(argc, argv,
                                      {.short_options = options,
                                       .long_options = long_options,
                                       .long_index = index,
                                       .single_dash_is_long = true});
}
