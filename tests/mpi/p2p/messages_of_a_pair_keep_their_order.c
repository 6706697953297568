// Messages from one rank to another on one communicator are received in the order sent, by any
// protocol: sizes change from message to message, sends are blocking and not, and receives use
// wildcards at random.
#include "../check.h"

enum { message_count = 600, window = 20, biggest = 17000 };

typedef struct {
  int sequence;
  int bytes;
} Header;

static uint64_t dice;

static int random_size(void) {
  static const int kinds[] = {8, 100, 504, 505, 513, 5000, 16384, 16385, biggest};
  return kinds[random_below(&dice, (int)(sizeof kinds / sizeof kinds[0]))];
}

static void send_all(int to) {
  static unsigned char buffers[window][biggest];
  MPI_Request requests[window];
  for (int i = 0; i < window; i++)
    requests[i] = MPI_REQUEST_NULL;
  for (int i = 0; i < message_count; i++) {
    const int slot = i % window;
    MPI_Wait(&requests[slot], MPI_STATUS_IGNORE);
    const Header header = {i, random_size()};
    memset(buffers[slot], i & 0xff, (size_t)header.bytes);
    memcpy(buffers[slot], &header, sizeof header);
    const int how = random_below(&dice, 4);
    const int tag = i % 3;
    if (how == 0) {
      MPI_Send(buffers[slot], header.bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD);
    } else if (how == 1) {
      MPI_Issend(buffers[slot], header.bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &requests[slot]);
    } else {
      MPI_Isend(buffers[slot], header.bytes, MPI_BYTE, to, tag, MPI_COMM_WORLD, &requests[slot]);
    }
  }
  MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
}

/// Receives all messages of the ranks from `first` on, whose sequence numbers must increase by one
/// each.
static void receive_all(int first, int sender_count) {
  static unsigned char buffer[biggest];
  int* next = calloc((size_t)sender_count, sizeof *next);
  for (int left = sender_count * message_count; left > 0; left--) {
    MPI_Status status;
    Header header;
    const int how = random_below(&dice, 3);
    // The only source whose next message is certain to come: a receive for any tag, or for the next
    // tag.
    int sender = 0;
    while (next[sender] == message_count)
      sender++;
    if (how == 0)
      MPI_Recv(buffer, biggest, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    if (how == 1)
      MPI_Recv(buffer, biggest, MPI_BYTE, first + sender, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    if (how == 2)
      MPI_Recv(buffer, biggest, MPI_BYTE, first + sender, next[sender] % 3, MPI_COMM_WORLD,
               &status);
    memcpy(&header, buffer, sizeof header);
    int bytes;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    const int from = status.MPI_SOURCE - first;
    CHECK_EQUAL(header.sequence, next[from]);
    CHECK_EQUAL(header.bytes, bytes);
    CHECK_EQUAL(status.MPI_TAG, header.sequence % 3);
    for (int i = (int)sizeof header; i < bytes; i++)
      CHECK_EQUAL(buffer[i], header.sequence & 0xff);
    next[from]++;
  }
  free(next);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int me = rank_in(MPI_COMM_WORLD);
  const int ranks = size_of(MPI_COMM_WORLD);
  dice = random_seed(4) + (uint64_t)me;
  // Groups of up to five: the first receives from all other ranks of its group.
  const int first = me / 5 * 5;
  const int last = first + 5 < ranks ? first + 5 : ranks;
  if (me == first) {
    receive_all(first + 1, last - first - 1);
  } else {
    send_all(first);
  }
  MPI_Finalize();
  return 0;
}
