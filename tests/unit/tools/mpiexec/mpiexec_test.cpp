#include "tools/sorrel/mpiexec/mpiexec.hpp"

#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "unit/tools/common/argument_list.hpp"

namespace sorrel::tool {
namespace {

using Strings = std::vector<std::string>;
using Variables = std::vector<std::pair<std::string, std::string>>;

TEST(Mpiexec, RanksAreSpeltInManyWays) {
  for (const ArgumentList& words :
       {ArgumentList{"-n", "8", "a", "b"}, ArgumentList{"-np", "8", "a", "b"},
        ArgumentList{"-c", "8", "a", "b"}, ArgumentList{"--np", "8", "a", "b"},
        ArgumentList{"--n=8", "a", "b"}}) {
    const Translation result = translate_mpiexec(words.arguments());
    EXPECT_EQ(result.error, "");
    EXPECT_EQ(result.options, Strings{"--ranks=8"});
    EXPECT_EQ(strings(result.program), (Strings{"a", "b"}));
  }
}

TEST(Mpiexec, OurOwnOptionsPassThrough) {
  const ArgumentList words{"--workers", "2", "--stack=4M", "--label", "-n", "3", "a"};
  const Translation result = translate_mpiexec(words.arguments());
  EXPECT_EQ(result.options, (Strings{"--workers=2", "--stack=4M", "--label", "--ranks=3"}));
}

TEST(Mpiexec, VariablesComeInTheFormsOfBothLaunchers) {
  const ArgumentList words{"-genv", "A", "1", "-env", "B=2", "-x", "C=3=4", "-x", "HOME", "a"};
  const Translation result = translate_mpiexec(words.arguments());
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.variables, (Variables{{"A", "1"}, {"B", "2"}, {"C", "3=4"}}));
  EXPECT_EQ(strings(result.program), Strings{"a"});
}

TEST(Mpiexec, OversubscriptionAndPlacementNeedNoWord) {
  const ArgumentList words{"--oversubscribe",     "--map-by", "core", "--bind-to", "none",
                           "--allow-run-as-root", "a"};
  const Translation result = translate_mpiexec(words.arguments());
  EXPECT_EQ(result.options, Strings{"--bind=none"});
  EXPECT_TRUE(result.ignored.empty());
}

TEST(Mpiexec, HostsAreIgnoredAndTold) {
  const ArgumentList words{"-hosts", "a,b", "--hostfile", "f", "--mca",
                           "btl",    "tcp", "-n",         "2", "a"};
  const Translation result = translate_mpiexec(words.arguments());
  EXPECT_EQ(result.ignored, (Strings{"-hosts", "--hostfile", "--mca"}));
  EXPECT_EQ(strings(result.program), Strings{"a"});
}

TEST(Mpiexec, UnknownOptionsAreLeftForRunToRefuse) {
  const ArgumentList words{"--surprise", "a"};
  EXPECT_EQ(translate_mpiexec(words.arguments()).options, Strings{"--surprise"});
}

TEST(Mpiexec, SeveralProgramsAreAsManyParts) {
  const ArgumentList words{"-n", "1", "a", "x", ":", "-np", "2", "b", ":", "-c", "3", "c", "y"};
  const Translation result = translate_mpiexec(words.arguments());
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.options, Strings{"--ranks=1"});
  EXPECT_EQ(strings(result.program), (Strings{"a", "x"}));
  EXPECT_EQ(result.further,
            (Strings{":", "--ranks=2", "--", "b", ":", "--ranks=3", "--", "c", "y"}));
}

TEST(Mpiexec, VariablesAreForAllPrograms) {
  const ArgumentList words{"-n", "1", "a", ":", "-env", "A=1", "-n", "1", "b"};
  EXPECT_NE(translate_mpiexec(words.arguments()).error, "");
}

TEST(Mpiexec, AMissingValueIsNamed) {
  EXPECT_EQ(translate_mpiexec(ArgumentList{"-np"}.arguments()).error, "-np needs a value");
  EXPECT_EQ(translate_mpiexec(ArgumentList{"-genv", "A"}.arguments()).error,
            "-genv needs NAME=VALUE or NAME VALUE, not 'A'");
  EXPECT_EQ(translate_mpiexec(ArgumentList{"--mca", "a"}.arguments()).error, "--mca needs a value");
}

}  // namespace
}  // namespace sorrel::tool
