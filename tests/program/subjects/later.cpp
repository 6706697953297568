// later uneven | messages | even | bound | mapped | locked | directory: a program without
// thread-locals, whose balancing begins when the job turns out to be uneven (--balance auto).
//
// uneven: the first half of the ranks has all the work, until some computations have run on other
// workers; messages: as uneven, without collectives, while the ranks of the second half wait for
// the end; even: all ranks have the same; the others: as uneven, and rank 1 has something that
// binds it to its worker's thread. Results are checked, times are not.
#include <cerrno>
#include <chrono>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mpi.h>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

int own_rank = -1;
int rank_count = 0;
/// Where errno was: in a rank that keeps the address.
int* kept = nullptr;

[[noreturn]] void fail(const char* what) {
  std::printf("rank %d: %s\n", own_rank, what);
  std::fflush(stdout);
  MPI_Abort(MPI_COMM_WORLD, 9);
  std::abort();
}

void compute(std::chrono::microseconds duration) {
  const auto end = Clock::now() + duration;
  while (Clock::now() < end) {
  }
}

/// Out of line: the compiler keeps the address of errno in the caller.
[[gnu::noinline]] void set_errno(int value) {
  errno = value;
}

[[gnu::noinline]] int get_errno() {
  return errno;
}

/// The thread of the rank's own worker: a rank that is lent comes home for this call.
pid_t home_thread() {
  static_cast<void>(std::getenv("HOME"));
  return gettid();
}

/// A step of a computation whose results are known. Returns whether another worker has run it.
bool step(int number, bool is_busy) {
  const int expected = 1000 + own_rank + number;
  set_errno(expected);
  if (is_busy) compute(std::chrono::microseconds(300));
  if (get_errno() != expected) fail("errno has changed in a computation");
  std::string text;
  try {
    throw std::runtime_error(std::to_string(own_rank));
  } catch (const std::runtime_error& error) {
    if (is_busy) compute(std::chrono::microseconds(100));
    text = error.what();
  }
  if (std::stoi(text) != own_rank) fail("another rank's exception");
  set_errno(expected);
  const pid_t there = gettid();
  const bool is_lent = home_thread() != there;
  if (get_errno() != expected) fail("errno has changed on the way home");
  return is_lent;
}

void exchange(int number) {
  const int left = (own_rank + rank_count - 1) % rank_count;
  const int right = (own_rank + 1) % rank_count;
  std::vector<int> in(1000, -1);
  const std::vector<int> out(1000, 100 * number + own_rank);
  MPI_Sendrecv(out.data(), 1000, MPI_INT, right, 5, in.data(), 1000, MPI_INT, left, 5,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (in.front() != 100 * number + left || in.back() != in.front()) fail("a wrong message");
}

enum class Until { lent, never };

/// Until some rank has been lent, and a while longer; 60 s at most.
void run(bool is_busy, Until until) {
  const auto end = Clock::now() + std::chrono::seconds(until == Until::never ? 2 : 60);
  int lent_count = 0;
  int left = 50;
  for (int number = 0; left > 0; ++number) {
    int mine[2] = {step(number, is_busy) ? 1 : 0, 0};
    exchange(number);
    mine[1] = Clock::now() > end ? 1 : 0;
    int all[2] = {0, 0};
    MPI_Allreduce(mine, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    double value = 1.0 / (1 + own_rank);
    double sum = 0;
    MPI_Reduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, number % rank_count, MPI_COMM_WORLD);
    if (number % rank_count == own_rank && (sum < 1 || sum > rank_count)) fail("a wrong sum");
    lent_count += all[0];
    if ((until == Until::lent && lent_count > 0) || all[1] != 0) --left;
  }
  if (own_rank != 0) return;
  if (until == Until::lent)
    std::printf("%s\n", lent_count > 0 ? "some were lent" : "none was lent");
  if (until == Until::never) std::printf("%d lent, all results are right\n", lent_count);
}

/// Without a collective: the ranks of the first half compute and exchange messages, the others wait
/// for the last one.
void run_with_messages() {
  const int half = rank_count / 2;
  constexpr int end_tag = 9;
  if (own_rank >= half) {
    int lent = 0;
    MPI_Recv(&lent, 1, MPI_INT, own_rank - half, end_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (own_rank == half) std::printf("%s\n", lent > 0 ? "some were lent" : "none was lent");
    return;
  }
  const auto end = Clock::now() + std::chrono::seconds(60);
  int lent = 0;
  int number = 0;
  // Rank 0 decides when it is over.
  for (int is_over = 0; is_over == 0; ++number) {
    int in = 0;
    lent += step(number, true) ? 1 : 0;
    if (own_rank == 0) {
      for (int other = 1; other < half; ++other) {
        MPI_Recv(&in, 1, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        lent += in;
      }
      is_over = (lent > 0 && number > 200) || Clock::now() > end ? 1 : 0;
      for (int other = 1; other < half; ++other)
        MPI_Send(&is_over, 1, MPI_INT, other, 2, MPI_COMM_WORLD);
    } else {
      MPI_Send(&lent, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
      lent = 0;
      MPI_Recv(&is_over, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  MPI_Send(&lent, 1, MPI_INT, own_rank + half, end_tag, MPI_COMM_WORLD);
}

void bind(const std::string& what) {
  if (own_rank != 1) return;
  if (what == "bound") kept = &errno;
  if (what == "mapped") {
    void* memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) fail("no memory");
    *static_cast<int**>(memory) = &errno;
  }
  if (what == "locked") {
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&mutex);
  }
  if (what == "directory" && chdir("/") != 0) fail("no directory");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
  const std::string what = argc > 1 ? argv[1] : "uneven";
  const bool is_busy = own_rank < rank_count / 2;
  bind(what);
  if (what == "messages") {
    run_with_messages();
  } else if (what == "even") {
    run(true, Until::never);
  } else {
    run(is_busy, Until::lent);
  }
  // Its thread's is still the same.
  if (kept != nullptr && kept != &errno) fail("errno lies elsewhere");
  MPI_Finalize();
  return 0;
}
