// Options: --wire, the job in the environment, numbers, first lines of scripts, and lists of
// arguments (one a line).
#include <cmath>
#include <string>
#include <vector>

#include "fuzz/harness.hpp"
#include "launch/job_spec.hpp"
#include "os/interpreter_line.hpp"
#include "tools/sorrel/common/command_line.hpp"
#include "tools/sorrel/common/diagnostic.hpp"
#include "tools/sorrel/common/numbers.hpp"
#include "tools/sorrel/inspect/interpreter.hpp"
#include "tools/sorrel/mpiexec/mpiexec.hpp"
#include "tools/sorrel/run/run_options.hpp"
#include "tools/sorrel/run/wire_options.hpp"

using sorrel::fuzz::require;
using namespace sorrel::tool;

extern "C" const char* const sorrel_fuzz_tokens[];
const char* const sorrel_fuzz_tokens[] = {"latency=", "bandwidth=",
                                          "nodes=",   "jitter=",
                                          ",",        "=",
                                          "us",       "ns",
                                          "ms",       "GB/s",
                                          "B/s",      "nan",
                                          "inf",      "1e308",
                                          "1e-320",   "--",
                                          "-n",       "-np",
                                          "-n4",      "--procs",
                                          "--wire=",  "--label",
                                          "\n",       "\n--\n",
                                          "env -S ",  "/usr/bin/env python3",
                                          "ranks=",   "cpus=",
                                          "wire=",    "%2c",
                                          "seal=",    ":",
                                          "\t",       "K",
                                          "GiB",      "\xff",
                                          "\xc3\xa9", nullptr};

namespace {

void read_wire(std::string_view text) {
  WireOptions wire;
  if (!parse_wire(text, wire).empty()) return;
  require(wire.node_count >= 2 && wire.node_count <= 1024, "there are 2 to 1024 simulated nodes");
  require(wire.latency_ns >= 0 && wire.latency_ns <= 10'000'000'000, "latency is up to 10 s");
  require(wire.jitter_ns >= 0 && wire.jitter_ns <= 10'000'000'000, "jitter is up to 10 s");
  require(std::isfinite(wire.bytes_per_second) && wire.bytes_per_second >= 0,
          "bandwidth is a number");
}

void read_job(const std::string& text) {
  const auto job = sorrel::launch::decode(text);
  if (job) require(sorrel::launch::encode(*job) == text, "a job has one text");
}

void read_numbers(std::string_view text) {
  (void)parse_count(text);
  const auto size_bytes = parse_size(text);
  if (size_bytes) require(parse_size(std::to_string(*size_bytes)) == size_bytes, "sizes are read");
}

void read_interpreter(std::string_view text) {
  const auto words = sorrel::os::interpreter_arguments(text);
  require(words.size() <= 2, "an interpreter has one argument at most");
  if (!words.empty()) (void)is_interpreter(words.front());
}

void read_arguments(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char letter : text) {
    if (letter == '\n') {
      words.emplace_back();
    } else if (letter != '\0') {
      words.back() += letter;
    }
  }
  std::vector<char*> pointers;
  for (std::string& word : words)
    pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const Arguments arguments = Arguments(pointers).first(words.size());
  RunOptions run_arguments;
  const auto app = make_run_app(run_arguments);
  const SplitArguments split = split_arguments(*app, arguments);
  require(split.error.empty() || split.program.empty(), "invalid arguments start no program");
  require(split.options.size() + split.program.size() <= words.size(), "no argument is invented");
  (void)translate_mpiexec(arguments);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = sorrel::fuzz::text_of(data, size);
  read_wire(text);
  read_job(std::string(text));
  read_numbers(text);
  read_interpreter(text);
  if (size < 4096) read_arguments(text);
  return 0;
}
