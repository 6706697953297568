// A hundred thousand small messages to a rank that computes are all kept, in order, and their
// memory is reused: a second flood needs no more than the first.
#include "../check.h"

enum { message_count = 100000 };

static void flood(int senders, int round) {
  const int me = rank_in(MPI_COMM_WORLD);
  const int share = message_count / (senders == 0 ? 1 : senders);
  if (me == 0) {
    // A message on another tag reports that all have been sent.
    for (int i = 0; i < senders; i++)
      MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int sender = senders; sender >= 1; sender--) {
      for (int i = 0; i < share; i++) {
        long long value[2];
        MPI_Recv(value, 2, MPI_LONG_LONG, sender, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_EQUAL(value[0], i);
        CHECK_EQUAL(value[1], sender + round);
      }
    }
  } else if (me <= senders) {
    for (int i = 0; i < share; i++) {
      const long long value[2] = {i, me + round};
      MPI_Send(value, 2, MPI_LONG_LONG, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Send(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int round = 0; round < 2; round++)
    flood(size_of(MPI_COMM_WORLD) - 1, round);
  MPI_Finalize();
  return 0;
}
