#include "mpi/collectives/collective_operation.hpp"

#include <algorithm>

#include "mpi/collectives/operation_pool.hpp"
#include "mpi/collectives/outstanding.hpp"

namespace sorrel::mpi {

void CollectiveOperation::hold(const Datatype* type) {
  if (type == nullptr) return;
  auto& place = types_[types_[0] == nullptr ? 0 : 1];
  SORREL_ASSERT(place == nullptr, "a collective has two datatypes at most");
  place = const_cast<Datatype*>(type);
  place->retain();
}

void CollectiveOperation::hold(const Op& op) {
  op_ = const_cast<Op*>(&op);
  op_->retain();
}

void CollectiveOperation::hold(Integers& integers, std::int32_t size) {
  if (integers.is_null()) return;
  const auto list =
      std::ranges::find_if(integer_lists_, [](const auto& values) { return values.empty(); });
  SORREL_ASSERT(list != integer_lists_.end(), "a collective has four arrays at most");
  for (std::size_t i = 0; i < static_cast<std::size_t>(size); ++i)
    list->push_back(integers[i]);
  integers = Integers(list->data());
}

void CollectiveOperation::hold(BlockList& blocks, std::int32_t size) {
  hold(blocks.counts, size);
  hold(blocks.displacements, size);
  if (blocks.types == nullptr) {
    hold(blocks.type);
    return;
  }
  auto& list = type_lists_[type_lists_[0].empty() ? 0 : 1];
  SORREL_ASSERT(list.empty());
  list.assign(blocks.types, blocks.types + size);
  for (const MPI_Datatype type : list)
    datatype_from_handle(type)->retain();
  blocks.types = list.data();
}

void CollectiveOperation::release_objects() {
  for (Datatype*& type : types_) {
    if (type != nullptr) type->release();
    type = nullptr;
  }
  if (op_ != nullptr) op_->release();
  op_ = nullptr;
  for (auto& list : type_lists_) {
    for (const MPI_Datatype type : list)
      datatype_from_handle(type)->release();
    list.clear();
  }
  for (auto& list : integer_lists_)
    list.clear();
}

Request& CollectiveOperation::make_request(RankState& self, Comm& comm) {
  owner_ = &self;
  comm_ = &comm;
  request_ = &make_operation_request(self, comm, *this);
  return *request_;
}

void CollectiveOperation::become_persistent(Comm* own_shadow) {
  is_persistent_ = true;
  shadow_ = own_shadow;
  make_persistent(*request_);
}

/// For reports: its number among those that the member has started on `comm`, counted with those of
/// its own group.
void CollectiveOperation::count_start(const Comm& comm) {
  CollectiveShadows& shadows = local_part_of(comm).shared->shadows();
  auto& count = shadows.started_count(comm_->rank);
  number_ = count.load(std::memory_order_relaxed);
  count.store(number_ + 1, std::memory_order_relaxed);
  counts_ = &shadows;
}

int CollectiveOperation::start() {
  SORREL_ASSERT(request_->is_active && !request_->completion.is_done());
  detail_.reset();
  if (is_alone(*comm_)) {
    shadow_ = comm_;
    run();
    return MPI_SUCCESS;
  }
  if (is_persistent_) {
    count_start(*shadow_);
    return start_on_fiber();
  }
  count_start(*comm_);
  OutstandingCollectives& outstanding = OutstandingCollectives::of(*comm_);
  return outstanding.add(*this) ? start_on_fiber() : MPI_SUCCESS;
}

int CollectiveOperation::start_on_fiber() {
  if (pool_.fibers().run(owner_->fiber, run_on_fiber, this)) return MPI_SUCCESS;
  return owner_->fail(MPI_ERR_NO_MEM, "no memory for the stack of a nonblocking collective");
}

void CollectiveOperation::run_on_fiber(void* argument) {
  auto* operation = static_cast<CollectiveOperation*>(argument);
  while (operation != nullptr) {
    // The request may end as soon as this fiber waits.
    OutstandingCollectives* outstanding =
        operation->is_persistent_ ? nullptr : operation->comm_->outstanding.get();
    const std::uint32_t number = operation->number_;
    operation->run();
    operation = outstanding == nullptr ? nullptr : outstanding->next_after(number);
  }
}

void CollectiveOperation::run() {
  shadow_->call = call_;
  const int error = run_(arguments_.data(), {*owner_, *shadow_});
  if (error != MPI_SUCCESS) {
    detail_ = std::make_unique<ErrorDetail>(owner_->detail());
    owner_->detail() = {};
    request_->error = error;
  }
  complete(*request_);
}

int CollectiveOperation::explain(RankState& self, int error_class) const {
  const char* text = detail_ == nullptr ? "" : detail_->text();
  return self.fail(error_class, "%s%s%s", name_of(call_).c_str(), text[0] == '\0' ? "" : ": ",
                   text);
}

std::optional<std::int32_t> CollectiveOperation::awaited_rank() const {
  if (counts_ == nullptr) return std::nullopt;
  const CommShared& shared = *local_part_of(*comm_).shared;
  for (std::int32_t rank = 0; rank < shared.size(); ++rank) {
    const std::int32_t world_rank = shared.group()->world_rank(rank);
    if (!shared.world().is_here(world_rank)) continue;
    if (counts_->started_count(rank).load(std::memory_order_relaxed) <= number_) return world_rank;
  }
  return std::nullopt;
}

void CollectiveOperation::end() {
  release_objects();
  detail_.reset();
  if (is_persistent_ && shadow_ != nullptr && shadow_ != comm_) release(*shadow_);
  shadow_ = nullptr;
  is_persistent_ = false;
  counts_ = nullptr;
  pool_.give_back(*this);
}

}  // namespace sorrel::mpi
