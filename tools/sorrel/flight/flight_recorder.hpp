//! FlightRecorder - watches a job from the process of `sorrel run` that is its parent, and writes
//! one page of HTML when something goes wrong (docs/flight.md).
//!
//! What ended the job comes from the report that the library writes (report/report_file.hpp), into
//! memory of this process if the user has named no file. At SIGTERM the recorder looks into the job
//! before the signal is passed on. From time to time it looks into it anyway, in a thread of its
//! own, so that a job that has idled can be explained. Costs the ranks what a look costs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <sorrel/result.hpp>

namespace sorrel::tool {

/// Names a folder as --flight does. Processes of the job, too, read whether it is set.
inline constexpr const char* flight_variable = "SORREL_FLIGHT";

struct FlightPlan {
  /// The folder of pages; made if it does not exist.
  std::string folder;
  /// The file of --report-json; "": none.
  std::string report_file;
  /// The name of the program, for files.
  std::string program;
  /// The arguments of `sorrel run`.
  std::vector<std::string> arguments;
  /// Options that the job could have been given, too.
  bool can_check = false;
  bool can_trace = false;
  bool can_be_verbose = false;
  /// The job's processes are started by another MPI.
  bool has_host = false;
  /// Looks into the job: of several processes that a host MPI has started, the first one does.
  bool is_first = true;
};

class FlightRecorder {
 public:
  virtual ~FlightRecorder() = default;

  /// The file into which the job's processes write what ends the job.
  [[nodiscard]] virtual std::string report_file() const = 0;

  /// The job's processes have been started; the calling process is their parent. May be called
  /// again when they have ended.
  virtual void begin() = 0;

  /// SIGTERM has arrived, and has not been passed on: takes up to 2 seconds.
  virtual void on_end_request() = 0;

  /// All processes have ended, and what they have written has been passed on.
  virtual void end() = 0;
};

/// An error says why there is none.
[[nodiscard]] Result<std::unique_ptr<FlightRecorder>> make_flight_recorder(FlightPlan plan);

}  // namespace sorrel::tool
