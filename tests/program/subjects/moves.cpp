// moves spread | traffic | moved | none [quarters]: ranks of which half have all the work, so that
// the balancer gives some of them to another worker. Results and per-rank state are checked, times
// are not. These are the ranks of the first half, or of the first and third quarter.
//
// spread: until a rank has moved; traffic: with messages, communicators, persistent requests and
// nonblocking collectives in between; moved: spread, then traffic; none: without collectives of all
// ranks, so no rank moves.
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mpi.h>
#include <string>
#include <unistd.h>
#include <vector>

#include "unequal_ranks.hpp"

namespace {

bool are_quarters = false;

bool is_busy() {
  const int quarter = own_rank * 4 / rank_count;
  return are_quarters ? quarter % 2 == 0 : quarter < 2;
}

void check_state(int step) {
  if (own_rank != rank_of_global) fail("another rank's thread_local");
  if (errno != 1000 + step) fail("errno has changed");
}

/// One step of unequal work between two collectives of all ranks. Returns the thread of the rank's
/// own worker.
pid_t work(int step) {
  errno = 1000 + step;
  if (is_busy()) compute(std::chrono::microseconds(500));
  int mine = own_rank + step;
  int sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  check_state(step);
  if (sum != rank_count * (rank_count - 1) / 2 + rank_count * step) fail("a wrong sum");
  // A rank that is lent goes home for this call.
  static_cast<void>(std::getenv("HOME"));
  return gettid();
}

/// Whether a rank has changed its thread after a collective, and so its worker: in 60 s at most.
void spread() {
  const auto end = Clock::now() + std::chrono::seconds(60);
  const pid_t first = work(0);
  int moved = 0;
  for (int step = 1; moved == 0 && Clock::now() < end; ++step) {
    const int mine = work(step) != first ? 1 : 0;
    MPI_Allreduce(&mine, &moved, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  // A while longer, with the ranks where they are now.
  for (int step = 0; step < 100; ++step)
    work(step);
  if (own_rank == 0) std::printf("%s\n", moved != 0 ? "ranks have moved" : "no rank has moved");
}

class Traffic {
 public:
  Traffic() {
    MPI_Comm_split(MPI_COMM_WORLD, own_rank % 3, own_rank, &third_);
    MPI_Comm_dup(MPI_COMM_WORLD, &all_);
    MPI_Send_init(&out_, 1, MPI_INT, right(), 8, all_, &requests_[0]);
    MPI_Recv_init(&in_, 1, MPI_INT, left(), 8, all_, &requests_[1]);
  }

  ~Traffic() {
    MPI_Request_free(&requests_[0]);
    MPI_Request_free(&requests_[1]);
    MPI_Comm_free(&third_);
    MPI_Comm_free(&all_);
  }

  Traffic(const Traffic&) = delete;
  Traffic& operator=(const Traffic&) = delete;

  void step(int number) {
    persistent(number);
    across_a_collective(number);
    in_parts(number);
  }

 private:
  [[nodiscard]] static int left() { return (own_rank + rank_count - 1) % rank_count; }

  [[nodiscard]] static int right() { return (own_rank + 1) % rank_count; }

  void persistent(int number) {
    out_ = number * 1000 + own_rank;
    MPI_Startall(2, requests_);
    MPI_Waitall(2, requests_, MPI_STATUSES_IGNORE);
    if (in_ != number * 1000 + left()) fail("a wrong persistent message");
  }

  /// Messages sent before a collective of all ranks, short, long and by reference, and received
  /// after it.
  void across_a_collective(int number) {
    for (const int length : {1, 1000, 100'000}) {
      const auto size = static_cast<std::size_t>(length);
      const std::vector<int> sent(size, number + own_rank);
      std::vector<int> got(size, -1);
      MPI_Request send = MPI_REQUEST_NULL;
      MPI_Request receive = MPI_REQUEST_NULL;
      const bool is_posted_before = (number + own_rank) % 2 == 0;
      const auto post = [&] {
        MPI_Irecv(got.data(), length, MPI_INT, left(), length, MPI_COMM_WORLD, &receive);
      };
      if (is_posted_before) post();
      MPI_Isend(sent.data(), length, MPI_INT, right(), length, MPI_COMM_WORLD, &send);
      MPI_Barrier(MPI_COMM_WORLD);
      if (!is_posted_before) post();
      MPI_Wait(&receive, MPI_STATUS_IGNORE);
      MPI_Wait(&send, MPI_STATUS_IGNORE);
      if (got.front() != number + left() || got.back() != got.front()) fail("a wrong message");
    }
  }

  /// A collective of some ranks, and a nonblocking one.
  void in_parts(int number) {
    int sum = 0;
    int members = 0;
    MPI_Comm_size(third_, &members);
    MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, third_);
    if (sum != number * members) fail("a wrong sum of a third");
    int product = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(&number, &product, 1, MPI_INT, MPI_MAX, all_, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (product != number) fail("a wrong maximum");
  }

  MPI_Comm third_ = MPI_COMM_NULL;
  MPI_Comm all_ = MPI_COMM_NULL;
  MPI_Request requests_[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int out_ = 0;
  int in_ = 0;
};

void traffic() {
  const auto end = Clock::now() + std::chrono::seconds(2);
  Traffic traffic;
  for (int is_over = 0, step = 0; is_over == 0; ++step) {
    work(step);
    traffic.step(step);
    const int mine = Clock::now() > end ? 1 : 0;
    MPI_Allreduce(&mine, &is_over, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  }
  if (own_rank == 0) std::printf("all messages were right\n");
}

void without_collectives() {
  MPI_Comm pair = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, own_rank / 2, 0, &pair);
  for (int step = 0; step < 1000; ++step) {
    if (is_busy()) compute(std::chrono::microseconds(100));
    MPI_Barrier(pair);
  }
  MPI_Comm_free(&pair);
  if (own_rank == 0) std::printf("done without collectives of all ranks\n");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_of_global);
  MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
  own_rank = rank_of_global;
  const std::string what = argc > 1 ? argv[1] : "spread";
  are_quarters = argc > 2 && std::string(argv[2]) == "quarters";
  if (what == "traffic") {
    traffic();
  } else if (what == "moved") {
    spread();
    traffic();
  } else if (what == "none") {
    without_collectives();
  } else {
    spread();
  }
  MPI_Finalize();
  return 0;
}
