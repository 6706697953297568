#include "abi/polled_memory.hpp"

#include "mpi/match/clock_spin.hpp"
#include "mpi/match/idle_call.hpp"
#include "mpi/match/wait.hpp"
#include "runtime/clock_watch.hpp"

namespace sorrel::abi {

using mpi::RankState;

namespace {

void give_way(RankState& self) {
  if (may_give_way(self)) mpi::make_progress(self);
}

/// The calling rank has read a clock of the C library.
void note_program_clock_read(std::int64_t now_ns) {
  RankState* self = mpi::peek_rank();
  if (self == nullptr || self->window_count == 0) return;
  if (self->worker->is_seeded()) {
    note_seeded_clock_read(*self);
  } else {
    note_clock_read(*self, now_ns);
  }
}

}  // namespace

bool may_give_way(const RankState& self) {
  return mpi::current_rank() == &self && mpi::is_running(self.phase) &&
         mpi::is_in_main_fiber(self) && self.fiber.pin_count == 0;
}

void note_clock_read(RankState& self, std::int64_t now_ns) {
  self.clock_spin_ns = mpi::clock_spin_after(self.clock_spin_ns, now_ns - self.clock_read_ns);
  self.clock_read_ns = now_ns;
  if (self.clock_spin_ns < mpi::clock_spin_ns_max) return;
  self.clock_spin_ns = 0;
  give_way(self);
}

void note_seeded_clock_read(RankState& self) {
  if (mpi::count_idle_call(self)) give_way(self);
}

void watch_clocks() {
  runtime::watch_clock_reads(note_program_clock_read);
}

}  // namespace sorrel::abi
