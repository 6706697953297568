#include "mpi/collectives/outstanding.hpp"

#include <algorithm>

#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

void OutstandingCollectivesDeleter::operator()(OutstandingCollectives* collectives) const {
  delete collectives;
}

OutstandingCollectives& OutstandingCollectives::of(Comm& comm) {
  if (comm.outstanding == nullptr) [[unlikely]]
    comm.outstanding.reset(new OutstandingCollectives(comm));
  return *comm.outstanding;
}

OutstandingCollectives::~OutstandingCollectives() {
  for (const Line& line : lines_) {
    // A job may end while an operation of MPI_COMM_WORLD is in progress, which then stays.
    if (line.shadow != nullptr && !line.is_busy) release(*line.shadow);
  }
}

bool OutstandingCollectives::add(CollectiveOperation& operation) {
  const std::uint32_t number = next_number_++;
  Line& line = line_of(number);
  if (line.shadow == nullptr) {
    line.shadow = make_shadow_view(comm_, number % CollectiveShadows::shadow_count);
  }
  // The hint may have changed.
  line.shadow->is_read_late = comm_.is_read_late;
  operation.shadow_ = line.shadow;
  operation.number_ = number;
  if (!line.is_busy) {
    line.is_busy = true;
    return true;
  }
  operation.next_ = nullptr;
  (line.first_waiting == nullptr ? line.first_waiting : line.last_waiting->next_) = &operation;
  line.last_waiting = &operation;
  return false;
}

bool OutstandingCollectives::is_idle() const {
  return std::ranges::none_of(lines_, &Line::is_busy);
}

CollectiveOperation* OutstandingCollectives::next_after(std::uint32_t number) {
  Line& line = line_of(number);
  SORREL_ASSERT(line.is_busy);
  CollectiveOperation* next = line.first_waiting;
  line.is_busy = next != nullptr;
  if (next != nullptr) line.first_waiting = next->next_;
  return next;
}

}  // namespace sorrel::mpi
