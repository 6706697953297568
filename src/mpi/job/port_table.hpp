//! PortTable - the ports that ranks of a process have opened, the ranks that wait at each, and the
//! names under which ports are published.
//!
//! Any thread: one lock, held for a look-up. A rank that accepts and a rank that connects *meet*:
//! the first of the two waits at the port, and the second takes it from there and tells it so by a
//! message (ports.cpp). Ranks wait in the order of their calls. Knows no messages and no
//! communicators. Each process of a job has a table; the name of a port says which it is in
//! (port_service.hpp).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sorrel::mpi {

class PortTable {
 public:
  enum class Side : std::uint8_t { accept, connect };

  /// A rank in a call of MPI_Comm_accept or MPI_Comm_connect.
  struct Caller {
    std::int32_t rank;
    /// The tag of the messages of the meeting that the call waits for.
    std::int32_t ticket;
    bool operator==(const Caller&) const = default;
  };

  enum class Outcome : std::uint8_t {
    no_port,  ///< No port of this name is open.
    waits,    ///< `caller` is the rank that called, with its ticket.
    meets     ///< `caller` is the rank that waited, with its ticket.
  };

  struct Meeting {
    Outcome outcome;
    Caller caller;
  };

  /// The table of process `process` of `process_count`.
  PortTable(std::uint32_t process, std::uint32_t process_count)
      : process_(process), process_count_(process_count) {}

  PortTable() : PortTable(0, 1) {}

  /// Tells the ports of this job apart from those of other jobs of the machine. Equal in all
  /// processes of the job; before a port is open.
  void set_job(std::uint64_t number) { job_ = number; }

  [[nodiscard]] std::uint64_t job() const { return job_; }

  /// The process in whose table a port of this name would be; nothing if it is not of this job.
  [[nodiscard]] std::optional<std::uint32_t> process_of(std::string_view name) const;

  /// The name of a new port.
  [[nodiscard]] std::string open(std::int32_t owner);

  /// The ranks that waited at the port, which are to be told; nothing: it was not open.
  [[nodiscard]] std::optional<std::vector<Caller>> close(const std::string& name);

  /// Closes all ports of a rank that has ended; returns the ranks that waited there.
  [[nodiscard]] std::vector<Caller> close_all_of(std::int32_t owner);

  [[nodiscard]] Meeting meet(const std::string& name, Side side, std::int32_t rank);

  /// A number for the tag of a meeting without a port. No other process of the job gives it.
  [[nodiscard]] std::int32_t new_ticket();

  /// False: the service has a port already.
  [[nodiscard]] bool publish(const std::string& service, const std::string& port);

  /// False: it is not published.
  [[nodiscard]] bool unpublish(const std::string& service);

  [[nodiscard]] std::optional<std::string> lookup(const std::string& service) const;

  [[nodiscard]] std::size_t open_count() const;

 private:
  struct Port {
    std::int32_t owner;
    /// At most one of the two has any.
    std::deque<Caller> accepting;
    std::deque<Caller> connecting;
  };

  std::int32_t next_ticket();

  const std::uint32_t process_;
  const std::uint32_t process_count_;
  std::uint64_t job_ = 0;
  mutable std::mutex mutex_;
  std::map<std::string, Port, std::less<>> ports_;
  std::map<std::string, std::string, std::less<>> services_;
  std::uint64_t opened_count_ = 0;
  std::int32_t ticket_ = 0;
};

}  // namespace sorrel::mpi
