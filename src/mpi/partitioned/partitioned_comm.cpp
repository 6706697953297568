#include "mpi/partitioned/partitioned_comm.hpp"

#include "mpi/comm/collective_shadows.hpp"

namespace sorrel::mpi {

void PartitionedCommDeleter::operator()(PartitionedComm* partitioned) const {
  delete partitioned;
}

PartitionedComm::PartitionedComm(Comm& comm)
    : channel_(*make_shadow_view(comm, CollectiveShadows::partitioned_index)) {}

PartitionedComm::~PartitionedComm() {
  release(channel_);
}

PartitionedComm& PartitionedComm::of(Comm& comm) {
  if (comm.partitioned == nullptr) comm.partitioned.reset(new PartitionedComm(comm));
  PartitionedComm& made = *comm.partitioned;
  // The hint may have changed.
  made.channel_.is_read_late = comm.is_read_late;
  return made;
}

bool PartitionedComm::take_numbers(std::size_t count, std::int32_t* first) {
  if (count > static_cast<std::size_t>(number_count - next_number_)) return false;
  *first = next_number_;
  next_number_ += static_cast<std::int32_t>(count);
  return true;
}

}  // namespace sorrel::mpi
