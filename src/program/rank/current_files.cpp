#include "program/rank/current_files.hpp"

#include "program/rank/rank_process.hpp"
#include "program/state/rank_files.hpp"

namespace sorrel::program {

namespace {

/// The rank that opens a file for `caller`, if its files may have to be opened again; else null.
RankProcess* opener(const void* caller) {
  if (!RankProcess::are_saved()) return nullptr;
  RankProcess* process = process_that_may_wait(caller);
  const bool is_of_rank =
      process != nullptr && process->is_own_code(caller) && !process->signals().is_in_handler();
  return is_of_rank ? process : nullptr;
}

}  // namespace

int adopt_file(int descriptor, const void* caller) {
  RankProcess* process = descriptor >= 0 ? opener(caller) : nullptr;
  return process != nullptr ? process->files().adopt(descriptor) : descriptor;
}

void adopt_file(FILE* stream, const void* caller) {
  RankProcess* process = stream != nullptr ? opener(caller) : nullptr;
  if (process != nullptr) process->files().adopt(*stream);
}

}  // namespace sorrel::program
