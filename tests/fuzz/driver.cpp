// Runs a libFuzzer harness without libFuzzer, for compilers other than clang:
//   HARNESS [--seed S] [--count N] [--seconds T] [--keep FOLDER] CORPUS...
// Runs every file of the corpus (files or folders), then damaged copies of them, each a function of
// the seed and of its number. A case that crashes or takes longer than 60 s is kept in FOLDER
// (default: the current one) as crash-S-NUMBER; HARNESS FILE runs it again.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <signal.h>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "fuzz/mutation.hpp"

using sorrel::Prng;
using sorrel::fuzz::Bytes;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
// Optional definitions of a harness: libFuzzer's custom mutator, and the tokens of its format with
// a null pointer at the end.
extern "C" __attribute__((weak)) std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data,
                                                                     std::size_t size,
                                                                     std::size_t size_max,
                                                                     unsigned seed);
extern "C" __attribute__((weak)) const char* const sorrel_fuzz_tokens[];
// A function of a sanitizer, which ends the process without a signal.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace {

constexpr unsigned limit_s = 60;
constexpr std::size_t size_max = 1 << 16;

struct Options {
  std::uint64_t seed = 1;
  std::uint64_t count = 10'000;
  double seconds = 1e9;
  std::string folder = ".";
  std::vector<std::string> corpus;
};

// The current case, for the signal handlers: all that they need is prepared before it begins.
char path_to_keep[4096];
const std::uint8_t* current_data = nullptr;
std::size_t current_size = 0;

void say(const char* text) {
  (void)!write(STDERR_FILENO, text, std::strlen(text));
}

void keep_current() {
  if (current_data == nullptr) return;
  const int file = open(path_to_keep, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file >= 0) {
    (void)!write(file, current_data, current_size);
    close(file);
  }
  say("FAILED: the case is kept in ");
  say(path_to_keep);
  say("\n");
}

void on_deadly_signal(int number) {
  say(number == SIGALRM ? "a case took longer than 60 s\n" : "a case crashed\n");
  keep_current();
  signal(number, SIG_DFL);
  raise(number == SIGALRM ? SIGKILL : number);
}

void watch() {
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM}) {
    if (__sanitizer_set_death_callback != nullptr && number != SIGALRM) continue;
    signal(number, on_deadly_signal);
  }
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(keep_current);
}

void try_case(const Bytes& data, const std::string& name, const Options& options) {
  std::snprintf(path_to_keep, sizeof path_to_keep, "%s/crash-%s", options.folder.c_str(),
                name.c_str());
  // Exactly as large as the data, so that a sanitizer detects reads behind its end.
  const Bytes exact(data);
  current_data = exact.data();
  current_size = exact.size();
  alarm(limit_s);
  LLVMFuzzerTestOneInput(current_data, current_size);
  alarm(0);
}

Bytes read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::vector<std::filesystem::path> files_of(const std::vector<std::string>& corpus) {
  std::vector<std::filesystem::path> files;
  for (const std::string& path : corpus) {
    if (!std::filesystem::is_directory(path)) {
      files.emplace_back(path);
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(path))
      if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> tokens() {
  std::vector<std::string> words;
  if (sorrel_fuzz_tokens == nullptr) return words;
  for (const char* const* word = sorrel_fuzz_tokens; *word != nullptr; ++word)
    words.emplace_back(*word);
  return words;
}

Bytes mutant(const std::vector<Bytes>& bases, Prng& random, std::span<const std::string> words) {
  Bytes data = sorrel::fuzz::pick<Bytes>(random, bases);
  if (LLVMFuzzerCustomMutator != nullptr && random.below(4) != 0) {
    const std::size_t size = data.size();
    data.resize(std::max(size, size_max));
    data.resize(LLVMFuzzerCustomMutator(data.data(), size, data.size(),
                                        static_cast<unsigned>(random.next())));
    return data;
  }
  const std::uint64_t places = 1 + random.below(6);
  for (std::uint64_t i = 0; i < places; ++i)
    sorrel::fuzz::mutate_once(data, std::max(data.size(), size_max), random, words);
  return data;
}

bool read_options(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word.substr(0, 2) != "--") {
      options.corpus.emplace_back(word);
      continue;
    }
    if (++i == argc) return false;
    if (word == "--seed") {
      options.seed = std::strtoull(argv[i], nullptr, 10);
    } else if (word == "--count") {
      options.count = std::strtoull(argv[i], nullptr, 10);
    } else if (word == "--seconds") {
      options.seconds = std::strtod(argv[i], nullptr);
    } else if (word == "--keep") {
      options.folder = argv[i];
    } else {
      return false;
    }
  }
  return !options.corpus.empty();
}

double now_s() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!read_options(argc, argv, options)) {
    std::fputs("usage: HARNESS [--seed S] [--count N] [--seconds T] [--keep FOLDER] CORPUS...\n",
               stderr);
    return 2;
  }
  watch();
  std::vector<Bytes> bases;
  for (const auto& path : files_of(options.corpus)) {
    bases.push_back(read_file(path));
    try_case(bases.back(), path.filename(), options);
  }
  if (bases.empty()) {
    std::fputs("the corpus is empty\n", stderr);
    return 2;
  }
  const bool is_one_case = options.corpus.size() == 1 && bases.size() == 1 &&
                           std::filesystem::is_regular_file(options.corpus.front());
  if (is_one_case) return 0;

  const std::vector<std::string> words = tokens();
  const double end_s = now_s() + options.seconds;
  std::uint64_t number = 0;
  for (; number < options.count && (number % 16 != 0 || now_s() < end_s); ++number) {
    Prng random(Prng(options.seed).next() + number);
    try_case(mutant(bases, random, words),
             std::to_string(options.seed) + "-" + std::to_string(number), options);
  }
  std::printf("%zu cases of the corpus and %llu damaged ones (seed %llu): no failure\n",
              bases.size(), static_cast<unsigned long long>(number),
              static_cast<unsigned long long>(options.seed));
}
