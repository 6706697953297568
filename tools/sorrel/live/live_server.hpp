//! LiveServer - one page about a running job, served on this machine's loopback by the process of
//! `sorrel run`, in a thread of its own (docs/top.md, "A page").
//!
//! The address has a random token, printed when the job starts; another path gets 403. The server
//! looks into the job when the page asks, at most twice a second, and not otherwise. It has a
//! limited number of connections, each for a limited time, opens no file, and ends with the job.
#pragma once

#include <memory>
#include <string>

#include <sorrel/result.hpp>

namespace sorrel::tool {

class LiveServer {
 public:
  virtual ~LiveServer() = default;

  /// "http://127.0.0.1:41234/TOKEN/"
  [[nodiscard]] virtual std::string address() const = 0;

  /// The job's processes have been started. Once.
  virtual void begin() = 0;

  /// The job has ended: no connection is accepted any more.
  virtual void end() = 0;
};

/// An error says why there is none.
[[nodiscard]] Result<std::unique_ptr<LiveServer>> make_live_server();

}  // namespace sorrel::tool
