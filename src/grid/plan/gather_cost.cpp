#include "grid/plan/gather_cost.hpp"

#include <cstddef>

#include "base/check.hpp"
#include "grid/plan/cost_model.hpp"
#include "grid/plan/face.hpp"

namespace sorrel::grid {

bool divides(const ProcessGrid& coarse, const ProcessGrid& fine) {
  return fine[0] % coarse[0] == 0 && fine[1] % coarse[1] == 0 && fine[2] % coarse[2] == 0;
}

double gather_seconds(const Machine& machine,
                      const Problem& problem,
                      const ProcessGrid& fine,
                      const ProcessGrid& coarse) {
  SORREL_ASSERT(divides(coarse, fine));
  if (fine == coarse) return 0;
  const int coarse_count = coarse[0] * coarse[1] * coarse[2];
  const int blocks_per_rank = fine[0] * fine[1] * fine[2] / coarse_count;
  const Extents block = largest_block(problem, fine);
  const Extents merged = largest_block(problem, coarse);
  const std::size_t contiguous = contiguous_dimension(problem);
  const std::int64_t cell_bytes = problem.element_bytes * problem.field_count;
  const double bytes = static_cast<double>(cell_count(block) * cell_bytes);
  const double ranks = ranks_per_processor(machine, coarse_count);
  const double messages = ranks * (blocks_per_rank - 1);
  // The outermost link joins all ranks.
  const Link& link = machine.links.back();
  const bool is_announced =
      link.announced_bytes > 0 && bytes > static_cast<double>(link.announced_bytes);
  const double latency_s = is_announced ? 3 * link.latency_s : link.latency_s;
  // One end of each message is on this processor; the other end of one of them adds to it.
  const double wire_s = (messages + 1) * (link.overhead_s + bytes * link.overhead_s_per_byte / 2);
  const double flight_s = messages * bytes * link.gap_s_per_byte * link.contention;
  const double copy_s = ranks * blocks_per_rank * bytes *
                        machine.copy.seconds_per_byte(block[contiguous] * problem.element_bytes,
                                                      merged[contiguous] * problem.element_bytes,
                                                      padded_bytes(problem, merged));
  return 2 * (latency_s + wire_s + flight_s + copy_s);
}

}  // namespace sorrel::grid
