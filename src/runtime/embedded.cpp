#include "runtime/embedded.hpp"

#include "mpi/match/rank_state.hpp"
#include "runtime/base/this_process.hpp"
#include "runtime/crash_report.hpp"
#include "runtime/job.hpp"
#include "runtime/uncaught_exception.hpp"

namespace sorrel::runtime {

namespace {

class FunctionBody final : public RankBody {
 public:
  explicit FunctionBody(const std::function<int(int)>& function) : function_(function) {}

  bool prepare(mpi::RankState& /*rank*/, const char** /*error*/) override { return true; }

  int run(mpi::RankState& rank) override { return function_(rank.world_rank); }

  void flush(mpi::RankState& /*rank*/) override {}

 private:
  const std::function<int(int)>& function_;
};

}  // namespace

int run_embedded(const Config& config, const std::function<int(int rank)>& body) {
  FunctionBody function_body(body);
  Job job(config, function_body);
  set_job_of_process(&job);
  watch_for_crashes();
  watch_for_uncaught_exceptions();
  const int status = job.run();
  stop_watching_for_crashes();
  set_job_of_process(nullptr);
  return status;
}

}  // namespace sorrel::runtime
