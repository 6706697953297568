//! Channel - the messages between one block and one neighbour, in both directions, for all fields.
//!
//! One owner at a time. A payload that is one run, or has a datatype, is sent and received in
//! place, any other through a buffer of the channel. Both ends agree on the bytes, not on the way.
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

  /// Starts the receive; packs the fields if needed, and starts the send.
  void receive(MPI_Comm comm, MPI_Request* request);
  void send(MPI_Comm comm, MPI_Request* request);

  /// After the receive has completed: unpacks the message into the ghosts.
  void unpack_ghosts();

  /// For a neighbour that is the block itself: fills these ghosts from the cells that `opposite`,
  /// the block's other end, sends.
  void copy_from(Channel& opposite);

 private:
  /// The payload of one direction.
  struct Payload {
    std::vector<Runs> runs;  ///< one for each field
    std::byte* data = nullptr;
    std::vector<std::byte> buffer;
    MPI_Datatype type = MPI_BYTE;  ///< of the whole message; MPI_BYTE: bytes
    int count = 0;
  };

  [[nodiscard]] static Payload payload_of(const Box<3>& box,
                                          std::span<const ArrayView> fields,
                                          MemoryOrder order,
                                          Pack pack);

  Side side_;
  Payload out_;
  Payload in_;
};

}  // namespace sorrel::grid
