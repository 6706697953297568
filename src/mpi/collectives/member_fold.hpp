//! MemberFold - combines the operands of all members, which are in one process.
#pragma once

#include <vector>

#include "mpi/collectives/tree_fold.hpp"

namespace sorrel::mpi {

/// A fold of the operands that the members have published.
class MemberFold {
 public:
  MemberFold(const Member& member, const ReductionArguments& arguments);

  void fold(ElementRange range, void* into) { fold_.fold(operands_, range, into); }

 private:
  RankTree tree_;
  std::vector<PartialTotal> operands_;
  TreeFold fold_;
};

}  // namespace sorrel::mpi
