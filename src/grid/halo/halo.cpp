#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include <sorrel/grid/halo.hpp>

#include "grid/halo/channel.hpp"
#include "grid/halo/fit.hpp"
#include "grid/halo/sides.hpp"

namespace sorrel::grid {
namespace {

/// When received messages are unpacked into the ghosts.
enum class UnpackTime {
  early,   ///< while other faces are sent
  at_end,  ///< after the caller's update
};

}  // namespace

struct Halo::Parts {
  Problem problem;
  MPI_Comm comm = MPI_COMM_NULL;
  Box<3> block;
  int rank = 0;
  std::vector<Channel> channels;      ///< by dimension, the low end first
  std::vector<MPI_Request> requests;  ///< for each channel to receive, to send
  std::vector<bool> is_unpacked;      ///< channels whose ghosts are filled
  /// Dimensions below this one have been started, in the exchange in progress.
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

  // The channel of the other end of the same dimension, for a periodic dimension that is not cut.
  Channel& opposite(std::size_t i) { return channels[channels[i].side().end == 0 ? i + 1 : i - 1]; }

  void start_phase(UnpackTime unpack_time) {
    each_of_phase([&](std::size_t i, Channel& channel) {
      is_unpacked[i] = false;
      if (!is_own(channel)) channel.receive(comm, &requests[2 * i]);
    });
    each_of_phase([&](std::size_t i, Channel& channel) {
      if (is_own(channel)) return;
      channel.send(comm, &requests[2 * i + 1]);
      if (unpack_time == UnpackTime::early && channel.side().is_part) unpack_parts();
    });
  }

  // Unpacks received parts while a cache may still hold the lines that they share with sent parts.
  void unpack_parts() {
    if (is_sending_ghosts()) return;
    // Later parts of a side arrive later.
    std::array<bool, 2> is_waiting{};
    each_of_phase([&](std::size_t i, Channel& channel) {
      bool& waits = is_waiting[static_cast<std::size_t>(channel.side().end)];
      if (!channel.side().is_part || is_unpacked[i] || waits) return;
      waits = !has_ended(2 * i);
      if (!waits) unpack_ghosts(i, channel);
    });
  }

  void unpack_ghosts(std::size_t i, Channel& channel) {
    channel.unpack_ghosts();
    is_unpacked[i] = true;
  }

  [[nodiscard]] bool has_ended(std::size_t request) {
    int is_done = 0;
    MPI_Test(&requests[request], &is_done, MPI_STATUS_IGNORE);
    return is_done != 0;
  }

  // Whether whole slabs are being sent: they include ghosts, which must not be written meanwhile.
  [[nodiscard]] bool is_sending_ghosts() {
    for (std::size_t i = 0; i < channels.size(); ++i)
      if (channels[i].side().pack == Pack::direct && !has_ended(2 * i + 1)) return true;
    return false;
  }

  void finish_phase() {
    // No ghost is written before all sends have completed: a whole slab includes ghosts of other
    // dimensions, and the block's own copies would overwrite these.
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    each_of_phase([&](std::size_t i, Channel& channel) {
      if (is_own(channel))
        channel.copy_from(opposite(i));
      else if (!is_unpacked[i])
        unpack_ghosts(i, channel);
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
                        const Cut& cut,
                        std::span<const ArrayView> fields) {
  int size = 0;
  auto parts = std::make_unique<Parts>();
  MPI_Comm_rank(comm, &parts->rank);
  MPI_Comm_size(comm, &size);
  if (std::string text = error_in(problem, cut, size); !text.empty()) return Error{std::move(text)};
  parts->problem = problem;
  if (parts->rank < cut.rank_count()) {
    parts->block = block_of(problem, cut, parts->rank);
    std::string text = error_in(problem, parts->block.extents(), fields);
    if (!text.empty()) return Error{std::move(text)};
    for (const Side& side : sides_of(problem, cut, parts->rank)) {
      const bool is_own = side.neighbour == parts->rank;
      for (const Side& part : is_own ? std::vector{side} : parts_of(problem, side))
        parts->channels.emplace_back(part, fields, problem.order);
    }
  }
  parts->requests.assign(2 * parts->channels.size(), MPI_REQUEST_NULL);
  parts->is_unpacked.assign(parts->channels.size(), false);
  MPI_Comm_dup(comm, &parts->comm);
  return Halo(std::move(parts));
}

void Halo::exchange() {
  parts_->next_dimension = 0;
  parts_->start_phase(UnpackTime::early);
  finish();
}

void Halo::begin() {
  parts_->next_dimension = 0;
  parts_->start_phase(UnpackTime::at_end);
}

void Halo::poll() {
  int is_done = 0;
  MPI_Testall(static_cast<int>(parts_->requests.size()), parts_->requests.data(), &is_done,
              MPI_STATUSES_IGNORE);
}

void Halo::finish() {
  parts_->finish_phase();
  while (parts_->next_dimension < dimension_count_max) {
    parts_->start_phase(UnpackTime::early);
    parts_->finish_phase();
  }
}

const Problem& Halo::problem() const {
  return parts_->problem;
}

Box<3> Halo::block() const {
  return parts_->block;
}

}  // namespace sorrel::grid
