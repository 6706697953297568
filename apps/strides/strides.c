// How fast strided doubles travel: the study of which faces of a cut grid are expensive.
//
// Ranks 0 and 1, or all ranks in pairs at once, send each other messages of 8 bytes to 2 MiB whose
// doubles are 1 to 32 doubles apart (any strides, odd ones too), in buffered and in synchronous
// mode. A row of the table is a size, a column a stride; an entry is MB/s of one direction: bytes
// over half a round trip, the best of some. Received data is checked, and the program exits 1 if it
// differs from the sent data.
//
//   mpicc -O3 strides.c -o strides
//   strides [--quick] [--strides LIST]

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { stride_max = 32, doubles_max = 1 << 18, stride_count_max = 16 };

struct study {
  int rank, ranks, partner;
  int repeats;
  int stride_count;
  int strides[stride_count_max];
  double *out, *in;
};

typedef int (*send_function)(const void*, int, MPI_Datatype, int, int, MPI_Comm);

static void bounce(const struct study* s, MPI_Datatype type, send_function send) {
  if (s->rank < s->partner) {
    send(s->out, 1, type, s->partner, 0, MPI_COMM_WORLD);
    MPI_Recv(s->in, 1, type, s->partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(s->in, 1, type, s->partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    send(s->out, 1, type, s->partner, 0, MPI_COMM_WORLD);
  }
}

// Every double of the message is the partner's; the doubles between are untouched.
static void check(const struct study* s, int count, int stride) {
  for (int i = 0; i < (count - 1) * stride + 1; i++) {
    const double expected = i % stride == 0 ? s->partner * 1e6 + i : -1;
    if (s->in[i] == expected) continue;
    fprintf(stderr, "strides: rank %d: double %d of %d is wrong\n", s->rank, i, count);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

// MB/s of the slowest pair; idle ranks pass a partner below 0.
static double megabytes_per_s(const struct study* s, int count, int stride, send_function send) {
  MPI_Datatype type;
  MPI_Type_vector(count, 1, stride, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  double best = 1e9;
  if (s->partner >= 0)
    for (int i = 0; i < (count - 1) * stride + 1; i++)
      s->in[i] = -1;
  for (int r = 0; r < s->repeats; r++) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (s->partner < 0) continue;
    bounce(s, type, send);  // both are awake when the clock starts
    const double begin = MPI_Wtime();
    bounce(s, type, send);
    const double seconds = (MPI_Wtime() - begin) / 2;
    if (seconds < best) best = seconds;
  }
  if (s->partner >= 0) check(s, count, stride);
  MPI_Type_free(&type);
  double mine = s->partner < 0 ? 0 : best, slowest;
  MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return 8e-6 * count / slowest;
}

static void print_table(const struct study* s, const char* title, send_function send) {
  if (s->rank == 0) {
    printf("\n%s, MB/s by stride in doubles\n%10s", title, "bytes");
    for (int i = 0; i < s->stride_count; i++)
      printf("%10d", s->strides[i]);
    printf("\n");
  }
  for (int count = 1; count <= doubles_max; count *= 8) {
    if (s->rank == 0) printf("%10d", 8 * count);
    for (int i = 0; i < s->stride_count; i++) {
      const double rate = megabytes_per_s(s, count, s->strides[i], send);
      if (s->rank == 0) printf("%10.1f", rate);
    }
    if (s->rank == 0) printf("\n");
  }
}

static void* allocate(size_t bytes) {
  void* memory = malloc(bytes);
  if (memory == NULL) {
    fprintf(stderr, "strides: out of memory\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return memory;
}

static const char help[] =
    "How fast doubles travel that lie 1 to 32 doubles apart, in messages of 8 B to 2 MiB, between\n"
    "ranks in pairs: MB/s of one direction.\n\n"
    "  --quick         2 repetitions instead of 30\n"
    "  --strides LIST  up to 16 numbers from 1 to 32 (1,2,4,8,16,32)\n\n"
    "Examples:\n"
    "  sorrel run -n 2 strides --quick\n"
    "  sorrel run -n 2 strides --strides 1,3,5,7,8,9\n";

// Reads "1,3,5"; returns whether it is such a list.
static int read_strides(struct study* s, const char* text) {
  for (s->stride_count = 0; s->stride_count < stride_count_max; text++) {
    char* end = NULL;
    const long stride = strtol(text, &end, 10);
    if (end == text || stride < 1 || stride > stride_max) return 0;
    s->strides[s->stride_count++] = (int)stride;
    if (*end == '\0') return 1;
    if (*end != ',') return 0;
    text = end;
  }
  return 0;
}

// Reads the options; returns what is wrong, or NULL.
static const char* read_options(struct study* s, int argc, char** argv) {
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--quick")) {
      s->repeats = 2;
    } else if (!strcmp(argv[i], "--strides")) {
      if (i + 1 == argc || !read_strides(s, argv[++i]))
        return "--strides takes up to 16 numbers from 1 to 32, with commas between them";
    } else {
      return "unknown option; known are --quick and --strides";
    }
  }
  return NULL;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  struct study s = {.repeats = 30, .stride_count = 6, .strides = {1, 2, 4, 8, 16, 32}};
  MPI_Comm_rank(MPI_COMM_WORLD, &s.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &s.ranks);
  const int wants_help = argc == 2 && !strcmp(argv[1], "--help");
  const char* error = wants_help ? NULL : read_options(&s, argc, argv);
  if (wants_help || error != NULL) {
    if (s.rank == 0 && wants_help) fputs(help, stdout);
    if (s.rank == 0 && !wants_help) fprintf(stderr, "strides: %s\n", error);
    MPI_Finalize();
    return wants_help ? 0 : 2;
  }
  if (s.ranks < 2 || s.ranks % 2 != 0) {
    if (s.rank == 0) fprintf(stderr, "strides: an even number of ranks is needed, at least 2\n");
    MPI_Finalize();
    return 2;
  }
  const size_t room = sizeof(double) * doubles_max * stride_max;
  s.out = allocate(room), s.in = allocate(room);
  for (int i = 0; i < doubles_max * stride_max; i++)
    s.out[i] = s.rank * 1e6 + i;
  // Data of buffered mode has to fit: one message, and MPI's overhead.
  const int buffer_bytes = 2 * (8 * doubles_max + MPI_BSEND_OVERHEAD);
  void* buffer = allocate((size_t)buffer_bytes);
  MPI_Buffer_attach(buffer, buffer_bytes);

  // Halves, so that the two of a pair are on different workers or nodes.
  const int half = s.ranks / 2;
  const int partner = s.rank < half ? s.rank + half : s.rank - half;
  s.partner = s.rank == 0 || partner == 0 ? partner : -1;
  print_table(&s, "One pair, buffered sends", MPI_Bsend);
  print_table(&s, "One pair, synchronous sends", MPI_Ssend);
  s.partner = partner;
  print_table(&s, "All pairs at once, buffered sends", MPI_Bsend);
  print_table(&s, "All pairs at once, synchronous sends", MPI_Ssend);

  MPI_Buffer_detach(&buffer, &(int){0});
  free(buffer), free(s.out), free(s.in);
  MPI_Finalize();
  return 0;
}
