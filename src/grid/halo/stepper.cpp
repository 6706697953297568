#include "grid/halo/stepper.hpp"

#include <algorithm>
#include <utility>

#include "grid/halo/sides.hpp"
#include "grid/measure/sweep.hpp"
#include "grid/plan/face.hpp"

namespace sorrel::grid {
namespace {

// The view with its contiguous dimension last, as sweep() requires.
ArrayView in_c_order(ArrayView view, MemoryOrder order) {
  if (order == MemoryOrder::fortran) {
    std::swap(view.extents[0], view.extents[2]);
    std::swap(view.strides[0], view.strides[2]);
  }
  return view;
}

Box<3> in_c_order(Box<3> box, MemoryOrder order) {
  if (order == MemoryOrder::fortran) {
    std::swap(box.lo[0], box.lo[2]);
    std::swap(box.hi[0], box.hi[2]);
  }
  return box;
}

// Cuts `width` cells off one end of a box, and returns them.
Box<3> cut_off(Box<3>& box, std::size_t dimension, int end, std::int64_t width) {
  Box<3> part = box;
  width = std::min(width, box.extent(dimension));
  if (end == 0)
    box.lo[dimension] = part.hi[dimension] = part.lo[dimension] + width;
  else
    box.hi[dimension] = part.lo[dimension] = part.hi[dimension] - width;
  return part;
}

}  // namespace

std::array<std::span<std::byte>, 2> StepperMemory::get(std::size_t bytes, int rank) {
  std::array<std::span<std::byte>, 2> spans;
  for (std::size_t i = 0; i < spans.size() && bytes > 0; ++i) {
    if (states_[i].bytes().size() < bytes) {
      // Frees the old pages first. The memory also suffices for another cut with more ghosts.
      states_[i] = LargePages();
      // Different colors: arrays of a rank and its neighbours begin in different cache sets.
      states_[i] = LargePages(bytes + bytes / 4, 2 * rank + static_cast<int>(i));
      std::ranges::fill(states_[i].bytes(), std::byte{0});
    }
    spans[i] = states_[i].bytes().first(bytes);
  }
  return spans;
}

Result<Stepper> Stepper::make(MPI_Comm comm,
                              const Problem& problem,
                              const Cut& cut,
                              StepperMemory& memory) {
  if (problem.element_bytes % static_cast<std::int64_t>(sizeof(double)) != 0)
    return Error{"only elements that are whole doubles can be timed"};
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  Stepper stepper;
  stepper.problem_ = problem;
  stepper.cut_ = cut;
  Extents room{};
  if (rank < cut.rank_count()) {
    const ProcessGrid coords = coords_of(rank, cut.grid, cut.brick);
    const Extents cells = block_at(problem, cut.grid, coords).extents();
    room = padded(problem, cells);
    Extents ghosts{};
    for (std::size_t d = 0; d < room.size(); ++d)
      ghosts[d] = (room[d] - cells[d]) / 2;
    stepper.whole_ = Box<3>::at(ghosts, cells);
    stepper.set_boxes(rank);
  }
  const std::int64_t bytes = cell_count(room) * problem.element_bytes * problem.field_count;
  const auto data = memory.get(static_cast<std::size_t>(bytes), rank);
  for (std::size_t i = 0; i < data.size(); ++i) {
    Result<State> made = make_state(comm, problem, cut, room, data[i]);
    if (!made.has_value()) return Error{made.error()};
    (i == 0 ? stepper.now_ : stepper.next_) = std::move(made).value();
  }
  stepper.now_.halo[0].exchange();
  return stepper;
}

Result<Stepper::State> Stepper::make_state(MPI_Comm comm,
                                           const Problem& problem,
                                           const Cut& cut,
                                           const Extents& room,
                                           std::span<std::byte> data) {
  State state;
  const std::size_t bytes = data.size() / static_cast<std::size_t>(problem.field_count);
  for (int i = 0; i < problem.field_count && bytes > 0; ++i)
    state.fields.push_back(dense_view(data.data() + static_cast<std::size_t>(i) * bytes, room,
                                      problem.element_bytes, problem.order));
  Result<Halo> halo = Halo::make(comm, problem, cut, state.fields);
  if (!halo.has_value()) return Error{halo.error()};
  state.halo.push_back(std::move(halo).value());
  return state;
}

void Stepper::set_boxes(int rank) {
  Box<3> rest = whole_;
  for (const Side& side : sides_of(problem_, cut_, rank))
    if (side.neighbour != rank)
      skin_.push_back(cut_off(rest, side.dimension, side.end, problem_.halo_width));
  // Tiles are slabs of the outermost dimension, so that no row is cut.
  const std::size_t outermost = memory_order(problem_)[2];
  std::int64_t tile_count = cut_.overlap.tile_count;
  for (; tile_count > 0 && rest.extent(outermost) > 0; --tile_count)
    tiles_.push_back(
        cut_off(rest, outermost, 0, (rest.extent(outermost) + tile_count - 1) / tile_count));
}

void Stepper::update(const Box<3>& box) {
  for (std::size_t i = 0; i < now_.fields.size(); ++i)
    sweep(in_c_order(now_.fields[i], problem_.order), in_c_order(next_.fields[i], problem_.order),
          in_c_order(box, problem_.order));
}

void Stepper::step() {
  if (cut_.overlap.kind == Overlap::Kind::none) {
    now_.halo[0].exchange();
    update(whole_);
  } else {
    Halo& halo = next_.halo[0];
    for (const Box<3>& box : skin_)
      update(box);
    halo.begin();
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      if (i > 0) halo.poll();
      update(tiles_[i]);
    }
    halo.finish();
  }
  std::swap(now_, next_);
}

}  // namespace sorrel::grid
