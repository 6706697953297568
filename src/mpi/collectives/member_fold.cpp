#include "mpi/collectives/member_fold.hpp"

#include "mpi/collectives/slots.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::mpi {

MemberFold::MemberFold(const Member& member, const ReductionArguments& arguments)
    : tree_(member.comm.size()), fold_(tree_, arguments) {
  const CollectiveSlots& slots = member.comm.shared->slots();
  for (std::int32_t rank = 0; rank < member.comm.size(); ++rank) {
    operands_.push_back(
        {.node = tree_.leaf(rank), .elements = slots.published_by<Operands>(rank).input});
  }
}

MemberFold::MemberFold(const Member& member,
                       const ReductionArguments& arguments,
                       const StagedRows& rows)
    : tree_(member.comm.size()), fold_(tree_, arguments) {
  for (std::int32_t rank = 0; rank < member.comm.size(); ++rank)
    operands_.push_back({.node = tree_.leaf(rank), .elements = rows.of(rank).data.data()});
}

}  // namespace sorrel::mpi
