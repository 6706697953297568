//! Checker - finds errors of the program in its calls of MPI: `sorrel run --check`.
//!
//! A library that is preloaded passes each call, before and after it (make_bindings.py checked);
//! the library itself shows errors, messages and deadlocks (mpi/match/observer.hpp). One worker a
//! process, so that the checker sees one rank at a time: those of its process. README.md has what
//! it finds.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check/checked_call.hpp"
#include "check/collective_order.hpp"
#include "check/finding_log.hpp"
#include "check/handle_table.hpp"
#include "check/pending_buffers.hpp"
#include "check/sent_messages.hpp"
#include "check/window_accesses.hpp"
#include "mpi/match/observer.hpp"
#include "mpi/match/rank_state.hpp"

namespace sorrel::check {

class Checker {
 public:
  /// Writes the findings of this process into a file of the folder.
  Checker(const std::string& folder, std::int32_t rank_count);
  ~Checker();
  Checker(const Checker&) = delete;
  Checker& operator=(const Checker&) = delete;

  /// The text of a place in a script, from here on as long as the checker; null: it is empty.
  [[nodiscard]] const char* kept_place(std::string_view script);

  /// The rank begins a call. Returns what the preloaded library changes in it.
  int begin(mpi::RankState& self, sorrel_checked_call& call);

  /// The call in progress, as a collective of members in several processes that waits for all of
  /// them; nothing: it is another one. `comm` is set to its communicator.
  [[nodiscard]] std::optional<CollectiveRecord> record_between_processes(mpi::RankState& self,
                                                                         MPI_Comm* comm);

  /// A member of another process is in another call than `own`, that of this rank. Returns if the
  /// members can continue.
  void add_difference(mpi::RankState& self,
                      const CollectiveRecord& own,
                      const CollectiveRecord& other);

  /// The call has returned.
  void end(sorrel_checked_call& call, int error_class);

  /// As mpi::Observer.
  void on_error(mpi::RankState& self, int error_class, const char* detail, bool is_fatal);
  void on_receive(const mpi::Request& receive, const mpi::Envelope& envelope, std::size_t bytes);

  /// These ranks wait for ever.
  void on_deadlock(std::span<const std::int32_t> ranks);

  /// The function that the program has called, where the library runs another one for it.
  [[nodiscard]] const char* name_of_call(const mpi::RankState& self) const;

  /// The rank crashes. `site`: where the program is; null: not known. `script`: the same in Python,
  /// as in CallPlace. In a signal handler, as the last thing of the process.
  void on_crash(const mpi::RankState& self, const char* what, const void* site, const char* script);

  /// The rank has ended without MPI_Finalize.
  void on_missing_finalize(const mpi::RankState& self);

 private:
  struct ActiveCall;
  struct PartitionedBuffer;
  struct RankCheck;

  /// The check of a spawned rank is made when it is needed: a checked process has one worker.
  [[nodiscard]] RankCheck& check_of(std::int32_t rank);
  [[nodiscard]] RankCheck& check_of(const mpi::RankState& self);
  /// Null: the rank is not in a call.
  [[nodiscard]] const ActiveCall* active_call_of(std::int32_t rank) const;
  [[nodiscard]] CallPlace place_of(const ActiveCall& active) const;

  void begin_sends(ActiveCall& active);
  int begin_collective(ActiveCall& active);
  static void end_mismatch(const ActiveCall& active);
  void add_send(ActiveCall& active,
                const char* count,
                const char* datatype,
                const char* destination,
                const char* tag);
  void start_persistent(ActiveCall& active, MPI_Request handle);
  void begin_buffers(ActiveCall& active);
  void track_decision(ActiveCall& active);
  void begin_window(ActiveCall& active);
  void track_window(ActiveCall& active);
  void track_handles(ActiveCall& active);
  void track_partitions(ActiveCall& active);
  void track_requests(ActiveCall& active);
  void track_kept_request(ActiveCall& active, std::uintptr_t handle, const void* variable);
  void track_ended_request(ActiveCall& active, std::uintptr_t handle, const void* variable);
  void track_matched_probe(ActiveCall& active);
  void report_leaks(RankCheck& rank);
  void compare_types(const SentMessage& sent,
                     const CallPlace& receiver,
                     const mpi::Request& receive,
                     std::size_t bytes);

  FindingLog findings_;
  std::set<std::string, std::less<>> script_places_;
  CollectiveOrder collectives_;
  WindowAccesses windows_;
  std::vector<std::unique_ptr<RankCheck>> ranks_;
};

}  // namespace sorrel::check
