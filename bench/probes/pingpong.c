// pingpong SECONDS BYTES CORES - half a round trip between two ranks, and the best copy of the
// machine of as many bytes.
//
// Rank 0 sends from its `out` to rank 1's `in`, rank 1 from its `out` to rank 0's `in`: buffers as
// malloc gives them. The copy is between pages of their own, in the fastest way (probe_copy). If
// both ranks are in one process, it goes from the one's page to the other's: on one core both ways
// in turn; on two cores each rank its own direction, while the other rank waits. Otherwise each
// rank copies between its own pages. Samples of the two alternate, so that both see the same
// disturbances.
#include <stdint.h>
#include <unistd.h>

#include "probe.h"

struct state {
  int rank, bytes, cores;
  char *out, *in;
  int way;                    // of probe_copy
  char *from, *to;            // own pages
  char *peer_from, *peer_to;  // the peer's, or own ones if these are not accessible
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

// The two copies of a round trip.
static void copies(void* pointer, int count) {
  const struct state* s = pointer;
  for (int i = 0; s->rank == 0 && i < count; i++) {
    probe_copy(s->way, s->peer_to, s->from, (size_t)s->bytes);
    if (s->cores == 1)
      probe_copy(s->way, s->to, s->peer_from, (size_t)s->bytes);
    else
      probe_copy(s->way, s->peer_to, s->from, (size_t)s->bytes);
  }
}

// Sends each rank the addresses of the peer's pages, if they are accessible.
static void find_peer(struct state* s) {
  uintptr_t mine[3] = {(uintptr_t)getpid(), (uintptr_t)s->from, (uintptr_t)s->to}, peer[3];
  MPI_Sendrecv(mine, sizeof mine, MPI_BYTE, 1 - s->rank, 3, peer, sizeof peer, MPI_BYTE,
               1 - s->rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const int is_near = peer[0] == mine[0];
  s->peer_from = is_near ? (char*)peer[1] : s->from;
  s->peer_to = is_near ? (char*)peer[2] : s->to;
}

int main(int argc, char** argv) {
  struct probe p = probe_begin(argc, argv);
  if (p.ranks != 2) probe_fail("pingpong needs 2 ranks");
  struct state s = {.rank = p.rank, .bytes = probe_argument(&p, 0, 8)};
  s.cores = probe_argument(&p, 1, 2);
  s.out = probe_allocate((size_t)s.bytes + 1);
  s.in = probe_allocate((size_t)s.bytes + 1);
  memset(s.out, 1 + p.rank, (size_t)s.bytes);
  char* const from = probe_allocate((size_t)s.bytes + probe_copy_room);
  char* const to = probe_allocate((size_t)s.bytes + probe_copy_room);
  s.from = probe_page(from), s.to = probe_page(to);
  memset(from, 1, (size_t)s.bytes + probe_copy_room);
  find_peer(&s);
  double seconds;
  s.way = s.bytes == 0 ? 0 : probe_agree(probe_best_copy(s.to, s.from, (size_t)s.bytes, &seconds));

  const int count = probe_count_per_sample(&p, round_trips, &s);
  const double start = probe_now();
  double half_trips[sample_count_max], best_copies[sample_count_max];
  int sample_count = 0, is_over = 0;
  while (!is_over) {
    // The first copy of each sample brings the buffers back into the state of that pattern.
    probe_time(copies, &s, 2);
    best_copies[sample_count] = probe_time(copies, &s, count) / count / 2 * 1e9;
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
    if (s.bytes >= 4096) probe_print("best_copy", best_copies[i], "ns");
  }
  free(s.out), free(s.in), free(from), free(to);
  probe_end();
  return 0;
}
