//! Commands - the subcommands of `sorrel`, one folder each.
//!
//! To add one: write its file with a function of this shape, declare it here, add a row to the
//! table in main.cpp. `arguments` holds what follows the subcommand's name. The result is the exit
//! status.
#pragma once

#include <span>

namespace sorrel::tool {

/// The arguments after the subcommand's name; a null pointer follows the last one, as in argv.
using Arguments = std::span<char* const>;

int run_command(Arguments arguments);  ///< run/run.cpp
int mpiexec_command(
    Arguments arguments);  ///< mpiexec/mpiexec.cpp: `run` with the options of other MPIs
int restart_command(Arguments arguments);   ///< checkpoint/restart.cpp
int info_command(Arguments arguments);      ///< info/info.cpp
int cc_command(Arguments arguments);        ///< cc/compile.cpp
int cxx_command(Arguments arguments);       ///< cc/compile.cpp
int fc_command(Arguments arguments);        ///< cc/compile.cpp: `sorrel fc`, mpifort
int plan_command(Arguments arguments);      ///< plan/plan.cpp
int trace_command(Arguments arguments);     ///< trace/trace.cpp
int ps_command(Arguments arguments);        ///< view/ps.cpp
int top_command(Arguments arguments);       ///< view/top.cpp
int stack_command(Arguments arguments);     ///< view/stack.cpp
int report_command(Arguments arguments);    ///< report/report.cpp
int bench_command(Arguments arguments);     ///< bench/bench.cpp
int selftest_command(Arguments arguments);  ///< selftest/selftest.cpp
int demo_command(Arguments arguments);      ///< demo/demo.cpp
int try_command(Arguments arguments);       ///< try/try.cpp
int test_command(Arguments arguments);      ///< test/test.cpp
int env_command(Arguments arguments);       ///< env/env.cpp
int docs_command(Arguments arguments);      ///< docs/docs.cpp
int complete_command(Arguments arguments);  ///< complete/complete.cpp

struct Command {
  const char* name;
  const char* summary;
  int (*run)(Arguments arguments);
};

}  // namespace sorrel::tool
