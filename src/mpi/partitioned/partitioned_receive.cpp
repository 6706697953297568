#include "mpi/partitioned/partitioned_receive.hpp"

#include <algorithm>

#include "mpi/partitioned/partitioned_comm.hpp"

namespace sorrel::mpi {

PartitionedReceive::PartitionedReceive(RankState& self,
                                       Comm& comm,
                                       const PartitionedArguments& arguments)
    : PartitionedMessage(self, comm, arguments),
      answer_{.element_bytes = arguments.type.size(), .total_bytes = arguments.total_bytes()} {}

Request& PartitionedReceive::make(RankState& self,
                                  Comm& comm,
                                  const PartitionedArguments& arguments) {
  // Owned by its request.
  auto* made = new PartitionedReceive(self, comm, arguments);
  Request& request = made->request();
  if (made->has_peer()) made->await_peer();
  return request;
}

void PartitionedReceive::await_peer() {
  start_handshake_part(add_receive(&introduction_, sizeof introduction_,
                                   *datatype_from_handle(MPI_BYTE), arguments().tag));
}

void PartitionedReceive::meet_peer() {
  start_handshake_part(add_send(&answer_, sizeof answer_, *datatype_from_handle(MPI_BYTE),
                                answer_tag(introduction_.first_number)));
  meet(introduction_, answer_);
}

Request& PartitionedReceive::make_unit(std::size_t first, std::size_t last, std::int32_t tag) {
  const std::size_t element_bytes = answer_.element_bytes;
  Datatype& type = arguments().type;
  if (element_bytes == 0) return add_receive(arguments().buffer, 0, type, tag);
  // The last unit may end within an element.
  const std::size_t count = (last - first + element_bytes - 1) / element_bytes;
  return add_receive(static_cast<std::byte*>(arguments().buffer) +
                         static_cast<std::ptrdiff_t>(first / element_bytes) * type.extent(),
                     count, type, tag);
}

void PartitionedReceive::reset() {
  std::fill(is_there_.begin(), is_there_.end(), std::uint8_t{0});
}

void PartitionedReceive::start_units() {
  is_there_.assign(layout().count, 0);
  for (std::size_t unit = 0; unit < layout().count; ++unit)
    start_unit(unit);
}

void PartitionedReceive::end_unit(std::size_t unit) {
  is_there_[unit] = 1;
}

bool PartitionedReceive::has_arrived(std::size_t partition) const {
  if (!is_laid_out()) return false;
  const std::size_t bytes = arguments().partition_bytes();
  const std::size_t first = partition * bytes;
  const std::size_t last = bytes == 0 ? first : first + bytes - 1;
  const auto* units = is_there_.data();
  return std::all_of(units + layout().unit_of(first), units + layout().unit_of(last) + 1,
                     [](std::uint8_t is_there) { return is_there != 0; });
}

}  // namespace sorrel::mpi
