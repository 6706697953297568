#include "tools/sorrel/cc/compile.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "tools/sorrel/cc/fortran.hpp"
#include "tools/sorrel/common/shell_line.hpp"

namespace sorrel::tool {
namespace {

using Strings = std::vector<std::string>;

const Installation installation{.executable = "/opt/s/bin/sorrel",
                                .library_dir = "/opt/s/lib",
                                .include_dir = "/opt/s/include"};

Strings words_for(const Strings& user) {
  return compiler_arguments({"gcc"}, user, wrapper_flags(installation));
}

bool holds(const Strings& words, const std::string& wanted) {
  return std::find(words.begin(), words.end(), wanted) != words.end();
}

TEST(Compile, ALinkEndsWithTheLibraryAndARunPathThatGivesWay) {
  EXPECT_EQ(words_for({"a.c", "-o", "a"}),
            (Strings{"gcc", "-fPIE", "-fstack-clash-protection", "-I/opt/s/include/mpi",
                     "-I/opt/s/include", "-pie", "a.c", "-o", "a", "-L/opt/s/lib",
                     "-Wl,-rpath,/opt/s/lib", "-Wl,--enable-new-dtags", "-lmpi_abi"}));
}

TEST(Compile, StacksAreProbedByCompilersThatCanAndUnlessTheUserSaysNo) {
  const auto probes = [](const Strings& compiler, const Strings& user) {
    return holds(compiler_arguments(compiler, user, wrapper_flags(installation)),
                 "-fstack-clash-protection");
  };
  for (const Strings& compiler :
       {Strings{"cc"}, Strings{"c++"}, Strings{"/usr/bin/g++-12"}, Strings{"clang-16"},
        Strings{"ccache", "x86_64-linux-gnu-gcc"}, Strings{"icpx"}}) {
    EXPECT_TRUE(probes(compiler, {"-c", "a.c"})) << compiler[0];
  }
  for (const Strings& compiler : {Strings{"nvc"}, Strings{"nvc++"}, Strings{"tcc"}})
    EXPECT_FALSE(probes(compiler, {"-c", "a.c"})) << compiler[0];
  // clang warns about the option if it compiles nothing.
  EXPECT_FALSE(probes({"clang"}, {"a.o", "b.a", "-lm", "libc.so.6", "-o", "a"}));
  EXPECT_TRUE(probes({"clang"}, {"a.o", "b.cc", "-o", "a"}));
  const Strings words = words_for({"-fno-stack-clash-protection", "-c", "a.c"});
  EXPECT_LT(std::find(words.begin(), words.end(), "-fstack-clash-protection"),
            std::find(words.begin(), words.end(), "-fno-stack-clash-protection"));
}

TEST(Compile, CompilingAloneHasNoLinkerWords) {
  for (const char* word : {"-c", "-E", "-S", "-M", "-MM", "-fsyntax-only"}) {
    const Strings words = words_for({word, "a.c"});
    EXPECT_FALSE(holds(words, "-lmpi_abi")) << word;
    EXPECT_FALSE(holds(words, "-pie")) << word;
    EXPECT_TRUE(holds(words, "-I/opt/s/include/mpi")) << word;
  }
}

TEST(Compile, QuestionsToTheCompilerDoNotLink) {
  for (const Strings& user :
       {Strings{"--version"}, Strings{"-v"}, Strings{"-dumpmachine"}, Strings{"-print-search-dirs"},
        Strings{"--help"}, Strings{"-v", "-o", "x"}}) {
    EXPECT_FALSE(will_link(user)) << user[0];
  }
  EXPECT_TRUE(will_link(Strings{"a.o"}));
  EXPECT_TRUE(will_link(Strings{"-x", "c", "-"}));
  EXPECT_TRUE(will_link(Strings{"-v", "a.c"}));
}

TEST(Compile, TheUsersWordOnPositionIndependenceWins) {
  for (const char* word : {"-shared", "-static", "-no-pie", "-static-pie", "-r", "-pie"}) {
    const Strings words = words_for({word, "a.c"});
    EXPECT_EQ(std::count(words.begin(), words.end(), "-pie"), word == std::string("-pie") ? 1 : 0)
        << word;
  }
  const Strings words = words_for({"-fPIC", "-c", "a.c"});
  EXPECT_LT(std::find(words.begin(), words.end(), "-fPIE"),
            std::find(words.begin(), words.end(), "-fPIC"));
}

TEST(Compile, TheSystemsFoldersNeedNoRunPath) {
  Installation system = installation;
  system.library_dir = "/usr/lib/x86_64-linux-gnu";
  EXPECT_EQ(wrapper_flags(system).link, (Strings{"-L/usr/lib/x86_64-linux-gnu", "-lmpi_abi"}));
}

TEST(Compile, TheVersionOfGfortranIsThatOfItsFirstLine) {
  EXPECT_EQ(gfortran_version("GNU Fortran (Debian 12.2.0-14+deb12u1) 12.2.0"), "12.2.0");
  EXPECT_EQ(gfortran_version("GNU Fortran (GCC) 13.2.1 20230728 (Red Hat 13.2.1-1)"), "13.2.1");
  EXPECT_EQ(gfortran_version("ifx (IFX) 2024.0.2 20231213"), "");
  EXPECT_EQ(gfortran_version(""), "");
}

TEST(Compile, FortranFilesAreCompiledWithStackProbes) {
  const Strings user = {"a.f90", "-J", "folder.o", "-o", "a"};
  EXPECT_TRUE(holds(compiler_arguments({"gfortran-12"}, user, wrapper_flags(installation)),
                    "-fstack-clash-protection"));
  EXPECT_NE(fortran_argument_error(Strings{"-fdefault-integer-8"}), "");
  EXPECT_EQ(fortran_argument_error(Strings{"-fdefault-real-8"}), "");
}

TEST(Compile, AShownCommandReadsBackInAShell) {
  EXPECT_EQ(shell_line(Strings{"gcc", "-DA=1", "a b.c", "", "it's", "$x"}),
            "gcc -DA=1 'a b.c' '' 'it'\\''s' '$x'");
}

}  // namespace
}  // namespace sorrel::tool
