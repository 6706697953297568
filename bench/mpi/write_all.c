// write_all SECONDS BLOCK COUNT - time of an MPI_File_write_at_all in which each rank has COUNT
// blocks of BLOCK bytes, and the blocks of the ranks lie in turn: the case for two phases.
//
// The file is in the current folder.
#include "../probes/probe.h"

struct state {
  int rank, ranks, block, count;
  char* bytes;
  MPI_File file;
};

static char mark(int rank, int round, int block) {
  return (char)(rank * 31 + round * 7 + block);
}

static void writes(void* pointer, int count) {
  struct state* s = pointer;
  for (int i = 0; i < count; i++) {
    for (int b = 0; b < s->count; b++)
      s->bytes[(size_t)b * (size_t)s->block] = mark(s->rank, i, b);
    MPI_Status status;
    int written = 0;
    MPI_File_write_at_all(s->file, 0, s->bytes, s->block * s->count, MPI_BYTE, &status);
    MPI_Get_count(&status, MPI_BYTE, &written);
    if (written != s->block * s->count) probe_fail("write_all: too little was written");
  }
}

// The file holds the blocks of the last writing. Rank 0 reads all of it, without a view.
static void check(const struct state* s, const char* name) {
  if (s->rank != 0) return;
  FILE* file = fopen(name, "rb");
  if (file == NULL) probe_fail("write_all: no file");
  for (int b = 0; b < s->count; b++) {
    for (int rank = 0; rank < s->ranks; rank++) {
      const long at = ((long)b * s->ranks + rank) * s->block;
      if (fseek(file, at, SEEK_SET) != 0 || (char)fgetc(file) != mark(rank, 0, b))
        probe_fail("write_all: wrong data in the file");
    }
  }
  fclose(file);
}

int main(int argc, char** argv) {
  struct probe p = probe_begin(argc, argv);
  struct state s = {.rank = p.rank, .ranks = p.ranks};
  s.block = probe_argument(&p, 0, 512);
  s.count = probe_argument(&p, 1, 64);
  s.bytes = probe_allocate((size_t)s.block * (size_t)s.count);
  const char* name = "write_all.data";
  if (MPI_File_open(MPI_COMM_WORLD, name,
                    MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                    &s.file) != MPI_SUCCESS)
    probe_fail("write_all: the file cannot be opened");
  MPI_Datatype blocks;
  MPI_Type_vector(s.count, s.block, s.block * s.ranks, MPI_BYTE, &blocks);
  MPI_Type_commit(&blocks);
  MPI_File_set_view(s.file, (MPI_Offset)s.rank * s.block, MPI_BYTE, blocks, "native",
                    MPI_INFO_NULL);
  probe_series(&p, "write", 1e6, "us", writes, &s);
  writes(&s, 1);
  MPI_File_sync(s.file);
  MPI_Barrier(MPI_COMM_WORLD);
  check(&s, name);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_close(&s.file);
  MPI_Type_free(&blocks);
  free(s.bytes);
  probe_end();
  return 0;
}
