// pingpong SECONDS BYTES CORES - half a round trip between two ranks, and one memcpy of the same
// buffers.
//
// Rank 0 sends from its `out` to rank 1's `in`, rank 1 from its `out` to rank 0's `in`. If both
// ranks are in one process, memcpy moves data between the same buffers: on one core both ways in
// turn; on two cores each rank its own direction, while the other rank waits. Otherwise each rank
// copies from its `out` to its `in`. Samples of the two alternate, so that both see the same
// disturbances.
#include <stdint.h>
#include <unistd.h>

#include "probe.h"

struct state {
  int rank, bytes, cores;
  char *out, *in;
  char *peer_out, *peer_in;  // the peer's buffers, or own ones if these are not accessible
};

static void round_trips(void* pointer, int count) {
  const struct state* s = pointer;
  for (int i = 0; i < count; i++) {
    if (s->rank == 0) {
      MPI_Send(s->out, s->bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
      MPI_Recv(s->in, s->bytes, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(s->in, s->bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(s->out, s->bytes, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
    }
  }
}

// Keeps the compiler from removing or merging copies.
static void touch(void* memory) {
  __asm__ volatile("" : : "r"(memory) : "memory");
}

// The two copies of a round trip.
static void copies(void* pointer, int count) {
  const struct state* s = pointer;
  for (int i = 0; s->rank == 0 && i < count; i++) {
    memcpy(s->peer_in, s->out, (size_t)s->bytes);
    touch(s->peer_in);
    if (s->cores == 1)
      memcpy(s->in, s->peer_out, (size_t)s->bytes);
    else
      memcpy(s->peer_in, s->out, (size_t)s->bytes);
    touch(s->in);
  }
}

// Sends each rank the addresses of the peer's buffers, if they are accessible.
static void find_peer(struct state* s) {
  uintptr_t mine[3] = {(uintptr_t)getpid(), (uintptr_t)s->out, (uintptr_t)s->in}, peer[3];
  MPI_Sendrecv(mine, sizeof mine, MPI_BYTE, 1 - s->rank, 3, peer, sizeof peer, MPI_BYTE,
               1 - s->rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const int is_near = peer[0] == mine[0];
  s->peer_out = is_near ? (char*)peer[1] : s->out;
  s->peer_in = is_near ? (char*)peer[2] : s->in;
}

int main(int argc, char** argv) {
  struct probe p = probe_begin(argc, argv);
  if (p.ranks != 2) probe_fail("pingpong needs 2 ranks");
  struct state s = {.rank = p.rank, .bytes = probe_argument(&p, 0, 8)};
  s.cores = probe_argument(&p, 1, 2);
  s.out = probe_allocate((size_t)s.bytes + 1);
  s.in = probe_allocate((size_t)s.bytes + 1);
  memset(s.out, 1 + p.rank, (size_t)s.bytes);
  find_peer(&s);

  const int count = probe_count_per_sample(&p, round_trips, &s);
  const double start = probe_now();
  double half_trips[sample_count_max], memcpys[sample_count_max];
  int sample_count = 0, is_over = 0;
  while (!is_over) {
    // The first copy of each sample brings the buffers back into the state of that pattern.
    probe_time(copies, &s, 2);
    memcpys[sample_count] = probe_time(copies, &s, count) / count / 2 * 1e9;
    probe_time(round_trips, &s, 2);
    half_trips[sample_count] = probe_time(round_trips, &s, count) / count / 2 * 1e9;
    sample_count++;
    is_over =
        probe_agree(sample_count == sample_count_max ||
                    (sample_count >= sample_count_min && probe_now() - start >= p.series_seconds));
  }
  if (s.bytes > 0 && s.in[s.bytes - 1] != 2 - p.rank) probe_fail("pingpong: wrong data");
  for (int i = 0; p.rank == 0 && i < sample_count; i++) {
    probe_print("half_round_trip", half_trips[i], "ns");
    if (s.bytes >= 4096) probe_print("memcpy", memcpys[i], "ns");
  }
  free(s.out), free(s.in);
  probe_end();
  return 0;
}
