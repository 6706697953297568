// Wrong arguments of the functions of topologies return their error class, and start nothing.
#include "../check.h"

static int ranks;

static int class_of(int error) {
  int error_class;
  MPI_Error_class(error, &error_class);
  return error_class;
}

#define REFUSED(call, expected) CHECK_EQUAL(class_of(call), expected)

static void graphs(void) {
  MPI_Comm comm;
  int index[2] = {1, 2}, edges[2] = {0, 0}, numbers[4], count, rank;
  const int falling[2] = {2, 1}, outside[1] = {ranks}, one[1] = {1};
  const MPI_Comm world = MPI_COMM_WORLD;
  REFUSED(MPI_Graph_create(world, -1, index, edges, 0, &comm), MPI_ERR_ARG);
  REFUSED(MPI_Graph_create(world, ranks + 1, index, edges, 0, &comm), MPI_ERR_TOPOLOGY);
  REFUSED(MPI_Graph_create(world, 1, one, outside, 0, &comm), MPI_ERR_ARG);
  REFUSED(MPI_Graph_create(world, 1, one, NULL, 0, &comm), MPI_ERR_ARG);
  REFUSED(MPI_Graph_create(world, 1, NULL, edges, 0, &comm), MPI_ERR_ARG);
  if (ranks > 1) REFUSED(MPI_Graph_create(world, 2, falling, edges, 0, &comm), MPI_ERR_ARG);
  REFUSED(MPI_Graph_map(world, -1, index, edges, &rank), MPI_ERR_ARG);
  REFUSED(MPI_Graphdims_get(world, &count, &rank), MPI_ERR_TOPOLOGY);
  REFUSED(MPI_Graph_neighbors(world, 0, 4, numbers), MPI_ERR_TOPOLOGY);
  MPI_Graph_create(world, 1, one, edges, 0, &comm);
  if (comm != MPI_COMM_NULL) {
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    REFUSED(MPI_Graph_neighbors_count(comm, 1, &count), MPI_ERR_RANK);
    REFUSED(MPI_Graph_neighbors(comm, -1, 4, numbers), MPI_ERR_RANK);
    REFUSED(MPI_Graph_neighbors(comm, 0, 0, numbers), MPI_ERR_ARG);
    REFUSED(MPI_Graph_get(comm, 0, 1, numbers, numbers), MPI_ERR_ARG);
    REFUSED(MPI_Graph_get(comm, 1, 0, numbers, numbers), MPI_ERR_ARG);
    REFUSED(MPI_Cartdim_get(comm, &count), MPI_ERR_TOPOLOGY);
    REFUSED(MPI_Dist_graph_neighbors_count(comm, &count, &rank, &rank), MPI_ERR_TOPOLOGY);
    MPI_Comm_free(&comm);
  }
}

/// Ranks that describe different graphs get an error, at least where they share a process.
static void graphs_that_differ(void) {
  MPI_Comm comm;
  int* index = malloc(sizeof(int) * (size_t)ranks);
  int* edges = calloc((size_t)ranks, sizeof(int));
  const int me = rank_in(MPI_COMM_WORLD);
  for (int i = 0; i < ranks; i++)
    index[i] = i + 1;
  edges[0] = me == 0 ? 0 : ranks - 1;
  const int result = class_of(MPI_Graph_create(MPI_COMM_WORLD, ranks, index, edges, 0, &comm));
  CHECK(me == 0 ? result == MPI_SUCCESS : result == MPI_ERR_TOPOLOGY || result == MPI_SUCCESS);
  CHECK_EQUAL(comm == MPI_COMM_NULL, result != MPI_SUCCESS);
  if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
  free(index);
  free(edges);
}

static void distributed_graphs(void) {
  MPI_Comm comm;
  int count;
  const int zero[1] = {0}, one[1] = {1}, minus[1] = {-1}, outside[1] = {ranks};
  const MPI_Comm world = MPI_COMM_WORLD;
  const MPI_Info null = MPI_INFO_NULL;
  int* const none = MPI_UNWEIGHTED;
  REFUSED(MPI_Dist_graph_create(world, -1, zero, one, zero, none, null, 0, &comm), MPI_ERR_ARG);
  REFUSED(MPI_Dist_graph_create(world, 1, outside, one, zero, none, null, 0, &comm), MPI_ERR_RANK);
  REFUSED(MPI_Dist_graph_create(world, 1, zero, minus, zero, none, null, 0, &comm), MPI_ERR_ARG);
  REFUSED(MPI_Dist_graph_create(world, 1, zero, one, minus, none, null, 0, &comm), MPI_ERR_RANK);
  REFUSED(MPI_Dist_graph_create(world, 1, zero, one, NULL, none, null, 0, &comm), MPI_ERR_ARG);
  REFUSED(MPI_Dist_graph_create(world, 1, zero, one, zero, minus, null, 0, &comm), MPI_ERR_ARG);
  REFUSED(MPI_Dist_graph_create(world, 1, zero, one, zero, NULL, null, 0, &comm), MPI_ERR_ARG);
  REFUSED(MPI_Dist_graph_create(world, 1, zero, one, zero, MPI_WEIGHTS_EMPTY, null, 0, &comm),
          MPI_ERR_ARG);
  REFUSED(MPI_Dist_graph_create_adjacent(world, -1, zero, none, 0, zero, none, null, 0, &comm),
          MPI_ERR_ARG);
  REFUSED(MPI_Dist_graph_create_adjacent(world, 1, outside, none, 0, zero, none, null, 0, &comm),
          MPI_ERR_RANK);
  REFUSED(MPI_Dist_graph_create_adjacent(world, 1, zero, none, 1, minus, none, null, 0, &comm),
          MPI_ERR_RANK);
  REFUSED(MPI_Dist_graph_create_adjacent(world, 1, zero, none, 1, zero, one, null, 0, &comm),
          MPI_ERR_ARG);
  REFUSED(MPI_Dist_graph_create_adjacent(world, 1, zero, minus, 1, zero, one, null, 0, &comm),
          MPI_ERR_ARG);
  REFUSED(MPI_Dist_graph_neighbors_count(world, &count, &count, &count), MPI_ERR_TOPOLOGY);
  // Weights on one rank only: every rank gets the error.
  if (ranks > 1) {
    const int me = rank_in(world);
    REFUSED(MPI_Dist_graph_create(world, 1, zero, one, zero, me == 0 ? one : none, null, 0, &comm),
            MPI_ERR_ARG);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  ranks = size_of(MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  graphs();
  graphs_that_differ();
  distributed_graphs();
  MPI_Finalize();
  return 0;
}
