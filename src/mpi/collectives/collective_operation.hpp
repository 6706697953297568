//! CollectiveOperation - a nonblocking or persistent collective of one rank: the call's arguments,
//! and the shadow communicator on which the blocking algorithm runs in a fiber of its own.
//!
//! Owner's worker only. Taken from the worker's OperationPool, given back when its request ends.
//! README.md, "Nonblocking", has the protocol.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

#include "mpi/collectives/collectives.hpp"
#include "mpi/comm/collective_shadows.hpp"
#include "mpi/match/operation.hpp"

namespace sorrel::mpi {

class OperationPool;

class CollectiveOperation final : public Operation {
 public:
  /// For the arguments of one collective.
  static constexpr std::size_t arguments_bytes_max = 192;

  explicit CollectiveOperation(OperationPool& pool) : pool_(pool) {}

  /// Sets the collective of `comm`: arguments(member) runs it, and arguments.hold(*this, comm) has
  /// held the objects that it uses.
  template <class Arguments>
  void describe(const CollectiveArguments& call, const Arguments& arguments, const Comm& comm) {
    static_assert(sizeof(Arguments) <= arguments_bytes_max);
    static_assert(std::is_trivially_copyable_v<Arguments>);
    call_ = CollectiveCall(call);
    auto* kept = new (arguments_.data()) Arguments(arguments);
    kept->hold(*this, comm);
    run_ = [](const std::byte* kept_arguments, const Member& member) {
      return (*std::launder(reinterpret_cast<const Arguments*>(kept_arguments)))(member);
    };
  }

  /// The program may free an object as soon as the call returns.
  void hold(const Datatype* type);
  void hold(const Op& op);
  /// Also copies the array of datatypes, which a Fortran binding frees.
  void hold(BlockList& blocks, std::int32_t size);
  /// Copies the array. Other MPIs do, so that there are programs that free it as soon as the call
  /// returns (mpi4py 4.1 does).
  void hold(Integers& integers, std::int32_t size);

  /// A new request for it on `comm`.
  Request& make_request(RankState& self, Comm& comm);

  /// For the rest of its life it runs on a communicator of its own, and its request is persistent.
  /// Null for a communicator of one member.
  void become_persistent(Comm* own_shadow);

  [[nodiscard]] const CollectiveCall& call() const { return call_; }

  // Operation:
  [[nodiscard]] int start() override;
  [[nodiscard]] int explain(RankState& self, int error_class) const override;

  void name(OperationName& to) const override { to.add(name_of(call_).text()); }

  [[nodiscard]] std::optional<std::int32_t> awaited_rank() const override;
  void end() override;

 private:
  friend class OperationPool;
  friend class OutstandingCollectives;

  [[nodiscard]] int start_on_fiber();
  static void run_on_fiber(void* argument);
  void run();
  void release_objects();
  void count_start(const Comm& comm);

  OperationPool& pool_;
  RankState* owner_ = nullptr;
  /// The program's communicator; held by the request.
  Comm* comm_ = nullptr;
  Request* request_ = nullptr;
  /// The communicator that it runs on; the program's if that has one member.
  Comm* shadow_ = nullptr;
  bool is_persistent_ = false;
  CollectiveCall call_;
  int (*run_)(const std::byte* arguments, const Member& member) = nullptr;
  alignas(16) std::array<std::byte, arguments_bytes_max> arguments_;
  /// The queue of its shadow, or the pool's list.
  CollectiveOperation* next_ = nullptr;

  std::array<Datatype*, 2> types_{};
  Op* op_ = nullptr;
  std::array<std::vector<MPI_Datatype>, 2> type_lists_;
  /// Counts and displacements of two block lists.
  std::array<std::vector<std::int64_t>, 4> integer_lists_;

  /// The error of a failed operation.
  std::unique_ptr<ErrorDetail> detail_;
  /// For reports: the counts in which the start is counted, and its number.
  const CollectiveShadows* counts_ = nullptr;
  std::uint32_t number_ = 0;
};

}  // namespace sorrel::mpi
