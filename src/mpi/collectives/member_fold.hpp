//! MemberFold - combines the operands of all members, which are in one process.
#pragma once

#include <vector>

#include "mpi/collectives/staged_rows.hpp"
#include "mpi/collectives/tree_fold.hpp"

namespace sorrel::mpi {

class MemberFold {
 public:
  /// Folds the operands that the members have published.
  MemberFold(const Member& member, const ReductionArguments& arguments);

  /// Folds the operands in the members' rows.
  MemberFold(const Member& member, const ReductionArguments& arguments, const StagedRows& rows);

  void fold(ElementRange range, void* into) { fold_.fold(operands_, range, into); }

 private:
  RankTree tree_;
  std::vector<PartialTotal> operands_;
  TreeFold fold_;
};

}  // namespace sorrel::mpi
