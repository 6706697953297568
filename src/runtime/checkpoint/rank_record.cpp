#include "runtime/checkpoint/rank_record.hpp"

#include <cstddef>
#include <span>
#include <utility>

#include "base/byte_cursor.hpp"
#include "base/byte_writer.hpp"
#include "base/check.hpp"
#include "base/text.hpp"
#include "mpi/saved/saved_rank.hpp"
#include "os/stack_slab.hpp"

namespace sorrel::runtime {

namespace {

/// Where a rank goes on.
struct ResumePoint {
  std::uintptr_t context = 0;
  std::uintptr_t outcome = 0;
  std::uintptr_t thread_pointer = 0;
  /// Bytes of the heap beyond its first parts that are usable.
  std::uint64_t far_heap_bytes = 0;
};

}  // namespace

std::string record_of(mpi::RankState& rank,
                      const mpi::WaitingRank& waiting,
                      ProgramStates& states) {
  ByteWriter record;
  record.add(ResumePoint{.context = reinterpret_cast<std::uintptr_t>(waiting.resume),
                         .outcome = reinterpret_cast<std::uintptr_t>(&waiting.outcome),
                         .thread_pointer = rank.fiber.thread_pointer,
                         .far_heap_bytes = states.far_heap_bytes(rank)});
  mpi::save_messages(rank, record);
  ByteWriter objects;
  mpi::save_objects(rank, objects);
  record.add_block(objects.bytes());
  states.save(rank, record);
  return record.bytes();
}

std::string add_memory_of(const mpi::RankState& rank,
                          const os::MemoryRange& stack,
                          const ProgramStates& states,
                          std::vector<os::MemoryRange>& to) {
  for (const os::MemoryRange& range : states.thread_locals(rank))
    to.push_back(range);
  std::vector<os::MemoryRange> touched = states.memory(rank);
  touched.push_back(stack);
  const os::TouchedPages pages;
  for (const os::MemoryRange& range : touched) {
    if (std::string error = pages.add_runs(range, to); !error.empty()) return error;
  }
  return "";
}

std::string restore_record(mpi::RankState& rank,
                           const std::string& record,
                           bool is_restart,
                           ProgramStates& states,
                           RestoredRank& to) {
  ByteCursor from(std::as_bytes(std::span(record)));
  const auto point = from.take<ResumePoint>();
  if (point.thread_pointer != rank.fiber.thread_pointer ||
      !states.open_far_heap(rank, point.far_heap_bytes))
    return text_of("rank %d cannot get the addresses that it had", rank.world_rank);
  const bool has_messages = mpi::restore_messages(rank, from);
  to = {.context = point.context,
        .outcome = point.outcome,
        .objects = std::string(from.take_block()),
        .note = {}};
  if (!has_messages) return text_of("no memory for the messages of rank %d", rank.world_rank);
  ProgramStates::Restored own = states.restore(rank, from, is_restart);
  to.note = std::move(own.note);
  return own.error.empty() ? "" : text_of("rank %d: %s", rank.world_rank, own.error.c_str());
}

void RestoredRank::check_invariants(const os::MemoryRange& stack) const {
  SORREL_CHECK(context >= stack.begin && context < stack.end,
               "a rank goes on at 0x%zx, and its stack is from 0x%zx to 0x%zx", context,
               stack.begin, stack.end);
  SORREL_CHECK(
      outcome > context && outcome + sizeof(int) <= stack.end && outcome % sizeof(int) == 0,
      "a rank that goes on at 0x%zx finds the result at 0x%zx", context, outcome);
}

void resume(mpi::RankState& rank,
            const RestoredRank& restored,
            ProgramStates& states,
            int outcome) {
  const os::StackSlab& stacks = *rank.world->rank_stacks();
  const auto bottom =
      reinterpret_cast<std::uintptr_t>(stacks.bottom(static_cast<std::size_t>(rank.place)));
  restored.check_invariants({bottom, bottom + stacks.stack_bytes()});
  states.on_memory_restored(rank);
  rank.fiber.context = reinterpret_cast<arch::Context>(restored.context);
  *reinterpret_cast<int*>(restored.outcome) = outcome;
}

}  // namespace sorrel::runtime
