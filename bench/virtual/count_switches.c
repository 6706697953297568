// Counts for apps/cg2d, linked with it: messages that a rank waits for, and control that goes to
// another rank meanwhile. For ranks on one worker.
//
// Its MPI_Irecv, MPI_Waitall and MPI_Allreduce call MPI's own ones. The ranks share a page of a
// file, whose name is in COUNT_SWITCHES_FILE, because an MPI with ranks as threads gives each rank
// its own variables. The page has the rank that runs: if a call finds another rank there
// afterwards, control has left this rank in between. It also has the number of waits that each rank
// has begun, and so which ranks have sent what a wait needs. (MPI_Request_get_status would tell,
// but may let other ranks run.) Only the calls after the 20th reduction are counted: those are
// steps alone. MPI_Finalize prints, for all ranks together:
//   result receives COUNT messages
//   result late_receives COUNT messages    not sent when the receiver began to wait
//   result waits COUNT calls
//   result blocked_waits COUNT calls       in which another rank ran
//   result reductions COUNT calls
//   result blocked_reductions COUNT calls
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { receives, late_receives, waits, blocked_waits, reductions, blocked_reductions, count_of };

enum { warm_up_reductions = 20, ranks_max = 1 << 16, neighbours_max = 4 };

struct shared {
  int running;
  int waits_begun[ranks_max];  // by rank in the communicator of the receives
};

static volatile struct shared* shared;
static int my_rank, my_number, reductions_seen, neighbour_count;
static int neighbours[neighbours_max];  // of the receives that no wait has ended
static double counts[count_of];

static volatile struct shared* map(const char* name) {
  const int file = name != NULL ? open(name, O_RDWR | O_CREAT, 0600) : -1;
  void* page = MAP_FAILED;
  if (file >= 0 && ftruncate(file, sizeof *shared) == 0)
    page = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (page == MAP_FAILED) {
    fputs("count_switches: COUNT_SWITCHES_FILE is no file that can be shared\n", stderr);
    PMPI_Abort(MPI_COMM_WORLD, 1);
  }
  close(file);
  return page;
}

int MPI_Init(int* argc, char*** argv) {
  const int status = PMPI_Init(argc, argv);
  PMPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
  shared = map(getenv("COUNT_SWITCHES_FILE"));
  return status;
}

static int is_counting(void) {
  return reductions_seen >= warm_up_reductions;
}

int MPI_Irecv(void* data,
              int count,
              MPI_Datatype type,
              int source,
              int tag,
              MPI_Comm comm,
              MPI_Request* request) {
  if (source != MPI_PROC_NULL && neighbour_count < neighbours_max) {
    PMPI_Comm_rank(comm, &my_number);
    neighbours[neighbour_count++] = source;
  }
  return PMPI_Irecv(data, count, type, source, tag, comm, request);
}

int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  const int waits_of_mine = ++shared->waits_begun[my_number];
  for (int i = 0; i < neighbour_count && is_counting(); i++) {
    counts[receives]++;
    counts[late_receives] += shared->waits_begun[neighbours[i]] < waits_of_mine;
  }
  neighbour_count = 0;
  shared->running = my_rank;
  const int status = PMPI_Waitall(count, requests, statuses);
  if (is_counting()) counts[waits]++, counts[blocked_waits] += shared->running != my_rank;
  return status;
}

int MPI_Allreduce(
    const void* from, void* to, int count, MPI_Datatype type, MPI_Op operation, MPI_Comm comm) {
  shared->running = my_rank;
  const int status = PMPI_Allreduce(from, to, count, type, operation, comm);
  if (is_counting()) counts[reductions]++, counts[blocked_reductions] += shared->running != my_rank;
  reductions_seen++;
  return status;
}

int MPI_Finalize(void) {
  const char* names[count_of] = {"receives",      "late_receives", "waits",
                                 "blocked_waits", "reductions",    "blocked_reductions"};
  double sums[count_of] = {0};
  PMPI_Reduce(counts, sums, count_of, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  for (int i = 0; my_rank == 0 && i < count_of; i++)
    printf("result %s %.0f %s\n", names[i], sums[i], i < waits ? "messages" : "calls");
  return PMPI_Finalize();
}
