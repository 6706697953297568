// The commands that a build with SORREL_RUN_ONLY leaves out.

#include "tools/sorrel/common/command.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/flight/flight_recorder.hpp"
#include "tools/sorrel/live/live_server.hpp"

namespace sorrel::tool {

namespace {

int left_out(const char* name) {
  (void)report_error("{}: not in this build, which runs programs only (SORREL_RUN_ONLY)", name);
  return exit_cannot_execute;
}

}  // namespace

Result<std::unique_ptr<FlightRecorder>> make_flight_recorder(FlightPlan) {
  return Error{"--flight, SORREL_FLIGHT: not in this build, which runs programs only"};
}

Result<std::unique_ptr<LiveServer>> make_live_server() {
  return Error{"--live: not in this build, which runs programs only"};
}

int plan_command(Arguments) {
  return left_out("plan");
}

int report_command(Arguments) {
  return left_out("report");
}

int ps_command(Arguments) {
  return left_out("ps");
}

int top_command(Arguments) {
  return left_out("top");
}

int stack_command(Arguments) {
  return left_out("stack");
}

int selftest_command(Arguments) {
  return left_out("selftest");
}

int complete_command(Arguments) {
  return left_out("complete");
}

}  // namespace sorrel::tool
