#include "mpi/partitioned/partitioned_send.hpp"

#include <algorithm>

#include "mpi/partitioned/partitioned_comm.hpp"

namespace sorrel::mpi {

PartitionedSend::PartitionedSend(RankState& self, Comm& comm, const PartitionedArguments& arguments)
    : PartitionedMessage(self, comm, arguments),
      introduction_{.partition_bytes = arguments.partition_bytes(),
                    .total_bytes = arguments.total_bytes(),
                    .first_number = 0},
      is_ready_(arguments.partition_count) {}

int PartitionedSend::make(RankState& self,
                          Comm& comm,
                          const PartitionedArguments& arguments,
                          Request** request) {
  std::int32_t first_number = 0;
  const std::size_t unit_count_max =
      std::clamp<std::size_t>(arguments.partition_count, 1, TransferUnits::count_max);
  if (arguments.peer != MPI_PROC_NULL &&
      !PartitionedComm::of(comm).take_numbers(unit_count_max, &first_number)) {
    return self.fail(
        MPI_ERR_OTHER,
        "comm has had too many partitions (%zu more are wanted); use a duplicate of it",
        unit_count_max);
  }
  // Owned by its request.
  auto* made = new PartitionedSend(self, comm, arguments);
  *request = &made->request();
  if (made->has_peer()) made->introduce_to_peer(first_number);
  return MPI_SUCCESS;
}

void PartitionedSend::introduce_to_peer(std::int32_t first_number) {
  Datatype& byte = *datatype_from_handle(MPI_BYTE);
  introduction_.first_number = first_number;
  Request& answer = add_receive(&answer_, sizeof answer_, byte, answer_tag(first_number));
  Request& introduction = add_send(&introduction_, sizeof introduction_, byte, arguments().tag);
  start_handshake_part(answer);
  start_handshake_part(introduction);
}

void PartitionedSend::meet_peer() {
  meet(introduction_, answer_);
}

Request& PartitionedSend::make_unit(std::size_t first, std::size_t last, std::int32_t tag) {
  const std::size_t partition_bytes = introduction_.partition_bytes;
  Datatype& type = arguments().type;
  if (partition_bytes == 0) return add_send(arguments().buffer, 0, type, tag);
  const std::size_t count = arguments().count;
  const std::size_t element = first / partition_bytes * count;
  return add_send(static_cast<std::byte*>(arguments().buffer) +
                      static_cast<std::ptrdiff_t>(element) * type.extent(),
                  (last - first) / partition_bytes * count, type, tag);
}

std::size_t PartitionedSend::unit_of(std::size_t partition) const {
  return layout().unit_of(partition * introduction_.partition_bytes);
}

void PartitionedSend::reset() {
  std::fill(is_ready_.begin(), is_ready_.end(), std::uint8_t{0});
}

void PartitionedSend::start_units() {
  missing_counts_.assign(layout().count, 0);
  for (std::size_t partition = 0; partition < partition_count(); ++partition)
    missing_counts_[unit_of(partition)] += is_ready(partition) ? 0 : 1;
  for (std::size_t unit = 0; unit < layout().count; ++unit) {
    if (missing_counts_[unit] == 0) start_unit(unit);
  }
}

void PartitionedSend::set_ready(std::size_t partition) {
  SORREL_ASSERT(!is_ready(partition));
  is_ready_[partition] = 1;
  if (!is_laid_out()) return;
  const std::size_t unit = unit_of(partition);
  if (--missing_counts_[unit] == 0) start_unit(unit);
}

}  // namespace sorrel::mpi
