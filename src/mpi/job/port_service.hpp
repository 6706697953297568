//! PortService - the ports and the published names of all processes of the job.
//!
//! A port is in the table of the process that has opened it (port_table.hpp), a published name in
//! that of the first process. A rank of another process asks there (process_calls.hpp). What a
//! process has ends with it.
//!
//! Any rank; functions may suspend where they have to ask.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mpi/job/port_table.hpp"
#include "mpi/job/process_calls.hpp"

namespace sorrel::mpi {

class PortService {
 public:
  /// `world` and `calls` outlive it.
  PortService(World& world, ProcessCalls& calls);
  PortService(const PortService&) = delete;
  PortService& operator=(const PortService&) = delete;

  /// The ports of this process, for what needs no other one.
  [[nodiscard]] PortTable& own() { return own_; }

  // As in PortTable.
  [[nodiscard]] PortTable::Meeting meet(const std::string& name,
                                        PortTable::Side side,
                                        std::int32_t rank);
  [[nodiscard]] std::optional<std::vector<PortTable::Caller>> close(const std::string& name);
  [[nodiscard]] bool publish(const std::string& service, const std::string& port);
  [[nodiscard]] bool unpublish(const std::string& service);
  [[nodiscard]] std::optional<std::string> lookup(const std::string& service);

 private:
  enum class Operation : std::uint32_t { meet, close, publish, unpublish, lookup };

  struct Question {
    Operation operation;
    PortTable::Side side = PortTable::Side::accept;
    std::int32_t rank = 0;
    std::string name = {};
    std::string port = {};
  };

  /// What PortTable has returned.
  struct Answer {
    bool is_there = false;
    PortTable::Meeting meeting{.outcome = PortTable::Outcome::no_port, .caller = {}};
    std::vector<PortTable::Caller> callers = {};
    std::string port = {};
  };

  [[nodiscard]] Answer ask(std::uint32_t process, const Question& question);
  [[nodiscard]] Answer answer_to(const Question& question);
  void answer_call(ByteCursor question, ByteWriter& writer);

  World& world_;
  ProcessCalls& calls_;
  PortTable own_;
};

}  // namespace sorrel::mpi
