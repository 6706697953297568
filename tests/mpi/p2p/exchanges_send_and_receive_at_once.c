// MPI_Sendrecv, MPI_Sendrecv_replace and MPI_Isendrecv exchange around rings of every stride
// without deadlock, for short and long messages.
#include "../check.h"

enum { biggest = 50000 };

static unsigned char out[biggest], in[biggest];
static int me, ranks;

static void exchange(int way, int to, int from, int bytes) {
  MPI_Status status;
  MPI_Request request;
  int count;
  pattern_fill(out, (size_t)bytes, (uint64_t)me);
  memset(in, 0, (size_t)bytes);
  if (way == 0) {
    MPI_Sendrecv(out, bytes, MPI_BYTE, to, 1, in, bytes, MPI_BYTE, from, 1, MPI_COMM_WORLD,
                 &status);
  } else if (way == 1) {
    memcpy(in, out, (size_t)bytes);
    MPI_Sendrecv_replace(in, bytes, MPI_BYTE, to, 2, from, 2, MPI_COMM_WORLD, &status);
  } else {
    MPI_Isendrecv(out, bytes, MPI_BYTE, to, 3, in, bytes, MPI_BYTE, from, 3, MPI_COMM_WORLD,
                  &request);
    MPI_Wait(&request, &status);
  }
  MPI_Get_count(&status, MPI_BYTE, &count);
  CHECK_EQUAL(count, bytes);
  CHECK_EQUAL(status.MPI_SOURCE, from);
  CHECK_EQUAL(status.MPI_TAG, way + 1);
  CHECK_PATTERN(in, (size_t)bytes, (uint64_t)from);
}

static void half_an_exchange(void) {
  // One side is MPI_PROC_NULL: a shift along a line.
  const int to = me + 1 < ranks ? me + 1 : MPI_PROC_NULL;
  const int from = me > 0 ? me - 1 : MPI_PROC_NULL;
  int value = -5;
  MPI_Request request;
  MPI_Sendrecv(&me, 1, MPI_INT, to, 4, &value, 1, MPI_INT, from, 4, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  CHECK_EQUAL(value, me > 0 ? me - 1 : -5);
  value = -5;
  MPI_Isendrecv(&me, 1, MPI_INT, to, 5, &value, 1, MPI_INT, from, 5, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK_EQUAL(value, me > 0 ? me - 1 : -5);
  value = me;
  MPI_Sendrecv_replace(&value, 1, MPI_INT, to, 6, from, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK_EQUAL(value, me > 0 ? me - 1 : me);
}

static void many_at_once(void) {
  enum { count = 16 };

  int values[count], got[count];
  MPI_Request requests[count];
  for (int i = 0; i < count; i++) {
    values[i] = 100 * me + i;
    MPI_Isendrecv(&values[i], 1, MPI_INT, (me + i) % ranks, i, &got[i], 1, MPI_INT,
                  (me - i + count * ranks) % ranks, i, MPI_COMM_WORLD, &requests[i]);
  }
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < count; i++)
    CHECK_EQUAL(got[i], 100 * ((me - i + count * ranks) % ranks) + i);
}

int main(int argc, char** argv) {
  static const int sizes[] = {0, 4, 512, 513, 16384, 16385, biggest};
  MPI_Init(&argc, &argv);
  me = rank_in(MPI_COMM_WORLD);
  ranks = size_of(MPI_COMM_WORLD);
  for (int stride = 0; stride <= ranks; stride = 2 * stride + 1) {
    const int to = (me + stride) % ranks;
    const int from = (me + ranks - stride % ranks) % ranks;
    for (int s = 0; s < 7; s++) {
      for (int way = 0; way < 3; way++)
        exchange(way, to, from, sizes[s]);
    }
  }
  half_an_exchange();
  many_at_once();
  MPI_Finalize();
  return 0;
}
