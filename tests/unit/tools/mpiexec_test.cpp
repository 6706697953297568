#include "tools/sorrel/mpiexec.hpp"

#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "unit/tools/words.hpp"

namespace sorrel::tool {
namespace {

using Strings = std::vector<std::string>;
using Variables = std::vector<std::pair<std::string, std::string>>;

TEST(Mpiexec, RanksAreSpeltInManyWays) {
  for (const Words& words :
       {Words{"-n", "8", "a", "b"}, Words{"-np", "8", "a", "b"}, Words{"-c", "8", "a", "b"},
        Words{"--np", "8", "a", "b"}, Words{"--n=8", "a", "b"}}) {
    const Translation result = translate_mpiexec(words.arguments());
    EXPECT_EQ(result.problem, "");
    EXPECT_EQ(result.options, Strings{"--ranks=8"});
    EXPECT_EQ(strings(result.program), (Strings{"a", "b"}));
  }
}

TEST(Mpiexec, OurOwnOptionsPassThrough) {
  const Words words{"--workers", "2", "--stack=4M", "--label", "-n", "3", "a"};
  const Translation result = translate_mpiexec(words.arguments());
  EXPECT_EQ(result.options, (Strings{"--workers=2", "--stack=4M", "--label", "--ranks=3"}));
}

TEST(Mpiexec, VariablesComeInTheFormsOfBothLaunchers) {
  const Words words{"-genv", "A", "1", "-env", "B=2", "-x", "C=3=4", "-x", "HOME", "a"};
  const Translation result = translate_mpiexec(words.arguments());
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.variables, (Variables{{"A", "1"}, {"B", "2"}, {"C", "3=4"}}));
  EXPECT_EQ(strings(result.program), Strings{"a"});
}

TEST(Mpiexec, OversubscriptionAndPlacementNeedNoWord) {
  const Words words{"--oversubscribe",     "--map-by", "core", "--bind-to", "none",
                    "--allow-run-as-root", "a"};
  const Translation result = translate_mpiexec(words.arguments());
  EXPECT_EQ(result.options, Strings{"--bind=none"});
  EXPECT_TRUE(result.ignored.empty());
}

TEST(Mpiexec, HostsAreIgnoredAndTold) {
  const Words words{"-hosts", "a,b", "--hostfile", "f", "--mca", "btl", "tcp", "-n", "2", "a"};
  const Translation result = translate_mpiexec(words.arguments());
  EXPECT_EQ(result.ignored, (Strings{"-hosts", "--hostfile", "--mca"}));
  EXPECT_EQ(strings(result.program), Strings{"a"});
}

TEST(Mpiexec, UnknownOptionsAreLeftForRunToRefuse) {
  const Words words{"--surprise", "a"};
  EXPECT_EQ(translate_mpiexec(words.arguments()).options, Strings{"--surprise"});
}

TEST(Mpiexec, SeveralProgramsAreRefused) {
  const Words words{"-n", "1", "a", ":", "-n", "1", "b"};
  EXPECT_NE(translate_mpiexec(words.arguments()).problem, "");
}

TEST(Mpiexec, AMissingValueIsNamed) {
  EXPECT_EQ(translate_mpiexec(Words{"-np"}.arguments()).problem, "-np needs a value");
  EXPECT_EQ(translate_mpiexec(Words{"-genv", "A"}.arguments()).problem,
            "-genv needs NAME=VALUE or NAME VALUE, not 'A'");
  EXPECT_EQ(translate_mpiexec(Words{"--mca", "a"}.arguments()).problem, "--mca needs a value");
}

}  // namespace
}  // namespace sorrel::tool
