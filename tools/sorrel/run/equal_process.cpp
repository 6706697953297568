#include "tools/sorrel/run/equal_process.hpp"

#include <csignal>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <link.h>
#include <string>
#include <sys/personality.h>
#include <sys/ptrace.h>

#include "base/hash.hpp"
#include "os/random_bytes.hpp"

namespace sorrel::tool {

namespace {

// Returns the present persona and changes nothing.
constexpr unsigned long query = 0xffffffff;

/// The address of the random bytes that the kernel has given a process; 0: unknown.
std::uintptr_t random_bytes_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/auxv", std::ios::binary);
  ElfW(auxv_t) entry{};
  while (file.read(reinterpret_cast<char*>(&entry), sizeof entry) && entry.a_type != AT_NULL) {
    if (entry.a_type == AT_RANDOM) return entry.a_un.a_val;
  }
  return 0;
}

std::string text_of(const char* variable) {
  return variable == nullptr ? "" : variable;
}

/// What no other job has, and all processes of this one: the name that PMIx gives it, the step of
/// Slurm, or where mpiexec of MPICH listens, which its daemons have in their command line.
std::string name_of_job(const Environment& environment, std::string_view parent_words) {
  const std::string job = text_of(environment("SLURM_JOB_ID"));
  const std::string step = text_of(environment("SLURM_STEP_ID"));
  const std::string space = text_of(environment("PMIX_NAMESPACE"));
  if (!space.empty()) return space + " " + job;
  if (!step.empty()) return job + "." + step;
  constexpr std::string_view option("\0--control-port\0", 16);
  const std::size_t at = parent_words.find(option);
  if (at == std::string_view::npos) return "";
  const std::string_view port = parent_words.substr(at + option.size());
  return std::string(port.substr(0, port.find('\0')));
}

}  // namespace

std::optional<RandomBytes> make_random_bytes() {
  RandomBytes bytes{};
  if (!os::fill_random(bytes.data(), bytes.size())) return std::nullopt;
  return bytes;
}

std::optional<RandomBytes> random_bytes_of_job(const Environment& environment,
                                               std::string_view parent_words) {
  const std::string name = name_of_job(environment, parent_words);
  if (name.empty()) return std::nullopt;
  const std::array<std::uint64_t, 2> halves{hash_of(name), hash_of(name, hash_of("sorrel"))};
  RandomBytes bytes{};
  static_assert(sizeof bytes == sizeof halves);
  std::memcpy(bytes.data(), halves.data(), sizeof bytes);
  return bytes;
}

void EqualProcesses::prepare() {
  const int persona = ::personality(query);
  if (persona >= 0)
    static_cast<void>(::personality(static_cast<unsigned long>(persona) | ADDR_NO_RANDOMIZE));
  static_cast<void>(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr));
}

void EqualProcesses::on_stop(pid_t child, int signal_number) const {
  const std::uintptr_t address = random_ && signal_number == SIGTRAP ? random_bytes_of(child) : 0;
  for (std::size_t i = 0; address != 0 && i < random_->size(); i += sizeof(long)) {
    long word = 0;
    std::memcpy(&word, random_->data() + i, sizeof word);
    static_cast<void>(::ptrace(PTRACE_POKEDATA, child, address + i, word));
  }
  const long passed_on = signal_number == SIGTRAP ? 0 : signal_number;
  static_cast<void>(::ptrace(PTRACE_DETACH, child, nullptr, passed_on));
}

}  // namespace sorrel::tool
