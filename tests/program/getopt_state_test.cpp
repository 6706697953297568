// Goal: a rank's getopt gives the same results as the C library's. Method: random argument lists,
// scanned by both, step by step. Does not test the texts of error messages.
#include "program/state/getopt_state.hpp"

#include <cstdlib>
#include <getopt.h>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

#include "base/prng.hpp"
#include "program/image/image.hpp"

namespace sorrel::program {
namespace {

struct Step {
  int result;
  int index;
  int wrong;
  int long_index;
  std::string argument;

  bool operator==(const Step&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Step& step) {
  return out << "{result " << step.result << ", optind " << step.index << ", optopt " << step.wrong
             << ", long " << step.long_index << ", optarg " << step.argument << "}";
}

struct Scan {
  std::vector<Step> steps;
  std::vector<std::string> arguments;  // as permuted
};

class GetoptStateTest : public testing::Test {
 protected:
  GetoptStateTest() : image_(Image::read(trouble_)) {}

  // Calls `next` on a copy of the arguments until it returns -1.
  template <class Next>
  static Scan scan(const std::vector<std::string>& arguments, Next next) {
    std::vector<std::string> strings = arguments;
    std::vector<char*> argv;
    for (std::string& s : strings)
      argv.push_back(s.data());
    argv.push_back(nullptr);
    Scan scan;
    optind = 0;
    opterr = 0;
    optopt = '?';
    for (int calls = 0; calls < 100; ++calls) {
      int long_index = -1;
      const int result = next(static_cast<int>(strings.size()), argv.data(), &long_index);
      const bool is_wrong = result == '?' || result == ':';
      scan.steps.push_back({result, optind, is_wrong ? optopt : 0, long_index,
                            optarg != nullptr ? optarg : "(null)"});
      if (result == -1) break;
    }
    for (std::size_t i = 0; i < strings.size(); ++i)
      scan.arguments.emplace_back(argv[i]);
    return scan;
  }

  std::string trouble_;
  std::unique_ptr<const Image> image_;
};

const option long_options[] = {{"name", required_argument, nullptr, 'n'},
                               {"number", required_argument, nullptr, 'N'},
                               {"verbose", no_argument, nullptr, 'v'},
                               {"verbatim", no_argument, nullptr, 'v'},
                               {"opt", optional_argument, nullptr, 'o'},
                               {"two", no_argument, nullptr, -2},
                               {nullptr, 0, nullptr, 0}};

const std::vector<std::string> words = {
    "-a",         "-b",     "-bvalue", "-c",        "-cvalue",      "-abc",    "-ab",
    "--",         "file",   "other",   "-",         "--name",       "--na",    "--name=v",
    "--number",   "--n",    "--nam=",  "--verbose", "--verb",       "--v",     "--o",
    "--opt=2",    "-W",     "-Wopt",   "-Wname=v",  "-x",           "-name",   "-verbo",
    "-verbose=1", "-opt=3", "-n",      "-v",        "--unknown",    "-a-",     "--=",
    "-bc",        "-",      "-Wv",     "name=v",    "--verbatim=x", "-number", "-two",
    "--two"};

const std::vector<const char*> short_option_lists = {
    "ab:c::", ":ab:c::", "+ab:c::", "-ab:c::", "ab:c::W;", ":ab:W;nv", "", "+:ab:"};

TEST_F(GetoptStateTest, RandomArgumentListsAreScannedAsTheCLibraryScansThem) {
  ASSERT_NE(image_, nullptr) << trouble_;
  const char* given = std::getenv("SORREL_SEED");
  const std::uint64_t seed =
      given != nullptr ? std::strtoull(given, nullptr, 0) : std::random_device()();
  SCOPED_TRACE("SORREL_SEED=" + std::to_string(seed));
  Prng random(seed);
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::string> arguments = {"program"};
    for (std::uint64_t count = random.below(9); count > 0; --count)
      arguments.push_back(words[random.below(words.size())]);
    const char* list = short_option_lists[random.below(short_option_lists.size())];
    const std::uint64_t function = random.below(3);

    GetoptState state(PrivatizedImage(*image_, image_->base()));
    const Scan ours = scan(arguments, [&](int argc, char** argv, int* index) {
      return state.next(argc, argv,
                        {.short_options = list,
                         .long_options = function == 0 ? nullptr : long_options,
                         .long_index = index,
                         .single_dash_is_long = function == 2});
    });
    const Scan theirs = scan(arguments, [&](int argc, char** argv, int* index) {
      if (function == 0) return ::getopt(argc, argv, list);
      return function == 1 ? ::getopt_long(argc, argv, list, long_options, index)
                           : ::getopt_long_only(argc, argv, list, long_options, index);
    });
    std::string line =
        std::string("options \"") + list + "\", function " + std::to_string(function) + ":";
    for (const std::string& argument : arguments)
      line += " '" + argument + "'";
    ASSERT_EQ(ours.steps, theirs.steps) << line;
    ASSERT_EQ(ours.arguments, theirs.arguments) << line;
  }
}

}  // namespace
}  // namespace sorrel::program
