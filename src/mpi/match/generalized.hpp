//! GeneralizedRequest - an operation of the program's own, behind a request (MPI 5.0, 13.2).
//!
//! The program says when it is complete (MPI_Grequest_complete). Its three functions are called on
//! the fiber of the rank that waits, tests, frees or cancels, and may call MPI: `query` where other
//! requests have their status, `free` where their request ends, `cancel` by MPI_Cancel. An error
//! that one of them returns is the error of the call.
#pragma once

#include "mpi/match/operation.hpp"

namespace sorrel::mpi {

struct GeneralizedFunctions {
  MPI_Grequest_query_function* query;
  MPI_Grequest_free_function* free;
  MPI_Grequest_cancel_function* cancel;
  void* extra_state;
};

class GeneralizedRequest final : public Operation {
 public:
  /// A new active request.
  [[nodiscard]] static Request& start(RankState& self, const GeneralizedFunctions& functions);

  /// The generalized request behind a request, or null.
  [[nodiscard]] static GeneralizedRequest* of(const Request& request);

  /// MPI_Grequest_complete, on the worker of the request's rank.
  void complete();

  /// The status of the complete operation; `status` may be MPI_STATUS_IGNORE.
  [[nodiscard]] int query(MPI_Status* status) const;

  /// The status, and the end of the request. Of two errors, the first.
  [[nodiscard]] int conclude(MPI_Status* status);

  /// MPI_Request_free: the request ends now, or when it is complete.
  [[nodiscard]] int free();

  [[nodiscard]] int cancel() const;

  // Operation. It is never persistent.
  [[nodiscard]] int start() override;
  [[nodiscard]] int explain(RankState& self, int error_class) const override;
  void name(OperationName& to) const override;

  [[nodiscard]] std::optional<std::int32_t> awaited_rank() const override { return std::nullopt; }

  [[nodiscard]] GeneralizedRequest* generalized() override { return this; }

  void end() override;

 private:
  GeneralizedRequest(RankState& self, const GeneralizedFunctions& functions);
  ~GeneralizedRequest() = default;

  const GeneralizedFunctions functions_;
  Request& request_;
  bool is_freed_ = false;
};

}  // namespace sorrel::mpi
