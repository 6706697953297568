// Messages of 8 MiB and empty ones, blocking and not, between the first ranks and from a rank to
// itself.
#include "../check.h"

enum { big = 8 << 20 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = rank_in(MPI_COMM_WORLD);
  const int ranks = size_of(MPI_COMM_WORLD);
  MPI_Status status;
  MPI_Request requests[2];
  int count = -1;
  // One big exchange at a time, so that many ranks do not need much memory: rank 0 with the last
  // one and with itself.
  const int pairs[2][2] = {{0, ranks - 1}, {0, 0}};
  for (int p = 0; p < 2; p++) {
    if (me != pairs[p][0] && me != pairs[p][1]) continue;
    const int other = pairs[p][0] + pairs[p][1] - me;
    unsigned char* out = malloc(big);
    unsigned char* in = malloc(big);
    for (int round = 0; round < 3; round++) {
      pattern_fill(out, big, (uint64_t)(me + round));
      MPI_Irecv(in, big, MPI_BYTE, other, round, MPI_COMM_WORLD, &requests[0]);
      if (round == 1) {
        MPI_Isend(out, big, MPI_BYTE, other, round, MPI_COMM_WORLD, &requests[1]);
      } else {
        MPI_Send(out, big, MPI_BYTE, other, round, MPI_COMM_WORLD);
        requests[1] = MPI_REQUEST_NULL;
      }
      MPI_Wait(&requests[0], &status);
      MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
      MPI_Get_count(&status, MPI_BYTE, &count);
      CHECK_EQUAL(count, big);
      CHECK_PATTERN(in, big, (uint64_t)(other + round));
    }
    free(in);
    free(out);
  }
  const int right = (me + 1) % ranks;
  const int left = (me + ranks - 1) % ranks;
  MPI_Sendrecv(NULL, 0, MPI_DOUBLE, right, 1, NULL, 0, MPI_DOUBLE, left, 1, MPI_COMM_WORLD,
               &status);
  MPI_Get_count(&status, MPI_DOUBLE, &count);
  CHECK_EQUAL(count, 0);
  CHECK_EQUAL(status.MPI_SOURCE, left);
  MPI_Isend(NULL, 0, MPI_INT, me, 2, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv(&count, 1, MPI_INT, me, 2, MPI_COMM_WORLD, &status);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK_EQUAL(count, 0);
  MPI_Finalize();
  return 0;
}
