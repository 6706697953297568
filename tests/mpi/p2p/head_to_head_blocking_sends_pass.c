// Two ranks that both send before they receive complete with messages of up to 16 KiB, as programs
// expect, even many at a time; so does a rank that sends to itself first.
#include "../check.h"

enum { biggest = 16384, burst = 20 };

int main(int argc, char** argv) {
  static unsigned char out[biggest], in[biggest];
  static const int sizes[] = {0, 8, 512, 513, 4096, biggest};
  MPI_Init(&argc, &argv);
  const int me = rank_in(MPI_COMM_WORLD);
  const int ranks = size_of(MPI_COMM_WORLD);
  const int others[3] = {ranks - 1 - me, me ^ 1, me};
  for (int k = 0; k < 3; k++) {
    if (others[k] >= ranks) continue;
    for (int s = 0; s < 6; s++) {
      pattern_fill(out, (size_t)sizes[s], (uint64_t)me);
      for (int i = 0; i < burst; i++)
        MPI_Send(out, sizes[s], MPI_BYTE, others[k], k, MPI_COMM_WORLD);
      for (int i = 0; i < burst; i++) {
        MPI_Recv(in, biggest, MPI_BYTE, others[k], k, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_PATTERN(in, (size_t)sizes[s], (uint64_t)others[k]);
      }
    }
  }
  // Nonblocking sends pass, too, that are completed before the receive is posted.
  for (int s = 0; s < 6; s++) {
    MPI_Request requests[burst];
    pattern_fill(out, (size_t)sizes[s], (uint64_t)me);
    for (int i = 0; i < burst; i++)
      MPI_Isend(out, sizes[s], MPI_BYTE, others[0], s, MPI_COMM_WORLD, &requests[i]);
    MPI_Waitall(burst, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < burst; i++) {
      MPI_Recv(in, biggest, MPI_BYTE, others[0], s, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CHECK_PATTERN(in, (size_t)sizes[s], (uint64_t)others[0]);
    }
  }
  MPI_Finalize();
  return 0;
}
