// kneighbor - small messages among near neighbours, each acknowledged, in plain MPI.
//
// The ranks form a ring. In an iteration every rank sends a message to its K nearest neighbours on
// each side, and returns each message that arrives to its sender. The iteration ends when all 2K
// have come back. There is nothing to compute: the benchmark measures the cost of a message. A
// sample is the mean of some iterations between two barriers. Every message is checked, and the
// program exits 1 if one is wrong.
//
//   mpicc -O3 kneighbor.c -o kneighbor
//   kneighbor [--bytes B] [--neighbours K] [--samples S] [--iterations I]

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { neighbours_max = 1000, answer_tag = 2 * neighbours_max, warm_up_samples = 2 };

struct options {
  int bytes;       // of a message, a multiple of 8
  int neighbours;  // K: on each side
  int samples;     // timed samples
  int iterations;  // iterations in a sample
};

// Everything of one rank. Edge e leads to rank to[e]; the messages of that rank's edge e, and of no
// other, come to the rank that calls it from[e]. A message is an array of 64-bit words.
struct ring {
  int rank, ranks, edges, bytes;
  int *to, *from;
  uint64_t *out, *in, *answers;  // one message for each edge
  MPI_Request* requests;         // four for each edge: in, answers, out, sending back
};

// Every rank calls this together.
static void stop(int status, const char* message) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) fprintf(stderr, "kneighbor: %s\n", message);
  MPI_Finalize();
  exit(status);
}

static const char help[] =
    "Small messages among K neighbours on each side of a ring, each sent back: what a message\n"
    "costs. Exits 1 if one is not what was sent.\n\n"
    "  --bytes B       of a message, a multiple of 8 (64)\n"
    "  --neighbours K  on each side, 1 to 1000 (3)\n"
    "  --samples S     timed samples (100)\n"
    "  --iterations I  in a sample (100)\n\n"
    "Examples:\n"
    "  sorrel run -n 8 kneighbor\n"
    "  sorrel run -n 64 kneighbor --bytes 4096 --neighbours 8\n";

// Every rank calls this together.
static void print_help(void) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) fputs(help, stdout);
  MPI_Finalize();
  exit(0);
}

