// No rank leaves a barrier, an allreduce or an alltoall before the last has entered it. The buffers
// of a call may be reused at once when it returns, whatever the other ranks do next.
#include "../check.h"

static int me, ranks;

/// Counts on rank 0 the ranks that have entered: messages sent before entering must be there after
/// leaving.
static void a_barrier_holds_everybody(void) {
  for (int round = 0; round < 20; round++) {
    const int late = round % ranks;
    MPI_Request request;
    if (me == late) {
      // Late because the other ranks run many times first, not because of a clock.
      for (int turn = 0; turn < 50; turn++) {
        int flag;
        MPI_Iprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
      }
      for (int to = 0; to < ranks; to++) {
        MPI_Isend(&round, 1, MPI_INT, to, 9, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
      }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    int flag = 0, value = -1;
    // The sender has sent the message before the barrier: it may still be in flight, but not
    // unsent. The receive waits for nothing else.
    while (!flag)
      MPI_Iprobe(late, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Recv(&value, 1, MPI_INT, late, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQUAL(value, round);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/// Every kind of barrier in turn, with operands that are overwritten as soon as a call returns.
static void buffers_are_free_afterwards(void) {
  enum { long_count = 3000 };

  static int values[long_count], results[long_count];
  int* blocks = malloc((size_t)ranks * 2 * sizeof *blocks);
  for (int round = 0; round < 60; round++) {
    const int root = (round * 5) % ranks;
    const int sum = ranks * round + ranks * (ranks - 1) / 2;
    int value = me + round, result = -1;
    MPI_Allreduce(&value, &result, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQUAL(result, sum);
    value = me == root ? round : -1;
    MPI_Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD);
    CHECK_EQUAL(value, round);
    for (int i = 0; i < long_count; i++)
      values[i] = me == root ? round + i : -1;
    MPI_Bcast(values, long_count, MPI_INT, root, MPI_COMM_WORLD);
    CHECK_EQUAL(values[long_count - 1], round + long_count - 1);
    for (int i = 0; i < long_count; i++)
      values[i] = me + round;
    MPI_Allreduce(values, results, long_count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    memset(values, 0xff, sizeof values);
    CHECK_EQUAL(results[0], sum);
    CHECK_EQUAL(results[long_count - 1], sum);
    value = me * 3 + round;
    MPI_Allgather(&value, 1, MPI_INT, blocks, 1, MPI_INT, MPI_COMM_WORLD);
    value = -1;
    for (int i = 0; i < ranks; i++)
      CHECK_EQUAL(blocks[i], i * 3 + round);
    MPI_Reduce(&me, &result, 1, MPI_INT, MPI_MAX, root, MPI_COMM_WORLD);
    if (me == root) CHECK_EQUAL(result, ranks - 1);
    value = me ^ round;
    MPI_Gather(&value, 1, MPI_INT, blocks, 1, MPI_INT, root, MPI_COMM_WORLD);
    value = -1;
    for (int i = 0; i < ranks && me == root; i++)
      CHECK_EQUAL(blocks[i], i ^ round);
  }
  free(blocks);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  me = rank_in(MPI_COMM_WORLD);
  ranks = size_of(MPI_COMM_WORLD);
  a_barrier_holds_everybody();
  buffers_are_free_afterwards();
  MPI_Finalize();
  return 0;
}
