// With MP_SUGNUMTHD set, the loops of a plain program use fewer threads under external load, and
// MP_SUGNUMTHD_VERBOSE reports it; mp_numthreads() fixes the number. The program makes the load
// itself, on two processors, and reads its own standard error. Status 77: there is one processor.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sorrel/parallel.hpp>

#include "sorrel.h"

namespace {

using Clock = std::chrono::steady_clock;

bool bind_to_two_processors() {
  cpu_set_t allowed, two;
  CPU_ZERO(&two);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return false;
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&two) < 2; ++cpu) {
    if (CPU_ISSET(cpu, &allowed)) CPU_SET(cpu, &two);
  }
  return CPU_COUNT(&two) == 2 && sched_setaffinity(0, sizeof two, &two) == 0;
}

pid_t start_burner() {
  const pid_t pid = fork();
  if (pid != 0) return pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (volatile unsigned count = 0;; count = count + 1) {
  }
}

void run_loop() {
  std::atomic<unsigned> sum{0};
  sorrel::parallel_for(0, 1000, [&](std::int64_t i) {
    for (volatile int work = 0; work < 300; work = work + 1) {
    }
    sum.fetch_add(static_cast<unsigned>(i), std::memory_order_relaxed);
  });
}

/// What the library has written to standard error, which ends in a pipe.
class Lines {
 public:
  bool redirect() {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0 || dup2(ends[1], STDERR_FILENO) < 0) return false;
    read_end_ = ends[0];
    return fcntl(read_end_, F_SETFL, O_NONBLOCK) == 0;
  }

  bool contain(const std::string& text) {
    std::array<char, 4096> bytes{};
    const ssize_t count = read(read_end_, bytes.data(), bytes.size());
    if (count > 0) text_.append(bytes.data(), static_cast<std::size_t>(count));
    return text_.find(text) != std::string::npos;
  }

  [[nodiscard]] const char* text() const { return text_.c_str(); }

 private:
  int read_end_ = -1;
  std::string text_;
};

}  // namespace

int main() {
  Lines lines;
  if (!bind_to_two_processors()) return 77;
  if (!lines.redirect()) return 1;
  std::array<pid_t, 6> burners{};
  for (pid_t& burner : burners)
    burner = start_burner();
  const auto end = Clock::now() + std::chrono::seconds(60);
  while (!lines.contain("loops use 1 of 2 threads because of external load\n") &&
         Clock::now() < end)
    run_loop();
  std::printf("follows external load: %d\n", static_cast<int>(Clock::now() < end));
  const int number = mp_numthreads();
  std::printf(
      "says that the number is fixed: %d\n",
      static_cast<int>(lines.contain("the program requested a fixed number of threads: frozen "
                                     "at " +
                                     std::to_string(number) + "\n")));
  for (const pid_t burner : burners) {
    kill(burner, SIGKILL);
    waitpid(burner, nullptr, 0);
  }
  bool is_same = true;
  const auto later = Clock::now() + std::chrono::milliseconds(500);
  while (Clock::now() < later) {
    run_loop();
    is_same = is_same && sorrel_loop_threads() == number;
  }
  std::printf("keeps the number: %d\n", static_cast<int>(is_same));
  if (Clock::now() >= end) std::printf("standard error was:\n%s", lines.text());
  return 0;
}
