// cold SECONDS PAUSE_US COUNT KIND - time of the first COUNT round trips of 8 bytes after a pause.
//
// Ranks 0 and 1, 2 and 3, ... are partners. In a pause both sleep (KIND 0), or the first one
// computes (1) or writes a file that it then removes (2) while the second one sleeps. After each of
// 15 pauses a message each way brings the partners together, then the round trips begin. A sample
// is the longest time of a pair. Every message is checked.
#include <unistd.h>

#include "probe.h"

enum { rounds = 15 };

enum kind { sleeping, computing, writing };

static void compute_until(double end) {
  while (probe_now() < end)
    if (probe_compute(1000) != 1) probe_fail("cold: wrong result");
}

static void write_until(double end) {
  static const char block[4096];
  FILE* file = tmpfile();
  if (file == NULL) probe_fail("cold: no temporary file");
  while (probe_now() < end)
    if (fwrite(block, sizeof block, 1, file) != 1 || fflush(file) != 0 || fsync(fileno(file)) != 0)
      probe_fail("cold: cannot write a temporary file");
  fclose(file);
}

static void pause_for(int us, enum kind kind) {
  const double end = probe_now() + us * 1e-6;
  if (kind == computing)
    compute_until(end);
  else if (kind == writing)
    write_until(end);
  else
    usleep((useconds_t)us);
}

// The partner's value comes back.
static void exchange(int partner, long value) {
  long other = -1;
  MPI_Sendrecv(&value, 1, MPI_LONG, partner, 1, &other, 1, MPI_LONG, partner, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  if (other != value) probe_fail("cold: wrong data");
}

static void round_trip(int is_first, int partner, long value) {
  long other = -1;
  if (is_first) MPI_Send(&value, 1, MPI_LONG, partner, 0, MPI_COMM_WORLD);
  MPI_Recv(&other, 1, MPI_LONG, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (!is_first) MPI_Send(&other, 1, MPI_LONG, partner, 0, MPI_COMM_WORLD);
  if (other != value) probe_fail("cold: wrong data");
}

int main(int argc, char** argv) {
  struct probe p = probe_begin(argc, argv);
  if (p.ranks % 2 != 0) probe_fail("cold needs an even number of ranks");
  const int us = probe_argument(&p, 0, 100000), count = probe_argument(&p, 1, 1000);
  const int partner = p.rank ^ 1, is_first = p.rank % 2 == 0;
  const enum kind kind = is_first ? (enum kind)probe_argument(&p, 2, sleeping) : sleeping;
  double samples[rounds];
  for (int round = 0; round < rounds; round++) {
    pause_for(us, kind);
    exchange(partner, round);
    const double start = probe_now();
    for (int i = 0; i < count; i++)
      round_trip(is_first, partner, (long)round * count + i);
    const double mine = (probe_now() - start) * 1e6;
    MPI_Reduce(&mine, &samples[round], 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  }
  for (int round = 0; p.rank == 0 && round < rounds; round++)
    probe_print("burst", samples[round], "us");
  probe_end();
  return 0;
}
