// A program that uses Open MPI's C++ bindings, whose classes are inline code of its header.
#include <cstdio>
#include <mpi.h>

namespace {

void add(const void* in, void* inout, int count, const MPI::Datatype& datatype) {
  for (int i = 0; datatype == MPI::INT && i < count; ++i)
    static_cast<int*>(inout)[i] += static_cast<const int*>(in)[i];
}

}  // namespace

int main(int argc, char** argv) {
  MPI::Init(argc, argv);
  const int rank = MPI::COMM_WORLD.Get_rank();
  const int size = MPI::COMM_WORLD.Get_size();
  const int sum = size * (size - 1) / 2;
  int failures = 0;
  const auto check = [&](bool is_right, const char* what) {
    if (!is_right) {
      std::printf("%d: wrong: %s\n", rank, what);
      ++failures;
    }
  };

  int total = 0;
  MPI::COMM_WORLD.Allreduce(&rank, &total, 1, MPI::INT, MPI::SUM);
  check(total == sum, "Allreduce");
  total = rank;
  MPI::COMM_WORLD.Allreduce(MPI::IN_PLACE, &total, 1, MPI::INT, MPI::MAX);
  check(total == size - 1, "IN_PLACE");
  MPI::Op op;
  op.Init(add, true);
  MPI::COMM_WORLD.Allreduce(&rank, &total, 1, MPI::INT, op);
  check(total == sum, "Op::Init");
  op.Free();

  MPI::Intracomm copy = MPI::COMM_WORLD.Dup();
  int from_previous = -1;
  MPI::Status status;
  copy.Sendrecv(&rank, 1, MPI::INT, (rank + 1) % size, 7, &from_previous, 1, MPI::INT,
                MPI::ANY_SOURCE, 7, status);
  check(from_previous == (rank + size - 1) % size && status.Get_source() == from_previous,
        "Sendrecv");
  MPI::Datatype pair = MPI::DOUBLE.Create_contiguous(2);
  pair.Commit();
  check(pair.Get_size() == 16, "Create_contiguous");
  pair.Free();
  copy.Free();
  check(copy == MPI::COMM_NULL, "COMM_NULL");
  MPI::COMM_WORLD.Allreduce(&failures, &total, 1, MPI::INT, MPI::SUM);
  MPI::Finalize();
  return total != 0;
}
