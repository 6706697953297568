#include "mpi/collectives/process_slots.hpp"

#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "mpi/base/error_detail.hpp"
#include "mpi/base/error_string.hpp"
#include "mpi/collectives/slots.hpp"
#include "mpi/collectives/small_reduction.hpp"
#include "mpi/comm/world.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

ProcessSlots::ProcessSlots(CollectiveSlots& slots,
                           const BarrierMembers& members,
                           const BarrierNodes& nodes,
                           std::uint32_t context)
    : slots_(slots),
      members_(members),
      nodes_(nodes),
      context_(context),
      contributions_(*members.processes, block_rank_count) {}

bool ProcessSlots::complete(BarrierNode& root) {
  SORREL_ASSERT(root.parent == nullptr && left_count_.load(std::memory_order_relaxed) == 0);
  if (root.has_outcome()) [[unlikely]]
    end_job_with(root.outcome().mismatch);
  if (std::exchange(root.is_local_barrier, false)) {
    slots_.release(root);
    return true;
  }
  const bool has_values = root.reduction.kernel != nullptr;
  if (has_values) {
    for (const std::int32_t block : nodes_.shared_blocks())
      fold_block(root, block, members_.group.size());
  }
  if (barrier_ == nullptr) {
    WorkerState& state = members_.world.state_of(*root.worker);
    barrier_ = &state.process_barriers->of(context_);
    barrier_->attach(*members_.processes, contributions_, *this, *state.send_queue);
  }
  return barrier_->begin(root.first_call, has_values ? root.reduction.bytes : 0,
                         slots_.wanted_safepoints(root));
}

/// Members of other processes wait for messages that will not come: no error handler can resolve
/// that.
void ProcessSlots::end_job_with(const CollectiveMismatch& mismatch) {
  ErrorDetail detail;
  const int error_class = mismatch.explain(detail);
  char text[400];
  std::snprintf(text, sizeof text, "%s: %s: %s", name_of(mismatch.other.call).c_str(),
                error_string(error_class), detail.text());
  members_.world.job().end_job(nullptr, error_class, text);
}

std::byte* ProcessSlots::value(std::int32_t rank) {
  const BarrierNode& root = nodes_.root();
  return value_of(root, root.reduction.bytes, rank);
}

const std::byte* ProcessSlots::combine() {
  BarrierNode& root = nodes_.root();
  for (const std::int32_t block : nodes_.spread_blocks())
    fold_block(root, block, members_.group.size());
  combine_blocks(root, members_.group.size());
  return root.result.data();
}

bool ProcessSlots::release_all(const std::byte* result, std::uint32_t wanted) {
  BarrierNode& root = nodes_.root();
  if (result != nullptr && result != root.result.data())
    std::memcpy(root.result.data(), result, root.reduction.bytes);
  return slots_.release_root(root, wanted);
}

void ProcessSlots::leave() {
  // Acquire and release: the last one sees the process barrier, in which no member is.
  const std::uint32_t left_count = left_count_.fetch_add(1, std::memory_order_acq_rel) + 1;
  SORREL_ASSERT(left_count <= nodes_.member_count());
  if (left_count != nodes_.member_count() || barrier_ == nullptr) return;
  core::Worker* here = core::Worker::current();
  core::Worker& root = *nodes_.root().worker;
  // After the end of the workers no thread but this one uses the barrier.
  if (here == nullptr || here == &root) return barrier_->abandon();

  struct Abandon : core::RemoteCall {
    ProcessBarrier* barrier = nullptr;
  };

  auto* abandon = new Abandon;
  abandon->barrier = barrier_;
  abandon->run = [](core::Worker&, core::RemoteCall& call) {
    const std::unique_ptr<Abandon> taken(&static_cast<Abandon&>(call));
    taken->barrier->abandon();
  };
  here->post(root, *abandon);
}

void ProcessSlots::end() {
  // Found by the context: the packets of another process make one that no member has attached yet.
  members_.world.state_of(*nodes_.root().worker).process_barriers->remove(context_);
  barrier_ = nullptr;
}

}  // namespace sorrel::mpi
