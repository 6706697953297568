// As files.c, with streams of C++.
//
// usage: files FOLDER STEPS EVERY [DIE]
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <mpi.h>
#include <stdexcept>
#include <string>
#include <unistd.h>

#include <sorrel.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const std::string folder = argv[1];
  const int steps = std::atoi(argv[2]);
  const int every = std::atoi(argv[3]);
  const int die = argc > 4 ? std::atoi(argv[4]) : 0;
  const auto path_of = [&](const char* name) { return folder + '/' + name + std::to_string(rank); };
  std::ofstream buffered(path_of("stream"));
  std::ofstream plain;
  plain.rdbuf()->pubsetbuf(nullptr, 0);
  plain.open(path_of("plain"));
  std::fstream both(path_of("both"), std::ios::in | std::ios::out | std::ios::trunc);
  std::ifstream input(folder + "/input");
  bool is_restarted = false;
  int move_count = 0;
  pid_t process = getpid();
  for (int step = 1; step <= steps; ++step) {
    std::string word;
    int number = 0;
    if (!(input >> word >> number) || number != step) throw std::runtime_error("input");
    buffered << "rank " << rank << ", step " << step << '\n';
    plain << step << std::endl;
    both << step << '\n';
    if (step % 7 == 0) {
      both.seekg(0);
      if (!(both >> number) || number != 1) throw std::runtime_error("what was written");
      both.seekp(0, std::ios::end);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    move_count += getpid() != process ? 1 : 0;
    process = getpid();
    if (step % every == 0) is_restarted = sorrel_checkpoint() == 1 || is_restarted;
    if (rank == 1 && step == die && !is_restarted) kill(getpid(), SIGKILL);
  }
  if (!buffered || !plain || !both) throw std::runtime_error("a stream");
  buffered.close();
  plain.close();
  both.close();
  int all = 0;
  MPI_Allreduce(&move_count, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) std::cout << all << " moves\n";
  MPI_Finalize();
  return 0;
}
