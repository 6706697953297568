#include "cases.h"

static void receives(int wrong) {
  int value = 0;
  const int peer = 1 - rank_of(world);
  if (!wrong && rank_of(world) == 0) MPI_Send(&value, 1, MPI_INT, peer, 0, world);
  MPI_Recv(&value, 1, MPI_INT, peer, 0, world, MPI_STATUS_IGNORE); /* planted */
  if (!wrong && rank_of(world) == 1) MPI_Send(&value, 1, MPI_INT, peer, 0, world);
}

static void wrong_tag(int wrong) {
  int value = 0;
  if (rank_of(world) == 0) {
    MPI_Send(&value, 1, MPI_INT, 1, wrong ? 1 : 0, world); /* planted */
  } else {
    MPI_Recv(&value, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE); /* planted */
  }
}

static void no_sender(int wrong) {
  int value = 0;
  if (rank_of(world) == 1) {
    if (wrong)
      MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, world, MPI_STATUS_IGNORE); /* planted */
  }
}

static void sends(int wrong) {
  int value = 0, other = 0;
  const int peer = 1 - rank_of(world);
  if (!wrong && rank_of(world) == 0)
    MPI_Recv(&other, 1, MPI_INT, peer, 0, world, MPI_STATUS_IGNORE);
  MPI_Send(&value, 1, MPI_INT, peer, 0, world); /* planted */
  if (wrong || rank_of(world) == 1) MPI_Recv(&other, 1, MPI_INT, peer, 0, world, MPI_STATUS_IGNORE);
}

static void ring(int wrong) {
  int value = 0, other = 0, size;
  MPI_Comm_size(world, &size);
  const int next = (rank_of(world) + 1) % size, last = (rank_of(world) + size - 1) % size;
  if (!wrong) {
    MPI_Sendrecv(&value, 1, MPI_INT, next, 0, &other, 1, MPI_INT, last, 0, world,
                 MPI_STATUS_IGNORE);
    return;
  }
  MPI_Send(&value, 1, MPI_INT, next, 0, world); /* planted */
  MPI_Recv(&other, 1, MPI_INT, last, 0, world, MPI_STATUS_IGNORE);
}

static void send_before_collective(int wrong) {
  int value = 0;
  if (rank_of(world) == 0) {
    if (wrong) MPI_Send(&value, 1, MPI_INT, 1, 0, world); /* planted */
    MPI_Barrier(world);
    if (!wrong) MPI_Send(&value, 1, MPI_INT, 1, 0, world);
  } else {
    MPI_Barrier(world); /* planted */
    MPI_Recv(&value, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE);
  }
}

static void isend_waits(int wrong) {
  int value = 0, other = 0;
  const int peer = 1 - rank_of(world);
  MPI_Request request;
  MPI_Isend(&value, 1, MPI_INT, peer, 0, world, &request);
  if (wrong) MPI_Wait(&request, MPI_STATUS_IGNORE); /* planted */
  MPI_Recv(&other, 1, MPI_INT, peer, 0, world, MPI_STATUS_IGNORE);
  if (!wrong) MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* A broadcast may wait for all members. */
static void broadcast_before_send(int wrong) {
  int value = 0;
  if (rank_of(world) == 0) {
    MPI_Bcast(&value, 1, MPI_INT, 0, world); /* planted */
    MPI_Send(&value, 1, MPI_INT, 1, 0, world);
  } else {
    if (wrong) MPI_Recv(&value, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE); /* planted */
    MPI_Bcast(&value, 1, MPI_INT, 0, world);
    if (!wrong) MPI_Recv(&value, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE);
  }
}

static void missing_member(int wrong) {
  if (!wrong || rank_of(world) != 1) MPI_Barrier(world); /* planted */
}

static void two_communicators(int wrong) {
  MPI_Comm first, second;
  MPI_Comm_dup(world, &first);
  MPI_Comm_dup(world, &second);
  const int is_reversed = wrong && rank_of(world) == 1;
  MPI_Barrier(is_reversed ? second : first); /* planted */
  MPI_Barrier(is_reversed ? first : second);
  MPI_Comm_free(&first);
  MPI_Comm_free(&second);
}

/* Rank 2 polls meanwhile, and cannot help. */
static void sends_beside_a_poller(int wrong) {
  int value = 0, other = 0, done = 0;
  const int peer = 1 - rank_of(world);
  MPI_Request request;
  if (rank_of(world) < 2) {
    if (!wrong && rank_of(world) == 0)
      MPI_Recv(&other, 1, MPI_INT, peer, 0, world, MPI_STATUS_IGNORE);
    MPI_Send(&value, 1, MPI_INT, peer, 0, world); /* planted */
    if (wrong || rank_of(world) == 1)
      MPI_Recv(&other, 1, MPI_INT, peer, 0, world, MPI_STATUS_IGNORE);
  }
  MPI_Ibarrier(world, &request);
  while (!done)
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

static void finalize(int wrong) {
  if (wrong && rank_of(world) == 1) exit(0);
}

static const struct check_case cases[] = {
    {"receives", 2, "deadlock", receives},
    {"wrong-tag", 2, "deadlock|deadlock-unbuffered", wrong_tag},
    {"no-sender", 2, "deadlock", no_sender},
    {"sends", 2, "deadlock-unbuffered", sends},
    {"ring", 4, "deadlock-unbuffered", ring},
    {"send-before-collective", 2, "deadlock-unbuffered", send_before_collective},
    {"isend-waits", 2, "deadlock-unbuffered", isend_waits},
    {"broadcast-before-send", 2, "deadlock-unbuffered", broadcast_before_send},
    {"missing-member", 3, "argument|deadlock", missing_member},
    {"two-communicators", 2, "deadlock", two_communicators},
    {"sends-beside-a-poller", 3, "deadlock-unbuffered", sends_beside_a_poller},
    {"finalize", 2, "finalize", finalize},
};

int main(int argc, char** argv) {
  return run_cases(argc, argv, cases, sizeof cases / sizeof *cases);
}
