// startup SECONDS STARTED_NS - time from before the program was started to the end of its first
// collective operation, and the memory that the job occupies then.
//
// STARTED_NS is the real-time clock when the launcher was called. Memory is the proportional share
// (Pss) of all processes of the job, in two parts: the privatized images of the ranks (image), and
// all else, stacks included. The variables make this an ordinary small program, with a few hundred
// bytes that each rank must have for itself.
#include <stdint.h>
#include <unistd.h>

#include "probe.h"

static int my_rank;
static char my_name[256];

// The linker's symbols for the ends of the program, in the calling rank's image.
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

// Location of a rank: its process, and the address of its image there.
struct image {
  long process;
  uintptr_t begin, end;
};

struct memory {
  double image_kib, other_kib;
};

static double now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static int by_process_then_address(const void* a, const void* b) {
  const struct image *x = a, *y = b;
  if (x->process != y->process) return (x->process > y->process) - (x->process < y->process);
  return (x->begin > y->begin) - (x->begin < y->begin);
}

// Whether a mapping overlaps one of the sorted images of its process.
static int holds_a_copy(const struct image* images, int count, uintptr_t begin, uintptr_t end) {
  int low = 0, high = count;  // the first image that ends behind `begin` is in [low, high]
  while (low < high) {
    const int middle = (low + high) / 2;
    if (images[middle].end > begin)
      high = middle;
    else
      low = middle + 1;
  }
  return low < count && images[low].begin < end;
}

// Adds the memory of one process, which holds `count` ranks.
static void add_process(struct memory* memory, const struct image* images, int count) {
  char path[64], line[4096];
  snprintf(path, sizeof path, "/proc/%ld/smaps", images[0].process);
  FILE* file = fopen(path, "r");
  if (file == NULL) probe_fail("startup: cannot read smaps");
  unsigned long begin, end;
  double kib, *part = &memory->other_kib;
  while (fgets(line, sizeof line, file) != NULL) {
    if (sscanf(line, "%lx-%lx ", &begin, &end) == 2)
      part = holds_a_copy(images, count, begin, end) ? &memory->image_kib : &memory->other_kib;
    else if (sscanf(line, "Pss: %lf", &kib) == 1)
      *part += kib;
  }
  fclose(file);
}

// The memory of all processes of the job, on rank 0. The other ranks need no memory that grows with
// their number.
static struct memory job_memory(const struct probe* p) {
  struct memory memory = {0, 0};
  struct image mine = {(long)getpid(), (uintptr_t)__ehdr_start, (uintptr_t)_end}, *all = NULL;
  if (p->rank == 0) all = probe_allocate((size_t)p->ranks * sizeof *all);
  MPI_Gather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (p->rank == 0) {
    qsort(all, (size_t)p->ranks, sizeof *all, by_process_then_address);
    for (int first = 0, next; first < p->ranks; first = next) {
      for (next = first + 1; next < p->ranks && all[next].process == all[first].process;)
        next++;
      add_process(&memory, &all[first], next - first);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);  // no rank ends before its process is measured
  free(all);
  return memory;
}

int main(int argc, char** argv) {
  struct probe p = probe_begin(argc, argv);
  my_rank = p.rank;
  snprintf(my_name, sizeof my_name, "rank %d of %d", p.rank, p.ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  const double started_ms = p.argument_count > 0 ? atof(p.arguments[0]) * 1e-6 : now_ms();
  const double took_ms = now_ms() - started_ms;
  if (my_rank != p.rank) probe_fail("startup: ranks share variables");

  const struct memory memory = job_memory(&p);
  if (p.rank == 0) {
    probe_print("first_collective", took_ms, "ms");
    probe_print("image_memory", memory.image_kib, "KiB");
    probe_print("other_memory", memory.other_kib, "KiB");
  }
  probe_end();
  return 0;
}
