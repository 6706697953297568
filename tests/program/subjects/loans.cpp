// loans traffic | report | home | crash | throw | abort | exit | deadlock | activity | signals |
// fork: the first half of the ranks computes, so that another worker borrows their computations.
// Rank 3 does what the argument says as soon as it finds itself on another thread than that of its
// worker. Results are checked, times are not.
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mpi.h>
#include <stdexcept>
#include <string>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "unequal_ranks.hpp"

namespace {

pid_t home = 0;
int request_pipe[2];
volatile std::sig_atomic_t handled_count = 0;

bool is_lent() {
  return gettid() != home;
}

/// State that the C and C++ libraries keep for each thread, across a call.
void check_thread_state(int step) {
  errno = 1000 + step;
  try {
    throw std::runtime_error(std::to_string(own_rank));
  } catch (const std::runtime_error& error) {
    compute(std::chrono::microseconds(100));
    MPI_Barrier(MPI_COMM_SELF);
    compute(std::chrono::microseconds(100));
    if (std::stoi(error.what()) != rank_of_global) fail("another rank's exception");
  }
  if (errno != 1000 + step) fail("errno has changed");
  if (own_rank != rank_of_global) fail("another rank's thread_local");
}

/// Computations between messages. Returns how many of them other workers ran.
int exchange(int step) {
  const bool is_busy = own_rank < rank_count / 2;
  int lent = 0;
  if (is_busy) {
    compute(std::chrono::microseconds(300));
    lent += is_lent() ? 1 : 0;
    check_thread_state(step);
  }
  const int left = (own_rank + rank_count - 1) % rank_count;
  const int right = (own_rank + 1) % rank_count;
  std::vector<int> in(1000, -1);
  const std::vector<int> out(1000, 100 * step + own_rank);
  MPI_Request requests[2];
  MPI_Irecv(in.data(), 1000, MPI_INT, left, 5, MPI_COMM_WORLD, &requests[0]);
  if (is_busy) compute(std::chrono::microseconds(100));
  MPI_Isend(out.data(), 1000, MPI_INT, right, 5, MPI_COMM_WORLD, &requests[1]);
  if (is_busy) compute(std::chrono::microseconds(100));
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  if (in.front() != 100 * step + left || in.back() != in.front()) fail("a wrong message");
  return lent;
}

void traffic(std::chrono::seconds longest) {
  const auto end = Clock::now() + longest;
  int lent = 0;
  int step = 0;
  for (int is_over = 0; is_over == 0; ++step) {
    lent += exchange(step);
    int sums[2] = {lent, Clock::now() > end ? 1 : 0};
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    is_over = (sums[0] >= 20 && step >= 100) || sums[1] != 0 ? 1 : 0;
  }
  int all = 0;
  MPI_Reduce(&lent, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (own_rank == 0) std::printf("%s\n", all > 0 ? "some computations were lent" : "none was lent");
}

constexpr int end_tag = 9;

/// Makes the worker's other ranks compute, so that rank 3 is worth a loan, until rank 3 ends it.
void keep_company() {
  for (int is_over = 0; is_over == 0;) {
    compute(std::chrono::microseconds(300));
    MPI_Barrier(MPI_COMM_SELF);
    MPI_Iprobe(3, end_tag, MPI_COMM_WORLD, &is_over, MPI_STATUS_IGNORE);
  }
  MPI_Recv(nullptr, 0, MPI_INT, 3, end_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void end_company() {
  for (int rank = 0; rank < rank_count / 2; ++rank) {
    if (rank != own_rank) MPI_Send(nullptr, 0, MPI_INT, rank, end_tag, MPI_COMM_WORLD);
  }
}

/// Until the rank is lent; false: it was not, in 60 seconds.
bool wait_for_loan() {
  const auto end = Clock::now() + std::chrono::seconds(60);
  while (Clock::now() < end) {
    compute(std::chrono::microseconds(300));
    if (is_lent()) return true;
    MPI_Barrier(MPI_COMM_SELF);
  }
  return false;
}

void on_signal(int /*number*/) {
  handled_count = handled_count + 1;
}

/// A rank with a handler stays on its worker, and its handlers run.
void handle_signals() {
  std::signal(SIGUSR2, on_signal);
  for (int i = 0; i < 200; ++i) {
    compute(std::chrono::microseconds(200));
    if (is_lent()) fail("a rank with a signal handler was lent");
    MPI_Barrier(MPI_COMM_SELF);
    if (std::raise(SIGUSR2) != 0 || handled_count != i + 1) fail("a handler did not run");
  }
  std::printf("handlers ran\n");
}

void fork_and_wait() {
  const pid_t child = fork();
  if (child == 0) {
    // A call that asks for the rank.
    const char* own = std::getenv("OWN_VALUE");
    _exit(own != nullptr && std::strcmp(own, "7") == 0 && own_rank == 3 ? 5 : 6);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 5)
    fail("a wrong child");
  std::printf("the child of a rank that was lent is right\n");
}

/// A child that requests a report when it reads a byte: a signal that a rank sends to itself is the
/// rank's.
void start_requester() {
  if (pipe(request_pipe) != 0) fail("no pipe");
  if (fork() != 0) return;
  char byte = 0;
  syscall(SYS_read, request_pipe[0], &byte, 1);
  syscall(SYS_kill, getppid(), SIGUSR1);
  _exit(0);
}

void act(const std::string& what) {
  if (what == "activity") start_requester();
  if (what == "signals") {
    handle_signals();
    return end_company();
  }
  if (what == "fork") setenv("OWN_VALUE", "7", 1);
  if (!wait_for_loan()) fail("was not lent");
  if (what == "crash") *reinterpret_cast<volatile int*>(8) = 1;
  if (what == "throw") throw std::runtime_error("thrown while lent");
  if (what == "abort") MPI_Abort(MPI_COMM_WORLD, 4);
  if (what == "exit") std::exit(7);
  if (what == "fork") fork_and_wait();
  if (what == "activity") {
    syscall(SYS_write, request_pipe[1], "", 1);
    // Until the report has been made.
    compute(std::chrono::seconds(5));
  }
  end_company();
  if (what == "deadlock") {
    int never = 0;
    MPI_Recv(&never, 1, MPI_INT, 4, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_of_global);
  MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
  own_rank = rank_of_global;
  home = gettid();
  const std::string what = argc > 1 ? argv[1] : "traffic";
  if (what == "traffic" || what == "report") {
    traffic(std::chrono::seconds(20));
  } else if (what == "home") {
    traffic(std::chrono::seconds(1));
  } else if (own_rank == 3) {
    act(what);
  } else if (own_rank < rank_count / 2) {
    keep_company();
  }
  MPI_Finalize();
  return 0;
}
