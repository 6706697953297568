#include "omp/region/affinity.hpp"

#include <cstdio>
#include <unistd.h>

#include "omp/icv/affinity_text.hpp"
#include "omp/icv/environment.hpp"
#include "omp/kernel/spin_lock.hpp"
#include "omp/team/team.hpp"
#include "os/cpu_set.hpp"
#include "os/sched_stat.hpp"

namespace sorrel::omp {

namespace {

/// The format that the program has set, if it has.
struct Format {
  SpinLock lock;
  std::string* text = nullptr;
};

constinit Format own_format;

AffinityFields fields_of(const TeamThread& thread) {
  const Team& team = *thread.team;
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return {.team_number = team.league_number,
          .team_count = team.league_size,
          .level = team.level,
          .thread_number = thread.number,
          .thread_count = team.size,
          .ancestor = team.level == 0 ? -1 : static_cast<int>(team.outer_state.number),
          .host = host,
          .process = getpid(),
          .native_thread = os::thread_number(),
          .cpus = os::format_cpu_ranges(os::allowed_cpus())};
}

}  // namespace

std::string affinity_of(const TeamThread& thread, const char* format) {
  const bool is_default = format == nullptr || *format == '\0';
  return format_affinity(is_default ? affinity_format() : format, fields_of(thread));
}

void display_affinity(const TeamThread& thread, const char* format) {
  std::FILE* const output = environment().convention == Convention::llvm ? stdout : stderr;
  std::fputs((affinity_of(thread, format) + "\n").c_str(), output);
}

std::string affinity_format() {
  own_format.lock.lock();
  const std::string text =
      own_format.text == nullptr ? environment().affinity_format : *own_format.text;
  own_format.lock.unlock();
  return text;
}

void set_affinity_format(const char* format) {
  auto* text = new std::string(format);
  own_format.lock.lock();
  std::swap(text, own_format.text);
  own_format.lock.unlock();
  delete text;
}

}  // namespace sorrel::omp
