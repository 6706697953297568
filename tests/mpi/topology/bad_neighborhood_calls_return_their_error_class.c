// Wrong arguments of neighbourhood collectives, and messages that do not fill their block.
#include "../check.h"

static int class_of(int error) {
  int error_class;
  MPI_Error_class(error, &error_class);
  return error_class;
}

#define REFUSED(call, expected) CHECK_EQUAL(class_of(call), expected)

/// On the ring of one rank, where all edges are loops.
static void arguments(MPI_Comm ring) {
  int values[2] = {0, 0}, results[2];
  const int counts[2] = {1, 1}, places[2] = {0, 1}, wrong[2] = {1, -1};
  const MPI_Aint bytes[2] = {0, 4};
  const MPI_Datatype types[2] = {MPI_INT, MPI_INT}, no_types[2] = {MPI_INT, MPI_DATATYPE_NULL};
  MPI_Request request = MPI_REQUEST_NULL;
  const MPI_Comm world = MPI_COMM_WORLD;
  REFUSED(MPI_Neighbor_allgather(values, 1, MPI_INT, results, 1, MPI_INT, world), MPI_ERR_TOPOLOGY);
  REFUSED(MPI_Ineighbor_alltoall(values, 1, MPI_INT, results, 1, MPI_INT, world, &request),
          MPI_ERR_TOPOLOGY);
  REFUSED(MPI_Neighbor_allgather(values, -1, MPI_INT, results, 1, MPI_INT, ring), MPI_ERR_COUNT);
  REFUSED(MPI_Neighbor_allgather(values, 1, MPI_INT, results, -1, MPI_INT, ring), MPI_ERR_COUNT);
  REFUSED(MPI_Neighbor_allgather(MPI_IN_PLACE, 1, MPI_INT, results, 1, MPI_INT, ring),
          MPI_ERR_BUFFER);
  REFUSED(MPI_Neighbor_allgather(values, 1, MPI_INT, NULL, 1, MPI_INT, ring), MPI_ERR_BUFFER);
  REFUSED(MPI_Neighbor_alltoall(NULL, 1, MPI_INT, results, 1, MPI_INT, ring), MPI_ERR_BUFFER);
  REFUSED(MPI_Neighbor_alltoall(values, 1, MPI_DATATYPE_NULL, results, 1, MPI_INT, ring),
          MPI_ERR_TYPE);
  REFUSED(MPI_Neighbor_allgatherv(values, 1, MPI_INT, results, wrong, places, MPI_INT, ring),
          MPI_ERR_COUNT);
  REFUSED(MPI_Neighbor_allgatherv(values, 1, MPI_INT, results, NULL, places, MPI_INT, ring),
          MPI_ERR_ARG);
  REFUSED(
      MPI_Neighbor_alltoallv(values, counts, NULL, MPI_INT, results, counts, places, MPI_INT, ring),
      MPI_ERR_ARG);
  REFUSED(
      MPI_Neighbor_alltoallw(values, counts, bytes, no_types, results, counts, bytes, types, ring),
      MPI_ERR_TYPE);
  REFUSED(MPI_Neighbor_alltoallw_init(values, counts, bytes, types, results, counts, bytes, NULL,
                                      ring, MPI_INFO_NULL, &request),
          MPI_ERR_ARG);
  REFUSED(MPI_Neighbor_allgather_init(values, 1, MPI_INT, results, 1, MPI_INT, ring,
                                      (MPI_Info)values, &request),
          MPI_ERR_INFO);
  CHECK(request == MPI_REQUEST_NULL);
  MPI_Neighbor_allgather_init(values, 1, MPI_INT, results, 1, MPI_INT, ring, MPI_INFO_NULL,
                              &request);
  REFUSED(MPI_Cancel(&request), MPI_ERR_REQUEST);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
  CHECK(request == MPI_REQUEST_NULL);
}

/// A message that is too long, and one that is too short: an error of the call, or of its wait, by
/// the handler of the communicator.
static void amounts(MPI_Comm ring) {
  int values[8] = {0}, results[8];
  MPI_Request request;
  for (int more = -1; more <= 1; more += 2) {
    const int count = 2 + more;
    REFUSED(MPI_Neighbor_allgather(values, count, MPI_INT, results, 2, MPI_INT, ring),
            MPI_ERR_TRUNCATE);
    REFUSED(MPI_Ineighbor_alltoall(values, count, MPI_INT, results, 2, MPI_INT, ring, &request),
            MPI_SUCCESS);
    REFUSED(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    CHECK(request == MPI_REQUEST_NULL);
  }
  // The communicator stays usable.
  REFUSED(MPI_Neighbor_alltoall(values, 2, MPI_INT, results, 2, MPI_INT, ring), MPI_SUCCESS);
}

/// A graph with an edge that has none back.
static void one_way(int ranks) {
  int value = 0, results[2];
  int* index = malloc(sizeof(int) * (size_t)ranks);
  const int edges[1] = {1};
  MPI_Comm graph;
  if (ranks == 1) return;
  for (int i = 0; i < ranks; i++)
    index[i] = 1;
  MPI_Graph_create(MPI_COMM_WORLD, ranks, index, edges, 0, &graph);
  MPI_Comm_set_errhandler(graph, MPI_ERRORS_RETURN);
  REFUSED(MPI_Neighbor_allgather(&value, 1, MPI_INT, results, 1, MPI_INT, graph), MPI_ERR_TOPOLOGY);
  MPI_Comm_free(&graph);
  free(index);
}

int main(int argc, char** argv) {
  const int dims[1] = {1}, periods[1] = {1};
  MPI_Comm ring;
  MPI_Init(&argc, &argv);
  const int ranks = size_of(MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Cart_create(MPI_COMM_SELF, 1, dims, periods, 0, &ring);
  MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
  arguments(ring);
  amounts(ring);
  one_way(ranks);
  MPI_Comm_free(&ring);
  MPI_Finalize();
  return 0;
}
