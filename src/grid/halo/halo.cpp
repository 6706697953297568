#include <cstddef>
#include <utility>
#include <vector>

#include <sorrel/grid/halo.hpp>

#include "base/text.hpp"
#include "grid/halo/channel.hpp"
#include "grid/halo/sides.hpp"
#include "grid/plan/face.hpp"

namespace sorrel::grid {
namespace {

// What is wrong with the fields of a rank that has the block `cells`.
std::string trouble_with_fields(const Problem& problem,
                                const Extents& cells,
                                std::span<const ArrayView> fields) {
  if (fields.size() != static_cast<std::size_t>(problem.field_count))
    return text_of("%zu fields are given, the problem has %d", fields.size(), problem.field_count);
  const Extents room = padded(problem, cells);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].element_bytes != problem.element_bytes)
      return text_of("elements of field %zu have %lld bytes, those of the problem %lld", i,
                     static_cast<long long>(fields[i].element_bytes),
                     static_cast<long long>(problem.element_bytes));
    for (std::size_t d = 0; d < room.size(); ++d)
      if (fields[i].extents[d] != room[d])
        return text_of(
            "field %zu has %lld cells in dimension %zu; it must be the block with its "
            "ghosts, %lld",
            i, static_cast<long long>(fields[i].extents[d]), d, static_cast<long long>(room[d]));
  }
  return "";
}

std::string trouble_with_cut(const Problem& problem, const Candidate& cut, int comm_size) {
  for (std::size_t d = 0; d < cut.grid.size(); ++d) {
    const int parts = cut.grid[d];
    if (parts < 1 || cut.brick[d] < 1 || parts % cut.brick[d] != 0)
      return text_of("%d parts in dimension %zu with bricks of %d; bricks must divide parts", parts,
                     d, cut.brick[d]);
    ProcessGrid last{};
    last[d] = parts - 1;
    const std::int64_t smallest = block_at(problem, cut.grid, last).extents[d];
    if (parts > 1 && smallest < problem.halo_width)
      return text_of(
          "the halo of %lld cells is wider than the smallest block in dimension %zu, %lld; cut it "
          "into fewer than %d parts",
          static_cast<long long>(problem.halo_width), d, static_cast<long long>(smallest), parts);
  }
  if (cut.rank_count() > comm_size)
    return text_of("the cut needs %d ranks, the communicator has %d", cut.rank_count(), comm_size);
  return "";
}

}  // namespace

struct Halo::Parts {
  Problem problem;
  MPI_Comm comm = MPI_COMM_NULL;
  Block block;
  int rank = 0;
  std::vector<Channel> channels;  ///< by dimension, the low end first
  std::vector<MPI_Request> requests;
  /// Dimensions below this one have been started, in the exchange under way.
  std::size_t next_dimension = 0;

  // Dimensions that are exchanged together: all of a star, one of a box.
  [[nodiscard]] std::size_t phase_end() const {
    return problem.stencil == Stencil::star ? dimension_count_max : next_dimension + 1;
  }

  template <class Visit>
  void each_of_phase(Visit&& visit) {
    for (std::size_t i = 0; i < channels.size(); ++i) {
      const std::size_t d = channels[i].side().dimension;
      if (d >= next_dimension && d < phase_end()) visit(i, channels[i]);
    }
  }

  [[nodiscard]] bool is_own(const Channel& channel) const {
    return channel.side().neighbour == rank;
  }

  // The channel of the other end of the same dimension: where a grid is periodic and not cut.
  Channel& opposite(std::size_t i) { return channels[channels[i].side().end == 0 ? i + 1 : i - 1]; }

  void start_phase() {
    each_of_phase([&](std::size_t i, Channel& channel) {
      if (!is_own(channel)) channel.receive(comm, &requests[2 * i]);
    });
    each_of_phase([&](std::size_t i, Channel& channel) {
      if (!is_own(channel)) channel.send(comm, &requests[2 * i + 1]);
    });
  }

  void finish_phase() {
    each_of_phase([&](std::size_t i, Channel& channel) {
      if (is_own(channel)) channel.copy_from(opposite(i));
    });
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    each_of_phase([&](std::size_t, Channel& channel) {
      if (!is_own(channel)) channel.take();
    });
    next_dimension = phase_end();
  }
};

Halo::Halo(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Halo::Halo(Halo&&) noexcept = default;
Halo& Halo::operator=(Halo&&) noexcept = default;

Halo::~Halo() {
  if (parts_ == nullptr) return;
  parts_->channels.clear();
  MPI_Comm_free(&parts_->comm);
}

Result<Halo> Halo::make(MPI_Comm comm,
                        const Problem& problem,
                        const Candidate& cut,
                        std::span<const ArrayView> fields) {
  int size = 0;
  auto parts = std::make_unique<Parts>();
  MPI_Comm_rank(comm, &parts->rank);
  MPI_Comm_size(comm, &size);
  if (std::string text = trouble_with(problem); !text.empty()) return Trouble{std::move(text)};
  if (std::string text = trouble_with_cut(problem, cut, size); !text.empty())
    return Trouble{std::move(text)};
  parts->problem = problem;
  if (parts->rank < cut.rank_count()) {
    parts->block = block_at(problem, cut.grid, coords_of(parts->rank, cut.grid, cut.brick));
    std::string text = trouble_with_fields(problem, parts->block.extents, fields);
    if (!text.empty()) return Trouble{std::move(text)};
    for (const Side& side : sides_of(problem, cut, parts->rank))
      parts->channels.emplace_back(side, fields, problem.order);
  }
  parts->requests.assign(2 * parts->channels.size(), MPI_REQUEST_NULL);
  MPI_Comm_dup(comm, &parts->comm);
  return Halo(std::move(parts));
}

void Halo::exchange() {
  begin();
  finish();
}

void Halo::begin() {
  parts_->next_dimension = 0;
  parts_->start_phase();
}

void Halo::poll() {
  int is_done = 0;
  MPI_Testall(static_cast<int>(parts_->requests.size()), parts_->requests.data(), &is_done,
              MPI_STATUSES_IGNORE);
}

void Halo::finish() {
  parts_->finish_phase();
  while (parts_->next_dimension < dimension_count_max) {
    parts_->start_phase();
    parts_->finish_phase();
  }
}

const Problem& Halo::problem() const {
  return parts_->problem;
}

Block Halo::block() const {
  return parts_->block;
}

}  // namespace sorrel::grid
