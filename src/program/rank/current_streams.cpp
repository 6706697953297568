#include "program/rank/current_streams.hpp"

#include "program/rank/rank_process.hpp"

namespace sorrel::program {

FILE* own_stream(FILE* stream) {
  RankProcess* process = current_rank_process();
  return process != nullptr ? process->streams().own(stream) : stream;
}

FILE* standard_stream(FILE*& live) {
  const RankProcess* process = current_rank_process();
  FILE** own = process != nullptr ? process->copy().own(live) : nullptr;
  return own != nullptr ? *own : live;
}

}  // namespace sorrel::program
