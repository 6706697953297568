#include "tools/sorrel/machine/other_work.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <sstream>
#include <sys/resource.h>
#include <unistd.h>

#include "os/clock.hpp"
#include "os/cpu_set.hpp"

namespace sorrel::tool {

namespace {

double busy_seconds_now(const std::vector<int>& cpus) {
  std::ifstream file("/proc/stat");
  std::ostringstream text;
  text << file.rdbuf();
  return busy_seconds(text.str(), cpus, static_cast<double>(sysconf(_SC_CLK_TCK)));
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

double own_seconds_now() {
  double seconds = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    seconds += seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  }
  return seconds;
}

}  // namespace

OtherWork::OtherWork()
    : cpus_(os::allowed_cpus()),
      began_ns_(os::monotonic_ns()),
      busy_s_(busy_seconds_now(cpus_)),
      own_s_(own_seconds_now()) {}

double OtherWork::share() const {
  const double elapsed_s = 1e-9 * static_cast<double>(os::monotonic_ns() - began_ns_);
  const double other_s = busy_seconds_now(cpus_) - busy_s_ - (own_seconds_now() - own_s_);
  if (elapsed_s <= 0 || cpus_.empty()) return 0;
  return std::max(0.0, other_s / elapsed_s / static_cast<double>(cpus_.size()));
}

double busy_seconds(const std::string& stat,
                    const std::vector<int>& cpus,
                    double ticks_per_second) {
  double ticks = 0;
  std::istringstream lines(stat);
  for (std::string line; std::getline(lines, line);) {
    int cpu = 0;
    // user, nice, system, idle, I/O wait, interrupts of two kinds, stolen by the host
    double field[8] = {};
    const int count =
        std::sscanf(line.c_str(), "cpu%d %lf %lf %lf %lf %lf %lf %lf %lf", &cpu, &field[0],
                    &field[1], &field[2], &field[3], &field[4], &field[5], &field[6], &field[7]);
    if (count < 5 || std::find(cpus.begin(), cpus.end(), cpu) == cpus.end()) continue;
    for (const std::size_t busy : {0, 1, 2, 5, 6, 7})
      ticks += field[busy];
  }
  return ticks / ticks_per_second;
}

std::string date_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[64];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &utc);
  return text;
}

}  // namespace sorrel::tool
