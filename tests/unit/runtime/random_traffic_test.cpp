// The random traffic of tests/mpi/stress, in one process, so that the sanitizers see both the ranks
// and the runtime.
#include "mpi/stress/random_traffic.hpp"

#include <cstdlib>

#include "unit/runtime/rank_run.hpp"

namespace sorrel::runtime {
namespace {

class RandomTraffic : public test::RankTest {};

INSTANTIATE_TEST_SUITE_P(Shapes, RandomTraffic, test::all_shapes(), test::name_of);

TEST_P(RandomTraffic, ArrivesAsPlanned) {
  const char* given = std::getenv("SORREL_SEED");
  const std::uint64_t seed = given == nullptr ? 3 : std::strtoull(given, nullptr, 10);
  SCOPED_TRACE("SORREL_SEED=" + std::to_string(seed));
  run([&](int) { random_traffic::run(25, seed); });
}

}  // namespace
}  // namespace sorrel::runtime
