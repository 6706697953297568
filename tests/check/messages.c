#include "cases.h"

static void type(int wrong) {
  int value = 0;
  if (rank_of(world) == 0) {
    MPI_Send(&value, 1, MPI_INT, 1, 0, world);
  } else {
    MPI_Recv(&value, 1, wrong ? MPI_FLOAT : MPI_INT, 0, 0, world, MPI_STATUS_IGNORE); /* planted */
  }
}

static void type_nonblocking(int wrong) {
  int value = 0;
  MPI_Request request;
  if (rank_of(world) == 0) {
    MPI_Isend(&value, 1, MPI_INT, 1, 0, world, &request);
  } else {
    MPI_Irecv(&value, 1, wrong ? MPI_UNSIGNED : MPI_INT, 0, 0, world, &request); /* planted */
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void type_of_wildcard(int wrong) {
  float value = 0;
  if (rank_of(world) == 0) {
    for (int i = 1; i < 3; ++i)
      MPI_Recv(&value, 1, MPI_FLOAT, MPI_ANY_SOURCE, MPI_ANY_TAG, world,
               MPI_STATUS_IGNORE); /* planted */
  } else {
    MPI_Send(&value, 1, wrong && rank_of(world) == 2 ? MPI_INT : MPI_FLOAT, 0, rank_of(world),
             world);
  }
}

static void type_of_bytes(int wrong) {
  int value = 0;
  if (rank_of(world) == 0) {
    MPI_Send(&value, sizeof value, MPI_BYTE, 1, 0, world);
  } else if (wrong) {
    MPI_Recv(&value, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE); /* planted */
  } else {
    MPI_Recv(&value, sizeof value, MPI_BYTE, 0, 0, world, MPI_STATUS_IGNORE);
  }
}

/* MPI_PACKED matches every type. */
static void type_of_packed(int wrong) {
  int value = 0;
  char packed[64];
  int position = 0;
  if (rank_of(world) == 0) {
    MPI_Pack(&value, 1, MPI_INT, packed, sizeof packed, &position, world);
    MPI_Send(packed, position, wrong ? MPI_CHAR : MPI_PACKED, 1, 0, world);
  } else {
    MPI_Recv(&value, 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE); /* planted */
  }
}

static void type_of_sendrecv(int wrong) {
  float value = 0, other;
  const int peer = 1 - rank_of(world);
  MPI_Sendrecv(&value, 1, MPI_FLOAT, peer, 0, &other, 1, wrong ? MPI_INT : MPI_FLOAT, peer, 0,
               world, MPI_STATUS_IGNORE); /* planted */
}

static void type_in_struct(int wrong) {
  struct {
    double d;
    int i[2];
  } value = {0, {0, 0}};

  const int lengths[2] = {1, 2};
  const MPI_Aint displacements[2] = {0, sizeof(double)};
  const MPI_Datatype sent[2] = {MPI_DOUBLE, MPI_INT};
  const MPI_Datatype received[2] = {MPI_DOUBLE, wrong ? MPI_FLOAT : MPI_INT};
  MPI_Datatype both;
  MPI_Type_create_struct(2, lengths, displacements, rank_of(world) == 0 ? sent : received, &both);
  MPI_Type_commit(&both);
  if (rank_of(world) == 0) {
    MPI_Send(&value, 1, both, 1, 0, world);
  } else {
    MPI_Recv(&value, 1, both, 0, 0, world, MPI_STATUS_IGNORE); /* planted */
  }
  MPI_Type_free(&both);
}

static void type_of_persistent(int wrong) {
  int value = 0;
  MPI_Request request;
  if (rank_of(world) == 0) {
    MPI_Send_init(&value, 1, MPI_INT, 1, 0, world, &request);
  } else {
    MPI_Recv_init(&value, 1, wrong ? MPI_FLOAT : MPI_INT, 0, 0, world, &request); /* planted */
  }
  for (int i = 0; i < 2; ++i) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&request);
}

static void type_of_buffered(int wrong) {
  int value = 0;
  if (rank_of(world) == 0) {
    char space[1024];
    void* detached;
    int bytes;
    MPI_Buffer_attach(space, sizeof space);
    MPI_Bsend(&value, 1, MPI_INT, 1, 0, world);
    MPI_Buffer_detach(&detached, &bytes);
  } else {
    MPI_Recv(&value, 1, wrong ? MPI_FLOAT : MPI_INT, 0, 0, world, MPI_STATUS_IGNORE); /* planted */
  }
}

/* A matched probe takes the first of two messages away; the second one is received before it. */
static void type_after_matched_probe(int wrong) {
  int value = 0;
  float real = 0;
  if (rank_of(world) == 0) {
    MPI_Request requests[2];
    MPI_Isend(&value, 1, MPI_INT, 1, 0, world, &requests[0]);
    MPI_Isend(&real, 1, MPI_FLOAT, 1, 0, world, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  } else {
    MPI_Message message;
    MPI_Mprobe(0, 0, world, &message, MPI_STATUS_IGNORE);
    MPI_Recv(&real, 1, MPI_FLOAT, 0, 0, world, MPI_STATUS_IGNORE);
    MPI_Mrecv(&value, 1, wrong ? MPI_FLOAT : MPI_INT, &message, MPI_STATUS_IGNORE); /* planted */
  }
}

static void truncated(int wrong) {
  int values[4] = {0};
  if (rank_of(world) == 0) {
    MPI_Send(values, 4, MPI_INT, 1, 0, world);
  } else {
    MPI_Recv(values, wrong ? 2 : 4, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE); /* planted */
  }
}

static void truncated_nonblocking(int wrong) {
  int values[4] = {0};
  if (rank_of(world) == 0) {
    MPI_Send(values, 4, MPI_INT, 1, 0, world);
  } else {
    MPI_Request request;
    MPI_Irecv(values, wrong ? 3 : 4, MPI_INT, 0, 0, world, &request); /* planted */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

static void truncated_quietly(int wrong) {
  int values[4] = {0};
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  if (rank_of(world) == 0) {
    MPI_Send(values, 4, MPI_INT, 1, 0, world);
  } else {
    MPI_Recv(values, wrong ? 2 : 4, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE); /* planted */
  }
  MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL);
}

/* A message that is shorter than its receive is no error, and neither is one of 0 elements of
 * another type. */
static void shorter(int wrong) {
  int values[4] = {0};
  if (rank_of(world) == 0) {
    MPI_Send(values, 2, MPI_INT, 1, 0, world);
    MPI_Send(values, 0, MPI_INT, 1, 0, world);
  } else {
    MPI_Recv(values, wrong ? 1 : 4, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE); /* planted */
    MPI_Recv(values, 1, MPI_FLOAT, 0, 0, world, MPI_STATUS_IGNORE);
  }
}

static void negative_count(int wrong) {
  int value = 0;
  MPI_Send(&value, wrong ? -1 : 1, MPI_INT, MPI_PROC_NULL, 0, world); /* planted */
}

static void no_such_rank(int wrong) {
  int value = 0;
  MPI_Send(&value, 1, MPI_INT, wrong ? 7 : MPI_PROC_NULL, 0, world); /* planted */
}

static void negative_tag(int wrong) {
  int value = 0;
  MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, wrong ? -5 : 0, world); /* planted */
}

static void uncommitted(int wrong) {
  int values[2] = {0};
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  if (!wrong) MPI_Type_commit(&pair);
  MPI_Send(values, 1, pair, MPI_PROC_NULL, 0, world); /* planted */
  MPI_Type_free(&pair);
}

static void freed_communicator(int wrong) {
  int value = 0;
  MPI_Comm copy;
  MPI_Comm_dup(world, &copy);
  const MPI_Comm used = copy;
  if (wrong) MPI_Comm_free(&copy);
  MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 0, used); /* planted */
  if (!wrong) MPI_Comm_free(&copy);
}

static void started_twice(int wrong) {
  int value = 0;
  MPI_Request request;
  if (rank_of(world) == 0) {
    MPI_Recv_init(&value, 1, MPI_INT, 1, 0, world, &request);
    MPI_Start(&request);
    if (wrong) MPI_Start(&request); /* planted */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
  } else {
    MPI_Send(&value, 1, MPI_INT, 0, 0, world);
  }
}

/* One of three requests fails: the others are complete, and the persistent one can be started. */
static void truncated_among_others(int wrong) {
  int values[2] = {0, 0}, pair[2], many[100] = {0};
  MPI_Request requests[3];
  MPI_Status statuses[3];
  if (rank_of(world) == 0) {
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Irecv(&values[0], 1, MPI_INT, 1, 1, world, &requests[0]);
    MPI_Recv_init(pair, 2, MPI_INT, 1, 2, world, &requests[1]);
    MPI_Start(&requests[1]); /* planted */
    MPI_Irecv(&values[1], 1, MPI_INT, 1, 3, world, &requests[2]);
    MPI_Barrier(world);
    MPI_Waitall(3, requests, statuses); /* planted */
    for (int i = 0; i < 3; i += 2)
      MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    MPI_Start(&requests[1]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Request_free(&requests[1]);
  } else {
    MPI_Barrier(world);
    MPI_Send(&values[0], 1, MPI_INT, 0, 1, world);
    MPI_Send(many, wrong ? 100 : 2, MPI_INT, 0, 2, world);
    MPI_Send(&values[1], 1, MPI_INT, 0, 3, world);
    MPI_Send(many, 2, MPI_INT, 0, 2, world);
  }
}

/* The request of a wait that fails has ended. */
static void truncated_in_a_wait(int wrong) {
  int values[2] = {0, 0};
  MPI_Request request;
  if (rank_of(world) == 0) {
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Irecv(values, 1, MPI_INT, 1, 0, world, &request); /* planted */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    values[0] = 1;
  } else {
    MPI_Send(values, wrong ? 2 : 1, MPI_INT, 0, 0, world);
  }
}

/* An error that the program raises itself is none of its calls. */
static void error_of_call(int wrong) {
  MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
  if (wrong) {
    MPI_Send(NULL, 0, MPI_INT, 2, 0, world); /* planted */
  } else {
    MPI_Comm_call_errhandler(world, MPI_ERR_OTHER);
  }
}

static const struct check_case cases[] = {
    {"error-of-call", 2, "argument", error_of_call},
    {"type", 2, "message-type", type},
    {"type-nonblocking", 2, "message-type", type_nonblocking},
    {"type-of-wildcard", 3, "message-type", type_of_wildcard},
    {"type-of-bytes", 2, "message-type", type_of_bytes},
    {"type-of-packed", 2, "message-type", type_of_packed},
    {"type-of-sendrecv", 2, "message-type", type_of_sendrecv},
    {"type-in-struct", 2, "message-type", type_in_struct},
    {"type-of-persistent", 2, "message-type", type_of_persistent},
    {"type-of-buffered", 2, "message-type", type_of_buffered},
    {"type-after-matched-probe", 2, "message-type", type_after_matched_probe},
    {"truncated", 2, "message-truncated", truncated},
    {"truncated-nonblocking", 2, "message-truncated", truncated_nonblocking},
    {"truncated-quietly", 2, "message-truncated", truncated_quietly},
    {"truncated-among-others", 2, "message-truncated|argument", truncated_among_others},
    {"truncated-in-a-wait", 2, "message-truncated", truncated_in_a_wait},
    {"shorter", 2, "message-truncated", shorter},
    {"negative-count", 1, "argument", negative_count},
    {"no-such-rank", 2, "argument", no_such_rank},
    {"negative-tag", 1, "argument", negative_tag},
    {"uncommitted", 1, "argument", uncommitted},
    {"freed-communicator", 1, "argument", freed_communicator},
    {"started-twice", 2, "request", started_twice},
};

int main(int argc, char** argv) {
  return run_cases(argc, argv, cases, sizeof cases / sizeof *cases);
}
