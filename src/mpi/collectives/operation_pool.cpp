#include "mpi/collectives/operation_pool.hpp"

namespace sorrel::mpi {

OperationPool& OperationPool::of(const RankState& self) {
  auto& pool = self.worker_state->operations;
  if (pool == nullptr) [[unlikely]]
    pool = std::make_unique<OperationPool>(*self.worker, self.world->operation_stack_bytes());
  return *pool;
}

CollectiveOperation& OperationPool::take() {
  if (free_ == nullptr) [[unlikely]] {
    operations_.push_back(std::make_unique<CollectiveOperation>(*this));
    return *operations_.back();
  }
  CollectiveOperation& operation = *free_;
  free_ = operation.next_;
  return operation;
}

bool OperationPool::is_idle() const {
  std::size_t free_count = 0;
  for (const CollectiveOperation* operation = free_; operation != nullptr;
       operation = operation->next_)
    ++free_count;
  return free_count == operations_.size();
}

void OperationPool::give_back(CollectiveOperation& operation) {
  operation.next_ = free_;
  free_ = &operation;
}

}  // namespace sorrel::mpi
