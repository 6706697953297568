#include "cases.h"

static void order(int wrong) {
  int value = 0;
  if (wrong && rank_of(world) == 1) {
    MPI_Barrier(world); /* planted */
    MPI_Bcast(&value, 1, MPI_INT, 0, world);
  } else {
    MPI_Bcast(&value, 1, MPI_INT, 0, world); /* planted */
    MPI_Barrier(world);
  }
}

static void kind(int wrong) {
  int value = 1, sum = 0;
  if (wrong && rank_of(world) == 2) {
    MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, 0, world); /* planted */
  } else {
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, world); /* planted */
  }
}

static void blocking(int wrong) {
  int value = 0;
  if (wrong && rank_of(world) == 0) {
    MPI_Bcast(&value, 1, MPI_INT, 0, world); /* planted */
  } else {
    MPI_Request request;
    MPI_Ibcast(&value, 1, MPI_INT, 0, world, &request); /* planted */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

static void nonblocking_order(int wrong) {
  int value = 0;
  MPI_Request requests[2];
  if (wrong && rank_of(world) == 1) {
    MPI_Ibcast(&value, 1, MPI_INT, 0, world, &requests[0]); /* planted */
    MPI_Ibarrier(world, &requests[1]);
  } else {
    MPI_Ibarrier(world, &requests[0]); /* planted */
    MPI_Ibcast(&value, 1, MPI_INT, 0, world, &requests[1]);
  }
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void creation(int wrong) {
  MPI_Comm copy;
  if (wrong && rank_of(world) == 1) {
    MPI_Comm_split(world, 0, 0, &copy); /* planted */
  } else {
    MPI_Comm_dup(world, &copy); /* planted */
  }
  MPI_Comm_free(&copy);
}

static void root(int wrong) {
  int value = 0;
  MPI_Bcast(&value, 1, MPI_INT, wrong ? rank_of(world) : 0, world); /* planted */
}

/* The first two ranks agree, as the last two do. */
static void root_of_half(int wrong) {
  int value = 0;
  MPI_Bcast(&value, 1, MPI_INT, wrong && rank_of(world) >= 2 ? 1 : 0, world); /* planted */
}

static void root_of_reduce(int wrong) {
  int value = 1, sum = 0;
  MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, wrong ? rank_of(world) % 2 : 0,
             world); /* planted */
}

static void op(int wrong) {
  int value = 1, sum = 0;
  MPI_Allreduce(&value, &sum, 1, MPI_INT, wrong && rank_of(world) == 1 ? MPI_MAX : MPI_SUM,
                world); /* planted */
}

static void op_of_scan(int wrong) {
  int value = 1, sum = 0;
  MPI_Scan(&value, &sum, 1, MPI_INT, wrong && rank_of(world) == 1 ? MPI_PROD : MPI_SUM,
           world); /* planted */
}

static void count(int wrong) {
  int values[4] = {0};
  MPI_Bcast(values, wrong && rank_of(world) == 1 ? 3 : 4, MPI_INT, 0, world); /* planted */
}

static void type_of_bcast(int wrong) {
  float values[4] = {0};
  MPI_Bcast(values, 4, wrong && rank_of(world) == 1 ? MPI_INT : MPI_FLOAT, 0, world); /* planted */
}

static void type_of_allreduce(int wrong) {
  int values[4] = {0}, sums[4];
  MPI_Allreduce(values, sums, 4, wrong && rank_of(world) == 1 ? MPI_FLOAT : MPI_INT, MPI_SUM,
                world); /* planted */
}

static void gather(int wrong) {
  int values[2] = {0}, all[8];
  MPI_Gather(values, wrong && rank_of(world) == 1 ? 1 : 2, MPI_INT, all, 2, MPI_INT, 0,
             world); /* planted */
}

static void scatter(int wrong) {
  int values[8] = {0};
  float own[2];
  MPI_Scatter(values, 2, MPI_INT, own, 2, wrong ? MPI_FLOAT : MPI_INT, 0, world); /* planted */
}

static void allgather(int wrong) {
  int value = 0, all[8];
  MPI_Allgather(&value, 1, wrong ? MPI_FLOAT : MPI_INT, all, 1, MPI_INT, world); /* planted */
}

static void alltoall(int wrong) {
  int values[8] = {0}, all[8];
  const int each = wrong && rank_of(world) == 1 ? 1 : 2;
  MPI_Alltoall(values, each, MPI_INT, all, each, MPI_INT, world); /* planted */
}

static void gatherv(int wrong) {
  int values[2] = {0}, all[8];
  const int counts[3] = {2, 2, 2}, displacements[3] = {0, 2, 4};
  MPI_Gatherv(values, wrong && rank_of(world) == 1 ? 1 : 2, MPI_INT, all, counts, displacements,
              MPI_INT, 0, world); /* planted */
}

static void scatterv(int wrong) {
  int values[8] = {0}, own[4];
  const int counts[3] = {1, 2, 1}, displacements[3] = {0, 2, 4};
  const int mine = counts[rank_of(world)];
  MPI_Scatterv(values, counts, displacements, MPI_INT, own, wrong ? mine + 1 : mine, MPI_INT, 0,
               world); /* planted */
}

static void allgatherv(int wrong) {
  int values[2] = {0}, all[8];
  const int counts[3] = {1, 2, wrong && rank_of(world) == 0 ? 2 : 1}, displacements[3] = {0, 2, 4};
  const int own[3] = {1, 2, 1};
  MPI_Allgatherv(values, own[rank_of(world)], MPI_INT, all, counts, displacements, MPI_INT,
                 world); /* planted */
}

static void alltoallv(int wrong) {
  int values[8] = {0}, all[8];
  int sends[3] = {1, 1, 1}, receives[3] = {1, 1, 1};
  const int displacements[3] = {0, 2, 4};
  if (wrong && rank_of(world) == 2) sends[0] = 2;
  MPI_Alltoallv(values, sends, displacements, MPI_INT, all, receives, displacements, MPI_INT,
                world); /* planted */
}

static void alltoallw(int wrong) {
  int values[8] = {0}, all[8];
  const int counts[3] = {1, 1, 1}, displacements[3] = {0, 8, 16};
  MPI_Datatype sends[3] = {MPI_INT, MPI_INT, MPI_INT}, receives[3] = {MPI_INT, MPI_INT, MPI_INT};
  if (wrong && rank_of(world) == 1) receives[2] = MPI_FLOAT;
  MPI_Alltoallw(values, counts, displacements, sends, all, counts, displacements, receives,
                world); /* planted */
}

static void reduce_scatter(int wrong) {
  int values[8] = {0}, own[4];
  const int counts[3] = {1, 2, wrong && rank_of(world) == 1 ? 2 : 1};
  MPI_Reduce_scatter(values, own, counts, MPI_INT, MPI_SUM, world); /* planted */
}

static void in_struct(int wrong) {
  struct {
    int i;
    float f;
  } value = {0, 0};

  const int lengths[2] = {1, 1};
  const MPI_Aint displacements[2] = {0, sizeof(int)};
  const MPI_Datatype types[2] = {MPI_INT, wrong && rank_of(world) == 1 ? MPI_INT : MPI_FLOAT};
  MPI_Datatype type;
  MPI_Type_create_struct(2, lengths, displacements, types, &type);
  MPI_Type_commit(&type);
  MPI_Bcast(&value, 1, type, 0, world); /* planted */
  MPI_Type_free(&type);
}

/* Equal elements, described in different ways, are no error. */
static void other_description(int wrong) {
  int values[4] = {0};
  MPI_Datatype vector;
  MPI_Type_vector(2, 1, 2, MPI_INT, &vector);
  MPI_Type_commit(&vector);
  if (rank_of(world) == 1) {
    MPI_Bcast(values, 1, vector, 0, world); /* planted */
  } else {
    MPI_Bcast(values, wrong ? 1 : 2, MPI_INT, 0, world); /* planted */
  }
  MPI_Type_free(&vector);
}

static const struct check_case cases[] = {
    {"order", 2, "collective-order", order},
    {"kind", 3, "collective-order", kind},
    {"blocking", 2, "collective-order", blocking},
    {"nonblocking-order", 2, "collective-order", nonblocking_order},
    {"creation", 2, "collective-order", creation},
    {"root", 3, "collective-root", root},
    {"root-of-half", 4, "collective-root", root_of_half},
    {"root-of-reduce", 2, "collective-root", root_of_reduce},
    {"op", 2, "collective-op", op},
    {"op-of-scan", 2, "collective-op", op_of_scan},
    {"count", 2, "collective-type", count},
    {"type-of-bcast", 2, "collective-type", type_of_bcast},
    {"type-of-allreduce", 2, "collective-type", type_of_allreduce},
    {"gather", 3, "collective-type", gather},
    {"scatter", 3, "collective-type", scatter},
    {"allgather", 3, "collective-type", allgather},
    {"alltoall", 3, "collective-type", alltoall},
    {"gatherv", 3, "collective-type", gatherv},
    {"scatterv", 3, "collective-type", scatterv},
    {"allgatherv", 3, "collective-type", allgatherv},
    {"alltoallv", 3, "collective-type", alltoallv},
    {"alltoallw", 3, "collective-type", alltoallw},
    {"reduce-scatter", 3, "collective-type", reduce_scatter},
    {"in-struct", 2, "collective-type", in_struct},
    {"other-description", 2, "collective-type", other_description},
};

int main(int argc, char** argv) {
  return run_cases(argc, argv, cases, sizeof cases / sizeof *cases);
}
