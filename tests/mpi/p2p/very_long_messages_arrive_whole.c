// Messages that two workers may copy together, by every kind of call, to a receive that is posted
// before or after the send.
#include "../check.h"

enum { long_count = 3 };

static const int lengths[long_count] = {128 * 1024 - 1, 128 * 1024, 3 * 1024 * 1024 + 5};

static unsigned char byte_at(int sender, int round, size_t i) {
  return (unsigned char)(i * 31 + i / 4096 + (size_t)sender * 7 + (size_t)round * 13);
}

static void fill(unsigned char* out, int length, int sender, int round) {
  for (size_t i = 0; i < (size_t)length; i++)
    out[i] = byte_at(sender, round, i);
}

static void check(const unsigned char* in, int length, int sender, int round) {
  int wrong = 0;
  for (size_t i = 0; i < (size_t)length; i++)
    wrong += in[i] != byte_at(sender, round, i);
  CHECK_EQUAL(wrong, 0);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = rank_in(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  const int circle = ranks < 8 ? ranks : 8;
  // Few pairs at a time: the buffers of hundreds of ranks would exceed the memory.
  const int partner = ranks < 2 || me >= 8 ? MPI_PROC_NULL : (me + circle / 2) % circle;
  const int from = partner == MPI_PROC_NULL ? MPI_PROC_NULL : (me + circle - circle / 2) % circle;
  for (int k = 0; k < long_count && partner != MPI_PROC_NULL; k++) {
    const int length = lengths[k];
    unsigned char *out = malloc((size_t)length), *in = malloc((size_t)length);
    MPI_Request requests[2];
    MPI_Status status;
    int count;

    fill(out, length, me, 0);
    MPI_Irecv(in, length, MPI_BYTE, from, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, length, MPI_BYTE, partner, 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    check(in, length, from, 0);

    fill(out, length, me, 1);
    MPI_Isend(out, length, MPI_BYTE, partner, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Probe(from, 1, MPI_COMM_WORLD, &status);
    MPI_Recv(in, length, MPI_BYTE, from, 1, MPI_COMM_WORLD, &status);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK_EQUAL(count, length);
    CHECK_EQUAL(status.MPI_SOURCE, from);
    check(in, length, from, 1);

    MPI_Message message;
    MPI_Isend(out, length, MPI_BYTE, partner, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Mprobe(from, 1, MPI_COMM_WORLD, &message, &status);
    memset(in, 0, (size_t)length);
    MPI_Mrecv(in, length, MPI_BYTE, &message, &status);
    check(in, length, from, 1);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);

    fill(out, length, me, 2);
    MPI_Sendrecv(out, length, MPI_BYTE, partner, 2, in, length, MPI_BYTE, from, 2, MPI_COMM_WORLD,
                 &status);
    check(in, length, from, 2);

    fill(out, length, me, 3);
    MPI_Isendrecv(out, length, MPI_BYTE, partner, 3, in, length, MPI_BYTE, from, 3, MPI_COMM_WORLD,
                  &requests[0]);
    MPI_Wait(&requests[0], &status);
    check(in, length, from, 3);

    MPI_Recv_init(in, length, MPI_BYTE, from, 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(out, length, MPI_BYTE, partner, 4, MPI_COMM_WORLD, &requests[1]);
    for (int round = 4; round < 7; round++) {
      fill(out, length, me, round);
      MPI_Startall(2, requests);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      check(in, length, from, round);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    free(out);
    free(in);
  }
  MPI_Finalize();
  return 0;
}
