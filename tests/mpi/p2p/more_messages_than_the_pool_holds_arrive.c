// A receiver that gets more messages than its pool can copy still receives all, in order: the
// messages that do not fit stay with their sender. Afterwards short messages work as before.
#include "../check.h"

enum { length = 4096, blocking_count = 1500, count = 6500 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = rank_in(MPI_COMM_WORLD), last = size_of(MPI_COMM_WORLD) - 1;
  int* numbers = NULL;
  MPI_Request* requests = NULL;
  // Message i is 16 KiB of the sender's numbers, from the i-th on.
  if (me == last) {
    int flag = 0;
    numbers = malloc((count + length) * sizeof *numbers);
    requests = malloc((count + 1) * sizeof *requests);
    for (int i = 0; i < count + length; i++)
      numbers[i] = 3 * i;
    for (int i = 0; i < count; i++) {
      requests[i] = MPI_REQUEST_NULL;
      if (i < blocking_count) {
        MPI_Send(&numbers[i], length, MPI_INT, 0, 0, MPI_COMM_WORLD);
      } else {
        MPI_Isend(&numbers[i], length, MPI_INT, 0, 0, MPI_COMM_WORLD, &requests[i]);
      }
    }
    // On the receiver's own worker this creates as many copies as fit.
    MPI_Testall(count, requests, &flag, MPI_STATUSES_IGNORE);
    MPI_Isend(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, &requests[count]);
  }
  if (me == 0) {
    int* in = malloc(length * sizeof *in);
    MPI_Recv(NULL, 0, MPI_INT, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < count; i++) {
      MPI_Recv(in, length, MPI_INT, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CHECK_EQUAL(in[0], 3 * i);
      CHECK_EQUAL(in[length - 1], 3 * (i + length - 1));
    }
    free(in);
  }
  if (me == last) MPI_Waitall(count + 1, requests, MPI_STATUSES_IGNORE);
  free(requests);
  free(numbers);
  MPI_Barrier(MPI_COMM_WORLD);
  int sum = 0;
  for (int round = 0; round < 100; round++) {
    int value = me + round;
    MPI_Sendrecv_replace(&value, 1, MPI_INT, last - me, 2, last - me, 2, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    sum += value;
  }
  CHECK_EQUAL(sum, 100 * (last - me) + 4950);
  MPI_Finalize();
  return 0;
}
