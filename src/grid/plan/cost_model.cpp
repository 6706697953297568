#include "grid/plan/cost_model.hpp"

#include <cmath>
#include <cstddef>

#include "base/check.hpp"
#include "grid/plan/placement.hpp"

namespace sorrel::grid {
namespace {

// Arrays that an update streams through: one read, one written.
constexpr int arrays_per_update = 2;

}  // namespace

int ranks_per_processor(const Machine& machine, int rank_count) {
  if (machine.processor_count == 0) return 1;
  return (rank_count + machine.processor_count - 1) / machine.processor_count;
}

NodeUse node_use(const Machine& machine, int rank_count) {
  int node_ranks = ranks_per_processor(machine, rank_count);
  if (machine.links.size() > 1)
    node_ranks =
        std::max(node_ranks, group_size(machine.links[machine.links.size() - 2], rank_count));
  return {.node_count = (rank_count + node_ranks - 1) / node_ranks, .node_ranks = node_ranks};
}

CostModel::CostModel(const Machine& machine, const Problem& problem, int rank_count)
    : machine_(machine),
      problem_(problem),
      ranks_per_processor_(ranks_per_processor(machine, rank_count)),
      update_rate_(machine) {
  if (const auto& torus = machine.links.back().torus) {
    const NodeUse use = node_use(machine, rank_count);
    torus_.emplace(*torus, use.node_count, use.node_ranks);
  }
}

std::vector<ProcessGrid> CostModel::bricks(const ProcessGrid& grid) const {
  std::vector<ProcessGrid> bricks = bricks_of(machine_, grid);
  if (!torus_) return bricks;
  for (const int size : torus_->brick_sizes()) {
    const ProcessGrid brick = brick_of_least_surface(problem_, grid, size);
    if (std::find(bricks.begin(), bricks.end(), brick) == bricks.end()) bricks.push_back(brick);
  }
  return bricks;
}

CostModel::Load CostModel::load_of(const ProcessGrid& grid) const {
  Load load;
  load.block = largest_block(problem_, grid);
  load.faces = faces_of(problem_, grid);
  load.set_bytes = padded_bytes(problem_, load.block) * arrays_per_update * ranks_per_processor_;
  const double byte_s = update_rate_.seconds_per_byte(load.set_bytes);
  const double slowdown = update_rate_.plane_slowdown(plane_bytes(load.block), load.set_bytes);
  load.flops_s = problem_.flops_per_cell / machine_.flops_per_second;
  load.memory_s = slowdown * problem_.bytes_per_cell * byte_s;
  return load;
}

// ---- computing: the roofline, and the start of rows
// -----------------------------------------------

// Size of the planes that contain the farthest neighbours of a cell; wider halos need more planes
// than the three of the measurements.
std::int64_t CostModel::plane_bytes(const Extents& block) const {
  Extents plane = padded(problem_, block);
  for (const std::size_t d : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
    const std::size_t outermost = memory_order(problem_)[2 - d];
    if (problem_.extents[outermost] == 1) continue;
    plane[outermost] = 1;
    break;
  }
  return cell_count(plane) * problem_.element_bytes * problem_.field_count *
         (2 * problem_.halo_width + 1) / 3;
}

double CostModel::compute_s(const Load& load) const {
  const double cells = static_cast<double>(cell_count(load.block));
  const double ghosts = static_cast<double>(cell_count(padded(problem_, load.block))) - cells;
  const double rows = cells / static_cast<double>(load.block[contiguous_dimension(problem_)]);
  // Ghosts are read, but not updated.
  return std::max(cells * load.flops_s, (cells + ghosts * machine_.ghost_share) * load.memory_s) +
         rows * machine_.row_start_s;
}

// Additional cost of updating the cells at the faces first: their neighbours are loaded twice, and
// each row is started once more at the faces across the rows.
double CostModel::skin_s(const Load& load, const Cut& cut) const {
  const std::size_t contiguous = contiguous_dimension(problem_);
  double seconds = 0;
  for (const Face& face : load.faces) {
    if (face.is_own) continue;
    const double slices = static_cast<double>(cell_count(load.block)) /
                          static_cast<double>(load.block[face.dimension]) *
                          sides_per_rank(cut, face, ranks_per_processor_);
    const double cells = slices * static_cast<double>(problem_.halo_width);
    seconds += cells * machine_.skin_penalty * load.cell_s();
    if (face.dimension == contiguous) seconds += slices * machine_.row_end_s;
  }
  return seconds;
}

// ---- packing
// ---------------------------------------------------------------------------------------

// Both ends of one side's message: the sender packs, the receiver unpacks. A face that has just
// been updated is packed from a cache.
double CostModel::copy_s(const Load& load, const Face& face, Pack pack, bool is_updated) const {
  const auto seconds = [&](const CopyTable& table) {
    const auto from = [&](std::int64_t set_bytes) {
      return static_cast<double>(face.bytes) *
             table.seconds_per_byte(face.run_bytes, face.stride_bytes, set_bytes);
    };
    const double apart_s = from(load.set_bytes);
    return is_updated ? (apart_s + std::min(from(1), apart_s)) / 2 : apart_s;
  };
  switch (pack) {
    case Pack::rows:
      return 2 * seconds(machine_.copy);
    case Pack::blocked:
      return 2 * seconds(machine_.blocked);
    case Pack::datatype:
      return seconds(machine_.datatype);
    case Pack::direct:
    case Pack::none:
      break;
  }
  return 0;
}

Pack CostModel::cheapest_pack(const Load& load, const Face& face) const {
  if (face.side_count == 0) return Pack::none;
  // The block's own ghosts are copied within memory, run by run.
  if (face.is_own) return Pack::rows;
  if (face.direct_bytes > 0) return Pack::direct;
  Pack best = Pack::rows;
  double best_s = copy_s(load, face, best, false);
  const auto consider = [&](Pack pack, const CopyTable& table) {
    if (table.is_empty()) return;
    if (const double s = copy_s(load, face, pack, false); s < best_s) {
      best = pack;
      best_s = s;
    }
  };
  consider(Pack::blocked, machine_.blocked);
  consider(Pack::datatype, machine_.datatype);
  return best;
}

// ---- messages: LogGOPS
// -----------------------------------------------------------------------------

CostModel::Exchange CostModel::messages_of(const Face& face, const Cut& cut, double sides) const {
  const bool is_direct = cut.pack[face.dimension] == Pack::direct;
  const double bytes = static_cast<double>(is_direct ? face.direct_bytes : face.bytes);
  const Hops& hops = cut.hops[face.dimension];
  Exchange exchange;
  for (const LinkShare& share : link_shares(machine_, cut, face, sides)) {
    const Link& link = *share.link;
    // The first hop of a torus is part of the link's own latency and contention.
    const bool is_far = link.torus && hops.most > 1;
    const double latency_s = link.latency_s + (is_far ? (hops.most - 1) * link.torus->hop_s : 0);
    const double contention =
        link.contention + (is_far ? (hops.mean - 1) * link.torus->hop_contention : 0);
    exchange.wire_s += share.sides * (2 * link.overhead_s + bytes * link.overhead_s_per_byte);
    if (share.worst == 0) continue;
    // Ranks of a processor that share a wire wait for each other's messages, too.
    const int sharers = std::min(ranks_per_processor_, share.inner_group);
    const double messages = std::max<double>(share.worst, sharers * share.sides);
    const double flight_s = messages * bytes * link.gap_s_per_byte * contention;
    exchange.flight_s += flight_s;
    exchange.progressing_s += flight_s * link.progress_share;
    // Rendezvous: request, reply, data.
    const bool is_announced =
        link.announced_bytes > 0 && bytes > static_cast<double>(link.announced_bytes);
    exchange.latency_s = std::max(exchange.latency_s, is_announced ? 3 * latency_s : latency_s);
    if (is_announced) exchange.announced_s = std::max(exchange.announced_s, latency_s);
  }
  return exchange;
}

CostModel::Exchange CostModel::exchange_of(const Load& load,
                                           const Cut& cut,
                                           bool is_updated) const {
  Exchange sum;
  for (const Face& face : load.faces) {
    if (face.side_count == 0) continue;
    const double sides = sides_per_rank(cut, face, ranks_per_processor_);
    sum.pack_s += sides * copy_s(load, face, cut.pack[face.dimension], is_updated);
    if (face.is_own) continue;
    const Exchange one = messages_of(face, cut, sides);
    sum.wire_s += one.wire_s;
    sum.flight_s += one.flight_s;
    sum.progressing_s += one.progressing_s;
    sum.announced_s = std::max(sum.announced_s, one.announced_s);
    // Star: all messages are in flight together. Box: one dimension after the other.
    sum.latency_s = problem_.stencil == Stencil::star ? std::max(sum.latency_s, one.latency_s)
                                                      : sum.latency_s + one.latency_s;
  }
  return sum;
}

double CostModel::Exchange::seen_s(double poll_interval_s, double busy_s) const {
  if (announced_s >= busy_s || announced_s == 0) return announced_s;
  return std::min(busy_s, std::ceil(announced_s / poll_interval_s) * poll_interval_s);
}

// ---- the step
// --------------------------------------------------------------------------------------

Cut CostModel::without_overlap(const ProcessGrid& grid, const ProcessGrid& brick) const {
  const Load load = load_of(grid);
  Cut cut;
  cut.grid = grid;
  cut.brick = brick;
  for (const Face& face : load.faces)
    cut.pack[face.dimension] = cheapest_pack(load, face);
  if (torus_) cut.hops = torus_->hops_of(cut, problem_);
  const Exchange exchange = exchange_of(load, cut, false);
  const double busy_s = compute_s(load) + exchange.pack_s + exchange.wire_s;
  const double ranks = ranks_per_processor_;
  // The other ranks of the processor work while one waits, and poll messages in between.
  const double others_s = (ranks - 1) * busy_s;
  const double away_s = exchange.seen_s(busy_s, others_s) - exchange.announced_s +
                        exchange.latency_s + exchange.flight_s;
  cut.time = {
      .compute_s = ranks * compute_s(load),
      .pack_s = ranks * exchange.pack_s,
      .wire_s = ranks * exchange.wire_s,
      .wait_s = std::max(0.0, away_s - others_s),
  };
  return cut;
}

Cut CostModel::with_overlap(const Cut& plain, const Overlap& overlap) const {
  const Load load = load_of(plain.grid);
  const Exchange exchange = exchange_of(load, plain, true);
  const double ranks = ranks_per_processor_;
  const double update_s = compute_s(load);
  const double compute_s =
      update_s + skin_s(load, plain) + (overlap.tile_count - 1) * machine_.poll_s;
  const double busy_s = compute_s + exchange.pack_s + exchange.wire_s;
  // A poll after each tile progresses messages that need polling.
  const double stuck_s = (exchange.flight_s - exchange.progressing_s) / overlap.tile_count;
  const double moving_s = exchange.seen_s(update_s / overlap.tile_count, update_s) -
                          exchange.announced_s + exchange.latency_s + exchange.flight_s - stuck_s;
  const double exposed_s = std::max(0.0, moving_s - update_s) + stuck_s;
  Cut cut = plain;
  cut.overlap = overlap;
  cut.time = {
      .compute_s = ranks * compute_s,
      .pack_s = ranks * exchange.pack_s,
      .wire_s = ranks * exchange.wire_s,
      .wait_s = std::max(0.0, exposed_s - (ranks - 1) * busy_s),
  };
  return cut;
}

}  // namespace sorrel::grid
