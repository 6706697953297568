#include "cases.h"

static void send_changed(int wrong) {
  int value = 0;
  if (rank_of(world) == 0) {
    MPI_Request request;
    MPI_Isend(&value, 1, MPI_INT, 1, 0, world, &request); /* planted */
    if (wrong) value = 1;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    value = 2;
  } else {
    MPI_Recv(&value, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE);
  }
}

/* The receive is posted before: the send is complete at once. */
static void send_changed_late(int wrong) {
  int value = 0;
  MPI_Request request;
  if (rank_of(world) == 0) {
    MPI_Barrier(world);
    MPI_Isend(&value, 1, MPI_INT, 1, 0, world, &request); /* planted */
    if (wrong) value = 1;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Irecv(&value, 1, MPI_INT, 0, 0, world, &request);
    MPI_Barrier(world);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

static void receive_changed(int wrong) {
  int value = 0;
  if (rank_of(world) == 0) {
    MPI_Request request;
    MPI_Irecv(&value, 1, MPI_INT, 1, 0, world, &request); /* planted */
    if (wrong) value = 1;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    value = 2;
  } else {
    value = 7;
    MPI_Send(&value, 1, MPI_INT, 0, 0, world);
  }
}

/* The message is there before its receive is posted. */
static void receive_changed_late(int wrong) {
  int value = 0;
  if (rank_of(world) == 0) {
    MPI_Request request;
    MPI_Probe(1, 0, world, MPI_STATUS_IGNORE);
    MPI_Irecv(&value, 1, MPI_INT, 1, 0, world, &request); /* planted */
    if (wrong) value = 1;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    value = 7;
    MPI_Send(&value, 1, MPI_INT, 0, 0, world);
  }
}

static void column_changed(int wrong) {
  int values[3][3] = {{0}};
  MPI_Datatype column;
  MPI_Type_vector(3, 1, 3, MPI_INT, &column);
  MPI_Type_commit(&column);
  if (rank_of(world) == 0) {
    MPI_Request request;
    MPI_Isend(values, 1, column, 1, 0, world, &request); /* planted */
    values[1][wrong ? 0 : 1] = 1;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(values, 1, column, 0, 0, world, MPI_STATUS_IGNORE);
  }
  MPI_Type_free(&column);
}

static void persistent_changed(int wrong) {
  int value = 0;
  MPI_Request request;
  if (rank_of(world) == 0) {
    MPI_Send_init(&value, 1, MPI_INT, 1, 0, world, &request);
    for (int i = 0; i < 2; ++i) {
      MPI_Start(&request); /* planted */
      if (wrong) ++value;
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      ++value;
    }
    MPI_Request_free(&request);
  } else {
    for (int i = 0; i < 2; ++i)
      MPI_Recv(&value, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE);
  }
}

static void reduction_changed(int wrong) {
  int value = 1, sum = 0;
  MPI_Request request;
  MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, world, &request); /* planted */
  if (wrong) value = 2;
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void one_of_many_changed(int wrong) {
  int values[8];
  MPI_Request requests[8];
  const int peer = 1 - rank_of(world);
  for (int i = 0; i < 8; ++i) {
    values[i] = i;
    if (rank_of(world) == 0) {
      MPI_Isend(&values[i], 1, MPI_INT, peer, i, world, &requests[i]); /* planted */
    } else {
      MPI_Irecv(&values[i], 1, MPI_INT, peer, i, world, &requests[i]);
    }
  }
  for (int i = 0; i < 8; ++i) {
    int done;
    MPI_Waitany(8, requests, &done, MPI_STATUS_IGNORE);
    values[done] = -1;
    if (wrong && i == 3 && rank_of(world) == 0) {
      for (int k = 0; k < 8; ++k)
        values[k] = -2;
    }
  }
}

static void receives_overlap(int wrong) {
  int values[4] = {0};
  MPI_Request requests[2];
  if (rank_of(world) == 0) {
    MPI_Irecv(values, 2, MPI_INT, 1, 0, world, &requests[0]);
    MPI_Irecv(values + (wrong ? 1 : 2), 2, MPI_INT, 1, 1, world, &requests[1]); /* planted */
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  } else {
    MPI_Send(values, 2, MPI_INT, 0, 0, world);
    MPI_Send(values, 2, MPI_INT, 0, 1, world);
  }
}

/* Columns that interleave do not overlap. */
static void columns_overlap(int wrong) {
  int values[3][3] = {{0}};
  MPI_Datatype column;
  MPI_Request requests[2];
  MPI_Type_vector(3, 1, 3, MPI_INT, &column);
  MPI_Type_commit(&column);
  if (rank_of(world) == 0) {
    MPI_Irecv(&values[0][0], 1, column, 1, 0, world, &requests[0]);
    MPI_Irecv(&values[0][wrong ? 0 : 1], 1, column, 1, 1, world, &requests[1]); /* planted */
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  } else {
    MPI_Send(values, 1, column, 0, 0, world);
    MPI_Send(values, 1, column, 0, 1, world);
  }
  MPI_Type_free(&column);
}

static void send_and_receive_overlap(int wrong) {
  int values[2] = {0};
  MPI_Request requests[2];
  const int peer = 1 - rank_of(world);
  MPI_Irecv(&values[0], 1, MPI_INT, peer, 0, world, &requests[0]);
  MPI_Isend(&values[wrong ? 0 : 1], 1, MPI_INT, peer, 0, world, &requests[1]); /* planted */
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

/* Two sends may read the same buffer. */
static void sends_and_receive_overlap(int wrong) {
  int value = 0, other = 0;
  MPI_Request requests[3];
  if (rank_of(world) == 0) {
    MPI_Isend(&value, 1, MPI_INT, 1, 0, world, &requests[0]);
    MPI_Isend(&value, 1, MPI_INT, 1, 1, world, &requests[1]);
    MPI_Irecv(wrong ? &value : &other, 1, MPI_INT, 1, 2, world, &requests[2]); /* planted */
  } else {
    MPI_Irecv(&value, 1, MPI_INT, 0, 0, world, &requests[0]);
    MPI_Irecv(&other, 1, MPI_INT, 0, 1, world, &requests[1]);
    const int sent = 0;
    MPI_Isend(&sent, 1, MPI_INT, 0, 2, world, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    return;
  }
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
}

static void collective_overlaps(int wrong) {
  int value = 0, other = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  if (rank_of(world) == 0) MPI_Irecv(&value, 1, MPI_INT, 1, 0, world, &request);
  MPI_Bcast(wrong ? &value : &other, 1, MPI_INT, 1, world); /* planted */
  if (rank_of(world) == 1) MPI_Send(&other, 1, MPI_INT, 0, 0, world);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* A buffered send has copied the data; its buffer is free when the request is complete all the
 * same. */
static void buffered_changed(int wrong) {
  int value = 0;
  if (rank_of(world) == 0) {
    char space[sizeof value + MPI_BSEND_OVERHEAD];
    void* detached;
    int bytes;
    MPI_Request request;
    MPI_Buffer_attach(space, sizeof space);
    MPI_Ibsend(&value, 1, MPI_INT, 1, 0, world, &request); /* planted */
    if (wrong) value = 1;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&detached, &bytes);
  } else {
    MPI_Recv(&value, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE);
  }
}

/* The first message comes after the start, the second one before it. */
static void persistent_receive(int is_late, int wrong) {
  int value = 0;
  if (rank_of(world) == 0) {
    MPI_Request request;
    MPI_Recv_init(&value, 1, MPI_INT, 1, 0, world, &request);
    if (is_late) MPI_Probe(1, 0, world, MPI_STATUS_IGNORE);
    MPI_Start(&request); /* planted */
    if (wrong) value = 1;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    value = 2;
    MPI_Request_free(&request);
  } else {
    value = 7;
    MPI_Send(&value, 1, MPI_INT, 0, 0, world);
  }
}

static void persistent_receive_changed(int wrong) {
  persistent_receive(0, wrong);
}

static void persistent_receive_changed_late(int wrong) {
  persistent_receive(1, wrong);
}

/* A partition may be changed until it is ready. */
static void partition_changed(int wrong) {
  int values[4] = {0}, is_first = 1;
  MPI_Request request;
  if (rank_of(world) == 0) {
    MPI_Psend_init(values, 2, 2, MPI_INT, 1, 0, world, MPI_INFO_NULL, &request);
    for (int round = 0; round < 2; ++round) {
      MPI_Start(&request);
      values[2] = is_first;
      MPI_Pready(0, request); /* planted */
      if (wrong) values[0] += 1;
      values[3] = 5;
      MPI_Pready(1, request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      values[0] = 9;
      is_first = 0;
    }
  } else {
    MPI_Precv_init(values, 1, 4, MPI_INT, 0, 0, world, MPI_INFO_NULL, &request);
    for (int round = 0; round < 2; ++round) {
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      values[0] = 3;
    }
  }
  MPI_Request_free(&request);
}

static void crash_in_call(int wrong) {
  int value = 0;
  if (rank_of(world) == 0) {
    MPI_Send(&value, 1, MPI_INT, 1, 0, world);
  } else {
    int* const nowhere = (int*)16;
    MPI_Recv(wrong ? nowhere : &value, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE); /* planted */
  }
}

static void crash_outside(int wrong) {
  static int* volatile nowhere = NULL;
  static int somewhere;
  if (!wrong) nowhere = &somewhere;
  if (rank_of(world) == 1) *nowhere = 1; /* planted */
}

/* Two buffers of one call. */
static void sendrecv_overlaps(int wrong) {
  int values[8] = {0};
  const int peer = 1 - rank_of(world);
  MPI_Sendrecv(values, 4, MPI_INT, peer, 0, values + (wrong ? 3 : 4), 4, MPI_INT, peer, 0, world,
               MPI_STATUS_IGNORE); /* planted */
  /* Nothing is sent from the same place. */
  MPI_Sendrecv(values, 4, MPI_INT, MPI_PROC_NULL, 0, values, 4, MPI_INT, MPI_PROC_NULL, 0, world,
               MPI_STATUS_IGNORE);
}

static void isendrecv_overlaps(int wrong) {
  int values[8] = {0};
  const int peer = 1 - rank_of(world);
  MPI_Request request;
  MPI_Isendrecv(values, 4, MPI_INT, peer, 0, values + (wrong ? 0 : 4), 4, MPI_INT, peer, 0, world,
                &request); /* planted */
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void types_overlap(int wrong) {
  int values[4] = {0};
  const int counts[2] = {1, 1}, displacements[2] = {0, 4};
  const int shifted[2] = {wrong ? 4 : 8, 12};
  const MPI_Datatype types[2] = {MPI_INT, MPI_INT};
  MPI_Alltoallw(values, counts, displacements, types, values, counts, shifted, types,
                world); /* planted */
}

static void scattered_sums_overlap(int wrong) {
  int values[8] = {0};
  const int counts[2] = {2, 2};
  MPI_Reduce_scatter(values, values + (wrong ? 3 : 4), counts, MPI_INT, MPI_SUM,
                     world); /* planted */
}

static void local_reduction_overlaps(int wrong) {
  int values[4] = {0};
  MPI_Reduce_local(values, values + (wrong ? 1 : 2), 2, MPI_INT, MPI_SUM); /* planted */
}

static void pack_overlaps(int wrong) {
  int values[8] = {0}, position = 0;
  MPI_Pack(values, 2, MPI_INT, values + (wrong ? 1 : 2), 16, &position, world); /* planted */
}

static void neighbors_overlap(int wrong) {
  int values[4] = {0};
  MPI_Comm ring;
  const int dims[1] = {2}, periods[1] = {1};
  MPI_Cart_create(world, 1, dims, periods, 0, &ring);
  MPI_Neighbor_alltoall(values, 1, MPI_INT, values + (wrong ? 1 : 2), 1, MPI_INT,
                        ring); /* planted */
  MPI_Comm_free(&ring);
}

static void persistent_sums_overlap(int wrong) {
  int values[4] = {0};
  MPI_Request request;
  MPI_Allreduce_init(values, values + (wrong ? 1 : 2), 2, MPI_INT, MPI_SUM, world, MPI_INFO_NULL,
                     &request); /* planted */
  MPI_Request_free(&request);
}

static void fetched_overlaps(int wrong) {
  int memory[2] = {0}, values[4] = {0};
  MPI_Win win;
  MPI_Win_create(memory, sizeof memory, sizeof *memory, MPI_INFO_NULL, world, &win);
  MPI_Win_fence(0, win);
  MPI_Get_accumulate(values, 2, MPI_INT, values + (wrong ? 1 : 2), 2, MPI_INT, 1 - rank_of(world),
                     0, 2, MPI_INT, MPI_SUM, win); /* planted */
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

static const struct check_case cases[] = {
    {"send-changed", 2, "buffer-changed", send_changed},
    {"send-changed-late", 2, "buffer-changed", send_changed_late},
    {"receive-changed", 2, "buffer-changed", receive_changed},
    {"receive-changed-late", 2, "buffer-changed", receive_changed_late},
    {"column-changed", 2, "buffer-changed", column_changed},
    {"persistent-changed", 2, "buffer-changed", persistent_changed},
    {"reduction-changed", 2, "buffer-changed", reduction_changed},
    {"one-of-many-changed", 2, "buffer-changed", one_of_many_changed},
    {"buffered-changed", 2, "buffer-changed", buffered_changed},
    {"persistent-receive-changed", 2, "buffer-changed", persistent_receive_changed},
    {"persistent-receive-changed-late", 2, "buffer-changed", persistent_receive_changed_late},
    {"partition-changed", 2, "buffer-changed", partition_changed},
    {"crash-in-call", 2, "crash", crash_in_call},
    {"crash-outside", 2, "crash", crash_outside},
    {"receives-overlap", 2, "buffer-overlap", receives_overlap},
    {"columns-overlap", 2, "buffer-overlap", columns_overlap},
    {"send-and-receive-overlap", 2, "buffer-overlap", send_and_receive_overlap},
    {"sends-and-receive-overlap", 2, "buffer-overlap", sends_and_receive_overlap},
    {"collective-overlaps", 2, "buffer-overlap", collective_overlaps},
    {"sendrecv-overlaps", 2, "buffer-overlap", sendrecv_overlaps},
    {"isendrecv-overlaps", 2, "buffer-overlap", isendrecv_overlaps},
    {"types-overlap", 2, "buffer-overlap", types_overlap},
    {"scattered-sums-overlap", 2, "buffer-overlap", scattered_sums_overlap},
    {"local-reduction-overlaps", 1, "buffer-overlap", local_reduction_overlaps},
    {"pack-overlaps", 1, "buffer-overlap", pack_overlaps},
    {"neighbors-overlap", 2, "buffer-overlap", neighbors_overlap},
    {"persistent-sums-overlap", 2, "buffer-overlap", persistent_sums_overlap},
    {"fetched-overlaps", 2, "buffer-overlap", fetched_overlaps},
};

int main(int argc, char** argv) {
  return run_cases(argc, argv, cases, sizeof cases / sizeof *cases);
}
