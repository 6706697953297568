#include "runtime/first_checkpoint.hpp"

#include "program/base/restart_note.hpp"
#include "runtime/job.hpp"

namespace sorrel::runtime {

void make_first_checkpoint(mpi::RankState& rank) {
  if (program::restart_note != nullptr) static_cast<Job&>(rank.world->job()).save_begin(rank);
}

void note_begin_of_session() {
  program::note_effect("its program has begun a session");
}

}  // namespace sorrel::runtime
