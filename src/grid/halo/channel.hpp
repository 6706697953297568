//! Channel - what one block sends to one neighbour and receives from it, in all fields.
//!
//! One owner at a time. Data that are one run go as they lie, those with a datatype too, and all
//! others through a buffer of the channel's. Both ends agree on the bytes, not on the way.
#pragma once

#include <cstddef>
#include <mpi.h>
#include <span>
#include <vector>

#include <sorrel/grid/array_view.hpp>

#include "grid/copy/runs.hpp"
#include "grid/halo/sides.hpp"

namespace sorrel::grid {

class Channel {
 public:
  Channel(const Side& side, std::span<const ArrayView> fields, MemoryOrder order);
  Channel(Channel&& other) noexcept;
  Channel& operator=(Channel&&) = delete;
  ~Channel();

  [[nodiscard]] const Side& side() const { return side_; }

  /// Starts to receive; starts to send what the fields hold.
  void receive(MPI_Comm comm, MPI_Request* request);
  void send(MPI_Comm comm, MPI_Request* request);

  /// After the receive has ended: puts what came into the ghosts.
  void take();

  /// For a neighbour that is the block itself: fills these ghosts from the cells that `opposite`,
  /// the block's other end, sends.
  void copy_from(Channel& opposite);

 private:
  /// One direction.
  struct Lane {
    std::vector<Runs> runs;  ///< one for each field
    std::byte* data = nullptr;
    std::vector<std::byte> buffer;
    MPI_Datatype type = MPI_BYTE;  ///< of the whole message, unless bytes
    int count = 0;
  };

  [[nodiscard]] static Lane lane_of(const Box& box,
                                    std::span<const ArrayView> fields,
                                    MemoryOrder order,
                                    Pack pack);

  Side side_;
  Lane out_;
  Lane in_;
};

}  // namespace sorrel::grid
