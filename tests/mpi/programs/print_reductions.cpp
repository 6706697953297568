// Prints the bits of floating-point reductions of every kind and length. The same number of ranks
// must print the same text with any number of workers.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "../check.h"

namespace {

std::uint64_t hash_of(const void* data, std::size_t bytes) {
  std::uint64_t hash = 14695981039346656037u;
  const auto* at = static_cast<const unsigned char*>(data);
  for (std::size_t i = 0; i < bytes; ++i)
    hash = (hash ^ at[i]) * 1099511628211u;
  return hash;
}

/// Numbers whose sum depends on the order in which they are added.
double awkward(std::uint64_t& state) {
  const double mantissa = static_cast<double>(random_next(&state) >> 11) / 9007199254740992.0;
  return (mantissa - 0.5) * static_cast<double>(1 << random_below(&state, 30));
}

template <class T>
void reduce_all(MPI_Datatype type, MPI_Comm comm, const char* order) {
  const int me = rank_in(comm);
  // Several segments for each member of few, some for many: a scan of many takes long.
  const int longest = size_of(comm) < 20 ? 40000 : 12000;
  for (const int count : {1, 2, 4, 5, 100, 1000, longest}) {
    std::uint64_t state = static_cast<std::uint64_t>(me * 1000 + count);
    std::vector<T> out(static_cast<std::size_t>(count)), in(out.size());
    for (T& value : out)
      value = static_cast<T>(awkward(state));
    std::uint64_t hashes[4] = {};
    MPI_Allreduce(out.data(), in.data(), count, type, MPI_SUM, comm);
    hashes[0] = hash_of(in.data(), in.size() * sizeof(T));
    MPI_Scan(out.data(), in.data(), count, type, MPI_SUM, comm);
    hashes[1] = hash_of(in.data(), in.size() * sizeof(T));
    in.assign(in.size(), T{});
    MPI_Reduce(out.data(), in.data(), count, type, MPI_SUM, size_of(comm) - 1, comm);
    hashes[2] = hash_of(in.data(), in.size() * sizeof(T));
    std::vector<T> all(static_cast<std::size_t>(size_of(comm)), out[0]);
    MPI_Reduce_scatter_block(all.data(), in.data(), 1, type, MPI_SUM, comm);
    hashes[3] = hash_of(in.data(), sizeof(T));
    std::vector<std::uint64_t> everybody(static_cast<std::size_t>(4 * size_of(comm)));
    MPI_Gather(hashes, 4, MPI_UINT64_T, everybody.data(), 4, MPI_UINT64_T, 0, comm);
    if (me == 0) {
      std::printf("%zu B, %s, %d: %016llx\n", sizeof(T), order, count,
                  static_cast<unsigned long long>(
                      hash_of(everybody.data(), everybody.size() * sizeof everybody[0])));
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm mixed;
  MPI_Comm rotated;
  const int me = rank_in(MPI_COMM_WORLD);
  // An order of ranks that alternates between workers, and one in which a worker has the first and
  // the last ones.
  MPI_Comm_split(MPI_COMM_WORLD, 0, (me * 7919) % 1009, &mixed);
  MPI_Comm_split(MPI_COMM_WORLD, 0, (me + 3) % size_of(MPI_COMM_WORLD), &rotated);
  for (const MPI_Comm comm : {MPI_COMM_WORLD, mixed, rotated}) {
    const char* order = comm == mixed ? "mixed" : comm == rotated ? "rotated" : "as they are";
    reduce_all<float>(MPI_FLOAT, comm, order);
    reduce_all<double>(MPI_DOUBLE, comm, order);
  }
  MPI_Comm_free(&rotated);
  MPI_Comm_free(&mixed);
  MPI_Finalize();
  return 0;
}
