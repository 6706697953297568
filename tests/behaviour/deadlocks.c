// Programs that wait for ever: `deadlocks KIND`.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int me, ranks;
static char big[100000];

static void receive_in_a_cycle(void) {
  int value;
  MPI_Recv(&value, 1, MPI_INT, (me + 1) % ranks, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send_in_a_cycle(void) {
  MPI_Send(big, sizeof big, MPI_CHAR, (me + 1) % ranks, 8, MPI_COMM_WORLD);
}

static void wait_in_a_cycle(MPI_Comm comm) {
  MPI_Request requests[2];
  MPI_Irecv(big, 10, MPI_CHAR, (me + 1) % ranks, 1, comm, &requests[0]);
  MPI_Irecv(big, 10, MPI_CHAR, (me + 2) % ranks, 2, comm, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void lock_in_a_cycle(void) {
  MPI_Win win;
  MPI_Win_create(big, sizeof big, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_name(win, "board");
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, me, 0, win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, (me + 1) % ranks, 0, win);
}

static void start_without_post(void) {
  MPI_Win win;
  MPI_Group all, first;
  const int root = 0;
  MPI_Win_create(big, sizeof big, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &root, &first);
  if (me != 0) MPI_Win_start(first, 0, win);
}

static void miss_a_barrier(int missing) {
  int value;
  if (me == missing) MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void probe_for_nothing(void) {
  if (me == 0) MPI_Probe(MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/// A ring of which one rank starts no exchange.
static void miss_a_neighbor(int missing, int is_blocking) {
  const int dims[1] = {ranks}, periods[1] = {1};
  int values[2];
  MPI_Comm ring;
  MPI_Request request;
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring);
  MPI_Comm_set_name(ring, "ring");
  if (me == missing) return;
  if (is_blocking) {
    MPI_Neighbor_allgather(&me, 1, MPI_INT, values, 1, MPI_INT, ring);
  } else {
    MPI_Ineighbor_allgather(&me, 1, MPI_INT, values, 1, MPI_INT, ring, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

/// Rank 0 and the others: each waits for a message from the other group.
static void receive_from_the_other_group(void) {
  int value;
  MPI_Comm own, inter;
  MPI_Comm_split(MPI_COMM_WORLD, me == 0, 0, &own);
  MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, me == 0, 0, &inter);
  MPI_Recv(&value, 1, MPI_INT, 0, 6, inter, MPI_STATUS_IGNORE);
}

/// Rank 0 sends `count` messages, 5 of each tag from `tag` on; rank 1 waits for tag 7.
static void send_to_another_receive(int tag, int count, int source, MPI_Comm comm, int is_probe) {
  int value = 0;
  for (int i = 0; me == 0 && i < count; ++i)
    MPI_Send(&me, 1, MPI_INT, 1, tag + i / 5, MPI_COMM_WORLD);
  if (me != 1) return;
  if (is_probe) MPI_Probe(source, 7, comm, MPI_STATUS_IGNORE);
  MPI_Recv(&value, 1, MPI_INT, source, 7, comm, MPI_STATUS_IGNORE);
}

/// Ranks 0 and 1 receive from each other, and rank 2 polls.
static void wait_beside_a_poller(void) {
  int value, is_done = 0;
  MPI_Request request;
  if (me < 2) MPI_Recv(&value, 1, MPI_INT, 1 - me, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  while (!is_done)
    MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
}

/// Rank 0 polls for longer than the watch needs. The other ranks wait for it, by way of each other.
static void end_what_looks_like_a_deadlock(void) {
  int value = 0, flag;
  MPI_Request requests[2];
  if (me == 0) {
    const double end = MPI_Wtime() + 4;
    while (MPI_Wtime() < end)
      MPI_Iprobe(1, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Send(&value, 1, MPI_INT, 1, 6, MPI_COMM_WORLD);
  } else if (me == 1) {
    // The first of these never comes before the second one.
    MPI_Irecv(&value, 1, MPI_INT, 2, 5, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, &requests[1]);
    int index;
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    MPI_Send(&value, 1, MPI_INT, 2, 5, MPI_COMM_WORLD);
    MPI_Wait(&requests[1 - index], MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  const char* kind = argc > 1 ? argv[1] : "";
  MPI_Comm named;
  // Without MPI; only rank 0 has the input.
  if (strcmp(kind, "ended") == 0 && getchar() != EOF) return 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (strcmp(kind, "receives") == 0) receive_in_a_cycle();
  if (strcmp(kind, "sends") == 0) send_in_a_cycle();
  if (strcmp(kind, "requests") == 0) {
    MPI_Comm_dup(MPI_COMM_WORLD, &named);
    MPI_Comm_set_name(named, "halo");
    wait_in_a_cycle(named);
  }
  if (strcmp(kind, "barrier") == 0) miss_a_barrier(argc > 2 ? atoi(argv[2]) : 2);
  if (strcmp(kind, "neighbor") == 0) miss_a_neighbor(2, 1);
  if (strcmp(kind, "ineighbor") == 0) miss_a_neighbor(2, 0);
  if (strcmp(kind, "groups") == 0) receive_from_the_other_group();
  if (strcmp(kind, "locks") == 0) lock_in_a_cycle();
  if (strcmp(kind, "start") == 0) start_without_post();
  if (strcmp(kind, "probe") == 0) probe_for_nothing();
  if (strcmp(kind, "tag") == 0) send_to_another_receive(8, 1, 0, MPI_COMM_WORLD, 0);
  if (strcmp(kind, "probed_tag") == 0) send_to_another_receive(8, 1, 0, MPI_COMM_WORLD, 1);
  if (strcmp(kind, "source") == 0) send_to_another_receive(7, 1, 2, MPI_COMM_WORLD, 0);
  if (strcmp(kind, "many") == 0) send_to_another_receive(8, 24, 0, MPI_COMM_WORLD, 0);
  if (strcmp(kind, "comm") == 0) {
    MPI_Comm_dup(MPI_COMM_WORLD, &named);
    MPI_Comm_set_name(named, "halo");
    send_to_another_receive(7, 1, 0, named, 0);
  }
  if (strcmp(kind, "poller") == 0) wait_beside_a_poller();
  if (strcmp(kind, "late") == 0) end_what_looks_like_a_deadlock();
  MPI_Finalize();
  return 0;
}
