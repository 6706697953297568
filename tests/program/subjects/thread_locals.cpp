// thread_local variables, errno and malloc belong to a rank.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mpi.h>
#include <string>
#include <vector>

int global = 5;
thread_local int plain = 41;
thread_local int* to_global = &global;
thread_local const char* word = "word";
thread_local std::vector<int> list = {1, 2, 3};
static __thread char buffer[100'000];

struct Goodbye {
  int rank = -1;

  ~Goodbye() { std::printf("thread_local destructor of rank %d\n", rank); }
};

thread_local Goodbye goodbye;

static void require(bool condition, const char* what, int rank) {
  if (condition) return;
  std::fprintf(stderr, "rank %d: %s\n", rank, what);
  std::exit(1);
}

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  require(plain == 41, "a thread_local began with another value", rank);
  require(to_global == &global, "a thread_local points into another image", rank);
  require(std::strcmp(word, "word") == 0, "a thread_local string is wrong", rank);
  goodbye.rank = rank;
  plain += rank;
  global += rank;
  std::snprintf(buffer, sizeof buffer, "rank %d", rank);
  std::vector<std::string> strings;
  for (int i = 0; i < 50; ++i) {
    list.push_back(rank);
    strings.emplace_back(static_cast<std::size_t>(1 + (i * 37) % 3000),
                         static_cast<char>('a' + rank % 26));
    errno = rank + 1;
    MPI_Barrier(MPI_COMM_WORLD);
    require(errno == rank + 1, "errno was shared", rank);
    require(plain == 41 + rank, "a thread_local was shared", rank);
  }
  for (const auto& s : strings) {
    require(s.find_first_not_of(static_cast<char>('a' + rank % 26)) == std::string::npos,
            "memory was shared", rank);
  }
  require(*to_global == 5 + rank, "a global was shared", rank);
  require(list.size() == 53 && list.back() == rank, "a thread_local vector was shared", rank);
  require(std::string(buffer) == "rank " + std::to_string(rank), "a thread_local buffer was shared",
          rank);
  std::printf("thread_locals of rank %d are its own\n", rank);
  MPI_Finalize();
  return 0;
}
