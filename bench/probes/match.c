// match SECONDS DEPTH - time per message when the receiver's queues are `depth` deep, last first.
//
// posted: rank 1 has posted receives with tags 0..depth-1; rank 0 sends the tags in reverse. The
// time is from rank 1's "go" to its last completion.
// unexpected: rank 0 has sent tags 0..depth-1; rank 1 receives them in reverse. The time is that of
// the receives.
#include "probe.h"

enum { go_tag = 30000, all_sent_tag };

struct state {
  int rank, depth;
  double *out, *in;
  MPI_Request* requests;
};

static void receive_token(int from, int tag) {
  MPI_Recv(NULL, 0, MPI_BYTE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send_token(int to, int tag) {
  MPI_Send(NULL, 0, MPI_BYTE, to, tag, MPI_COMM_WORLD);
}

// Both return rank 1's seconds.
static double posted(const struct state* s) {
  double before = 0;
  if (s->rank == 1) {
    for (int tag = 0; tag < s->depth; tag++)
      MPI_Irecv(&s->in[tag], 1, MPI_DOUBLE, 0, tag, MPI_COMM_WORLD, &s->requests[tag]);
    before = probe_now();
    send_token(0, go_tag);
    MPI_Waitall(s->depth, s->requests, MPI_STATUSES_IGNORE);
  } else {
    receive_token(1, go_tag);
    for (int tag = s->depth - 1; tag >= 0; tag--)
      MPI_Send(&s->out[tag], 1, MPI_DOUBLE, 1, tag, MPI_COMM_WORLD);
  }
  return probe_now() - before;
}

static double unexpected(const struct state* s) {
  double before = 0;
  if (s->rank == 1) {
    receive_token(0, all_sent_tag);
    before = probe_now();
    for (int tag = s->depth - 1; tag >= 0; tag--)
      MPI_Recv(&s->in[tag], 1, MPI_DOUBLE, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    for (int tag = 0; tag < s->depth; tag++)
      MPI_Send(&s->out[tag], 1, MPI_DOUBLE, 1, tag, MPI_COMM_WORLD);
    send_token(1, all_sent_tag);
  }
  return probe_now() - before;
}

static void series(const struct probe* p,
                   const char* name,
                   double (*receive_all)(const struct state*),
                   const struct state* s) {
  const double start = probe_now();
  int is_over = 0;
  for (int sample = -1; !is_over; sample++) {  // the first warms up
    memset(s->in, 0, (size_t)s->depth * sizeof *s->in);
    MPI_Barrier(MPI_COMM_WORLD);
    const double seconds = receive_all(s);
    if (p->rank == 1 && sample >= 0) probe_print(name, seconds / s->depth * 1e9, "ns");
    for (int tag = 0; p->rank == 1 && tag < s->depth; tag++)
      if (s->in[tag] != tag + 1) probe_fail("match: wrong data");
    is_over =
        probe_agree(sample + 1 == sample_count_max ||
                    (sample + 1 >= sample_count_min && probe_now() - start >= p->series_seconds));
  }
}

int main(int argc, char** argv) {
  struct probe p = probe_begin(argc, argv);
  if (p.ranks != 2) probe_fail("match needs 2 ranks");
  struct state s = {.rank = p.rank, .depth = probe_argument(&p, 0, 4096)};
  const size_t depth = (size_t)s.depth;
  if (s.depth >= go_tag) probe_fail("match: the depth must be below 30000");
  s.out = probe_allocate(depth * sizeof *s.out);
  s.in = probe_allocate(depth * sizeof *s.in);
  s.requests = probe_allocate(depth * sizeof *s.requests);
  for (int tag = 0; tag < s.depth; tag++)
    s.out[tag] = tag + 1;
  series(&p, "posted", posted, &s);
  series(&p, "unexpected", unexpected, &s);
  fflush(stdout);
  free(s.out), free(s.in), free(s.requests);
  probe_end();
  return 0;
}
