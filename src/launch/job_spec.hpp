//! JobSpec - the launch contract: what `sorrel run` has decided about a job, for the library in
//! each of the job's processes.
//!
//! The command passes it as one environment variable; encode() and decode() are the only places
//! that know its form. A field that has its type's zero value is left out. The text ends with a
//! seal, a hash of the rest, which distinguishes a complete text of one `run` from an altered one.
//! Variables that users may set (SORREL_SHARE, SORREL_SPIN, SORREL_EAGER, SORREL_PULL,
//! SORREL_MOVE_SEED, SORREL_BALANCE_START, SORREL_HOST_MEMORY) are not part of it. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace sorrel::launch {

inline constexpr const char* job_variable = "SORREL_JOB";

/// Simulated nodes and the network between them.
struct WireSpec {
  std::uint32_t node_count = 2;
  std::int64_t latency_ns = 0;
  /// Each message is delayed by up to this much more.
  std::int64_t jitter_ns = 0;
  double bytes_per_second = 0;  ///< 0: no limit
  std::uint64_t seed = 1;       ///< of the jitter
  bool operator==(const WireSpec&) const = default;
};

/// A program that only starts the MPI program, as env does. It runs once in each process of the job
/// and passes the job on in its environment.
struct WrapperSpec {
  std::string name;     ///< as the user wrote it; "": the job has no wrapper
  std::string program;  ///< path of the program that `sorrel run` has inspected, or ""
  std::string command;  ///< path of `sorrel`, which can inspect another program
  /// LD_LIBRARY_PATH as `sorrel run` has set it: a wrapper may change it.
  std::string library_path;
  /// Descriptor of JobClaims; not given under a host MPI.
  std::optional<int> claims_descriptor;
  bool operator==(const WrapperSpec&) const = default;
};

/// The MPI whose launcher has started this process.
struct HostSpec {
  std::string name;     ///< "": none
  std::string plugin;   ///< path of the plugin for it
  std::string library;  ///< path of that MPI's library; "": the plugin is linked with it
  /// Descriptor of transport::HostStatus, which is shared with the parent.
  std::optional<int> status_descriptor;
  /// The launcher's daemon on this node, an ancestor of all processes there.
  pid_t daemon = 0;
  /// The launcher lets the other processes continue when one has failed.
  bool must_abort = false;
  bool operator==(const HostSpec&) const = default;
};

/// Ranks with consecutive numbers that run one program, in a job of several programs.
struct PartSpec {
  std::int32_t rank_count = 1;
  std::uint32_t process_count = 1;
  /// Workers of each process.
  std::uint32_t worker_count = 1;
  bool operator==(const PartSpec&) const = default;
};

/// Whether idle workers run ranks of other workers of their process (src/core/README.md, "Loans"),
/// and whether ranks change their worker (src/mpi/job/README.md).
enum class Balance : std::uint8_t {
  off,
  steal,      ///< every rank gets a thread control block, and so may be lent
  automatic,  ///< as measured, from when the job turns out to be uneven; a rank gets its block then
  measured,   ///< every rank gets one; ranks are lent, and move
};

/// Where ranks change their process, each process keeps addresses, and memory maps, for all ranks.
inline constexpr std::int32_t moving_rank_count_max = 1024;

struct JobSpec {
  /// Ranks of the whole job; 0 under a host MPI: not given.
  std::int32_t rank_count = 1;
  /// Workers of each process, in a job of several programs of this one; 0 under a host MPI.
  std::uint32_t worker_count = 1;
  std::uint32_t process_count = 1;
  /// So many ranks can exist at a time, with those that are spawned; in each of several processes,
  /// so many less those with which the job began can be spawned. 0: no more than the job begins
  /// with.
  std::int32_t universe_size = 0;
  /// In the order of their ranks and processes; empty in a job of one program.
  std::vector<PartSpec> parts;
  std::uint32_t own_process = 0;
  /// Process mode: every rank is a process, the program runs as it is, and MPI_Init makes the
  /// calling thread the rank.
  bool process_mode = false;
  /// In each process the first worker has all ranks and serves messages only.
  bool has_comm_worker = false;
  /// CPU number of each worker; empty: not bound. Under a host MPI: those that this process may
  /// use.
  std::vector<int> cpus;
  /// Under a host MPI: workers are not bound to `cpus`.
  bool is_unbound = false;
  /// Stack of each rank; 0: os::default_stack_bytes(), or less where addresses are short.
  std::size_t stack_bytes = 0;
  bool has_rank_labels = false;
  /// Reports its decisions about the job's ranks on standard error.
  bool is_verbose = false;
  Balance balance = Balance::off;
  /// Ranks also change their process (src/runtime/moves). Each process has addresses for all ranks.
  bool moves_between = false;
  /// Makes the schedule a function of this number. For a job of one worker.
  std::optional<std::uint64_t> seed;
  /// For a job of one process.
  std::optional<WireSpec> wire;
  /// Messages up to this size are sent eagerly; 0 or not given: mpi's own limit.
  std::optional<std::uint32_t> eager_bytes_max;
  /// Libraries that the user has declared as shared between ranks of one process.
  std::vector<std::string> shared_libraries;
  /// Names of the libraries of which each rank of a process has its own; read by src/early, too.
  std::vector<std::string> private_libraries;
  /// Descriptor of core::JobMemory, shared by the job's processes.
  std::optional<int> memory_descriptor;
  /// The process that launched the job's processes, an ancestor of this one; 0: the parent.
  pid_t launcher = 0;
  /// `sorrel run` has blocked SIGUSR1, a request for a report, until the library handles it.
  bool blocks_requests = false;
  WrapperSpec wrapper;
  HostSpec host_mpi;
  /// The folder into which each worker writes its events (src/trace); "": the run is not traced.
  std::string trace_folder;
  /// The folder into which the checker writes its findings (src/check); "": the run is not checked.
  std::string check_folder;
  /// The file for what ends the job (report/report_file.hpp); "": none.
  std::string report_file;
  /// The folder of the job's checkpoints (src/checkpoint); "": there is none.
  std::string checkpoint_folder;
  /// The descriptor of the lock of that folder (os/lock_file.hpp); not given: it has none.
  std::optional<int> checkpoint_lock;
  /// The file of the key for checkpoints in the folder (checkpoint/user_key.hpp); "": there is
  /// none.
  std::string checkpoint_key;
  /// The descriptors of the job's checkpoints in memory; empty: there are none.
  std::vector<int> checkpoint_files;
  /// It is also saved whenever so many nanoseconds are over; 0: never.
  std::int64_t save_period_ns = 0;
  /// The checkpoint in it with which the job begins; 0: the program begins.
  std::uint64_t restart_generation = 0;
  /// The descriptor of a segment for launch::RestartNote; not given: the job is not started again
  /// when a process was killed.
  std::optional<int> restart_note_descriptor;
  /// Value of LD_LIBRARY_PATH before `sorrel run` changed it.
  std::string old_library_path;
  /// What `sorrel run` has put into LD_PRELOAD (files, a:b); "": nothing.
  std::string preloaded;

  /// Whether it has checkpoints.
  [[nodiscard]] bool is_saved() const {
    return !checkpoint_folder.empty() || !checkpoint_files.empty();
  }

  bool operator==(const JobSpec&) const = default;
};

/// Printable, without spaces.
[[nodiscard]] std::string encode(const JobSpec& spec);

/// Nothing if the text is not a result of encode(): fields that are unknown, damaged, repeated or
/// out of order, or a seal that does not match.
[[nodiscard]] std::optional<JobSpec> decode(std::string_view text);

}  // namespace sorrel::launch