static void* allocate(int count, size_t size) {
  void* memory = calloc((size_t)count, size);
  if (memory == NULL) {
    fprintf(stderr, "kneighbor: out of memory\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return memory;
}

// ---- the contents of a message
// --------------------------------------------------------------------------

static uint64_t* message(const struct ring* r, uint64_t* messages, int edge) {
  return messages + (size_t)edge * (size_t)r->bytes / sizeof(uint64_t);
}

// The first and the last word change with every iteration, the words between never do.
static uint64_t word(int sender, int edge, int iteration, int index) {
  return ((uint64_t)sender << 40) + ((uint64_t)edge << 28) + (uint64_t)iteration +
         (uint64_t)index * 0x9e3779b97f4a7c15u;
}

static void mark(const struct ring* r, int edge, int iteration) {
  const int last = r->bytes / 8 - 1;
  uint64_t* words = message(r, r->out, edge);
  words[0] = word(r->rank, edge, iteration, 0);
  words[last] = word(r->rank, edge, iteration, last);
}

static void fail(const struct ring* r, int sender, int edge, int iteration) {
  fprintf(stderr, "kneighbor: rank %d: message of rank %d, edge %d, iteration %d is wrong\n",
          r->rank, sender, edge, iteration);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void check_ends(
    const struct ring* r, const uint64_t* words, int sender, int edge, int iteration) {
  const int last = r->bytes / 8 - 1;
  if (words[0] != word(sender, edge, iteration, 0) ||
      words[last] != word(sender, edge, iteration, last))
    fail(r, sender, edge, iteration);
}

// Every word of the last messages, outside the timed part.
static void check_all_words(const struct ring* r, int iteration) {
  for (int e = 0; e < r->edges; e++) {
    const uint64_t *in = message(r, r->in, e), *answer = message(r, r->answers, e);
    for (int i = 1; i < r->bytes / 8 - 1; i++) {
      if (in[i] != word(r->from[e], e, 0, i)) fail(r, r->from[e], e, iteration);
      if (answer[i] != word(r->rank, e, 0, i)) fail(r, r->rank, e, iteration);
    }
  }
}

// ---- the ring
// --------------------------------------------------------------------------------------

static struct ring make_ring(const struct options* o) {
  struct ring r = {.edges = 2 * o->neighbours, .bytes = o->bytes};
  MPI_Comm_rank(MPI_COMM_WORLD, &r.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &r.ranks);
  r.to = allocate(r.edges, sizeof *r.to);
  r.from = allocate(r.edges, sizeof *r.from);
  r.out = allocate(r.edges, (size_t)r.bytes);
  r.in = allocate(r.edges, (size_t)r.bytes);
  r.answers = allocate(r.edges, (size_t)r.bytes);
  r.requests = allocate(4 * r.edges, sizeof *r.requests);
  for (int e = 0; e < r.edges; e++) {
    const int distance = (e % 2 == 0 ? 1 : -1) * (e / 2 + 1) % r.ranks;  // 1, -1, 2, -2, ...
    r.to[e] = (r.rank + r.ranks + distance) % r.ranks;
    r.from[e] = (r.rank + r.ranks - distance) % r.ranks;
    for (int i = 0; i < r.bytes / 8; i++)
      message(&r, r.out, e)[i] = word(r.rank, e, 0, i);
  }
  return r;
}

static void iterate(const struct ring* r, int iteration) {
  const int n = r->edges, bytes = r->bytes;
  MPI_Request *in = r->requests, *answers = in + n, *out = in + 2 * n, *back = in + 3 * n;
  for (int e = 0; e < n; e++) {
    MPI_Irecv(message(r, r->in, e), bytes, MPI_BYTE, r->from[e], e, MPI_COMM_WORLD, &in[e]);
    MPI_Irecv(message(r, r->answers, e), bytes, MPI_BYTE, r->to[e], answer_tag + e, MPI_COMM_WORLD,
              &answers[e]);
  }
  for (int e = 0; e < n; e++) {
    mark(r, e, iteration);
    MPI_Isend(message(r, r->out, e), bytes, MPI_BYTE, r->to[e], e, MPI_COMM_WORLD, &out[e]);
  }
  for (int arrived = 0; arrived < n; arrived++) {
    int e;
    MPI_Waitany(n, in, &e, MPI_STATUS_IGNORE);
    check_ends(r, message(r, r->in, e), r->from[e], e, iteration);
    MPI_Isend(message(r, r->in, e), bytes, MPI_BYTE, r->from[e], answer_tag + e, MPI_COMM_WORLD,
              &back[e]);
  }
  MPI_Waitall(3 * n, answers, MPI_STATUSES_IGNORE);
  for (int e = 0; e < n; e++)
    check_ends(r, message(r, r->answers, e), r->rank, e, iteration);
}

// Fills seconds[] with the time of an iteration, a mean for each sample.
static void measure(const struct ring* r, const struct options* o, double* seconds) {
  int iteration = 0;
  for (int s = -warm_up_samples; s < o->samples; s++) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double before = MPI_Wtime();
    for (int i = 0; i < o->iterations; i++)
      iterate(r, ++iteration);
    MPI_Barrier(MPI_COMM_WORLD);
    if (s >= 0) seconds[s] = (MPI_Wtime() - before) / o->iterations;
    if (s == -1 || s == o->samples - 1) check_all_words(r, iteration);
  }
}

// ---- the program
// -----------------------------------------------------------------------------------

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static struct options read_options(int argc, char** argv) {
  struct options o = {.bytes = 64, .neighbours = 3, .samples = 100, .iterations = 100};
  if (argc == 2 && !strcmp(argv[1], "--help")) print_help();
  int wrong = argc % 2 == 0;
  for (int i = 1; i < argc && !wrong; i += 2) {
    char* end;
    const long value = strtol(argv[i + 1], &end, 10);
    wrong = *end != '\0' || value < 1 || value > 1 << 30;
    if (!strcmp(argv[i], "--bytes"))
      o.bytes = (int)value;
    else if (!strcmp(argv[i], "--neighbours"))
      o.neighbours = (int)value;
    else if (!strcmp(argv[i], "--samples"))
      o.samples = (int)value;
    else if (!strcmp(argv[i], "--iterations"))
      o.iterations = (int)value;
    else
      wrong = 1;
  }
  if (wrong || o.bytes % 8 != 0 || o.neighbours > neighbours_max)
    stop(2,
         "usage: kneighbor [--bytes multiple of 8] [--neighbours 1..1000] [--samples S]"
         " [--iterations I]");
  return o;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const struct options o = read_options(argc, argv);
  struct ring r = make_ring(&o);
  double* seconds = allocate(o.samples, sizeof *seconds);

  measure(&r, &o, seconds);
  if (r.rank == 0) {
    qsort(seconds, (size_t)o.samples, sizeof *seconds, ascending);
    printf(
        "kneighbor: ranks %d, neighbours %d, bytes %d, time per iteration median %.3f us "
        "floor %.3f us\n",
        r.ranks, o.neighbours, o.bytes, seconds[o.samples / 2] * 1e6, seconds[0] * 1e6);
  }

  free(seconds), free(r.to), free(r.from), free(r.out), free(r.in), free(r.answers);
  free(r.requests);
  MPI_Finalize();
  return 0;
}
