// random_traffic [ROUNDS]: the traffic of random_traffic.hpp, with the seed in SORREL_SEED.
#include "random_traffic.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  random_traffic::run(argc > 1 ? std::atoi(argv[1]) : 30, random_seed(1));
  MPI_Finalize();
  return 0;
}
