// Graph and distributed graph topologies give back the edges from which they were made, also after
// a duplication. Compared with a graph that every rank computes for itself.
#include "../check.h"

static int me, ranks;

enum { edges_max = 64 };

/// Edge k of a node in a symmetric graph: a ring, with two edges to the right neighbour's side, and
/// a loop at node 0.
static int ring_edges(int node, int nodes, int* edges) {
  int count = 0;
  if (node == 0) edges[count++] = 0;
  edges[count++] = (node + 1) % nodes;
  edges[count++] = (node + nodes - 1) % nodes;
  return count;
}

static void check_graph(MPI_Comm graph, int nodes) {
  int status, node_count, edge_count, neighbor_count, edges[3], neighbors[3];
  MPI_Topo_test(graph, &status);
  CHECK_EQUAL(status, MPI_GRAPH);
  MPI_Graphdims_get(graph, &node_count, &edge_count);
  CHECK_EQUAL(node_count, nodes);
  CHECK_EQUAL(edge_count, 2 * nodes + 1);
  int* index = malloc(sizeof(int) * (size_t)nodes);
  int* all = malloc(sizeof(int) * (size_t)edge_count);
  MPI_Graph_get(graph, nodes, edge_count, index, all);
  int next = 0;
  for (int node = 0; node < nodes; node++) {
    const int count = ring_edges(node, nodes, edges);
    MPI_Graph_neighbors_count(graph, node, &neighbor_count);
    CHECK_EQUAL(neighbor_count, count);
    MPI_Graph_neighbors(graph, node, 3, neighbors);
    for (int i = 0; i < count; i++) {
      CHECK_EQUAL(neighbors[i], edges[i]);
      CHECK_EQUAL(all[next + i], edges[i]);
    }
    next += count;
    CHECK_EQUAL(index[node], next);
  }
  free(index);
  free(all);
}

/// A graph of the first `nodes` ranks.
static void graph_of(int nodes) {
  MPI_Comm graph, copy;
  int* index = malloc(sizeof(int) * (size_t)nodes);
  int* edges = malloc(sizeof(int) * (size_t)(2 * nodes + 1));
  int count = 0, new_rank;
  for (int node = 0; node < nodes; node++) {
    count += ring_edges(node, nodes, edges + count);
    index[node] = count;
  }
  MPI_Graph_map(MPI_COMM_WORLD, nodes, index, edges, &new_rank);
  CHECK_EQUAL(new_rank, me < nodes ? me : MPI_UNDEFINED);
  MPI_Graph_create(MPI_COMM_WORLD, nodes, index, edges, 1, &graph);
  // The library has a copy.
  memset(index, 255, sizeof(int) * (size_t)nodes);
  memset(edges, 255, sizeof(int) * (size_t)(2 * nodes + 1));
  free(index);
  free(edges);
  CHECK_EQUAL(graph == MPI_COMM_NULL, me >= nodes);
  if (graph == MPI_COMM_NULL) return;
  CHECK_EQUAL(size_of(graph), nodes);
  check_graph(graph, nodes);
  MPI_Comm_dup(graph, &copy);
  MPI_Comm_free(&graph);
  check_graph(copy, nodes);
  MPI_Comm_free(&copy);
}

/// The edge k of the random graph, of which rank k % ranks tells.
static void random_edge(int k, int* source, int* destination, int* weight) {
  uint64_t state = 17u * (unsigned)k + 3u;
  *source = random_below(&state, ranks);
  *destination = k % 5 == 0 ? *source : random_below(&state, ranks);
  *weight = random_below(&state, 1000);
}

struct ends {
  int count, ranks[edges_max], weights[edges_max];
};

/// In the order in which the library lists edges: by the contributing rank, then by position.
static void find_ends(int edge_count, int want_sources, struct ends* ends) {
  ends->count = 0;
  for (int teller = 0; teller < ranks; teller++) {
    for (int k = teller; k < edge_count; k += ranks) {
      int source, destination, weight;
      random_edge(k, &source, &destination, &weight);
      if ((want_sources ? destination : source) != me || ends->count == edges_max) continue;
      ends->ranks[ends->count] = want_sources ? source : destination;
      ends->weights[ends->count++] = weight;
    }
  }
}

static void check_dist_graph(MPI_Comm graph,
                             int is_weighted,
                             const struct ends* in,
                             const struct ends* out) {
  int status, in_count, out_count, weighted;
  struct ends sources, destinations;
  MPI_Topo_test(graph, &status);
  CHECK_EQUAL(status, MPI_DIST_GRAPH);
  MPI_Dist_graph_neighbors_count(graph, &in_count, &out_count, &weighted);
  CHECK_EQUAL(in_count, in->count);
  CHECK_EQUAL(out_count, out->count);
  CHECK_EQUAL(weighted, is_weighted);
  MPI_Dist_graph_neighbors(graph, in_count, sources.ranks,
                           is_weighted ? sources.weights : MPI_UNWEIGHTED, out_count,
                           destinations.ranks, is_weighted ? destinations.weights : MPI_UNWEIGHTED);
  for (int i = 0; i < in_count; i++) {
    CHECK_EQUAL(sources.ranks[i], in->ranks[i]);
    if (is_weighted) CHECK_EQUAL(sources.weights[i], in->weights[i]);
  }
  for (int i = 0; i < out_count; i++) {
    CHECK_EQUAL(destinations.ranks[i], out->ranks[i]);
    if (is_weighted) CHECK_EQUAL(destinations.weights[i], out->weights[i]);
  }
  // A caller may ask for fewer, and for none.
  if (in_count > 1) {
    sources.ranks[1] = -7;
    MPI_Dist_graph_neighbors(graph, 1, sources.ranks, sources.weights, 0, NULL, NULL);
    CHECK_EQUAL(sources.ranks[0], in->ranks[0]);
    CHECK_EQUAL(sources.ranks[1], -7);
  }
}

static void distributed(int edge_count, int is_weighted) {
  struct ends in, out;
  MPI_Comm graph, copy, adjacent;
  MPI_Info info;
  int own = 0, status;
  int sources[edges_max], degrees[edges_max], destinations[edges_max], weights[edges_max];
  for (int k = me; k < edge_count && own < edges_max; k += ranks, own++) {
    random_edge(k, &sources[own], &destinations[own], &weights[own]);
    degrees[own] = 1;
  }
  find_ends(edge_count, 1, &in);
  find_ends(edge_count, 0, &out);
  MPI_Info_create(&info);
  MPI_Info_set(info, "some_hint", "1");
  const int* given = own == 0 ? MPI_WEIGHTS_EMPTY : weights;
  MPI_Dist_graph_create(MPI_COMM_WORLD, own, sources, degrees, destinations,
                        is_weighted ? given : MPI_UNWEIGHTED, info, 1, &graph);
  MPI_Info_free(&info);
  CHECK_EQUAL(rank_in(graph), me);
  check_dist_graph(graph, is_weighted, &in, &out);
  MPI_Comm_dup(graph, &copy);
  MPI_Comm_free(&graph);
  check_dist_graph(copy, is_weighted, &in, &out);

  const int* in_weights = in.count == 0 ? MPI_WEIGHTS_EMPTY : in.weights;
  const int* out_weights = out.count == 0 ? MPI_WEIGHTS_EMPTY : out.weights;
  MPI_Dist_graph_create_adjacent(
      copy, in.count, in.ranks, is_weighted ? in_weights : MPI_UNWEIGHTED, out.count, out.ranks,
      is_weighted ? out_weights : MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &adjacent);
  check_dist_graph(adjacent, is_weighted, &in, &out);
  MPI_Comm_free(&adjacent);
  // A split has no topology.
  MPI_Comm_split(copy, 0, 0, &graph);
  MPI_Topo_test(graph, &status);
  CHECK_EQUAL(status, MPI_UNDEFINED);
  MPI_Comm_free(&graph);
  MPI_Comm_free(&copy);
}

/// One rank describes the edges of all.
static void from_one_rank(void) {
  MPI_Comm graph;
  int* sources = malloc(sizeof(int) * (size_t)ranks);
  int* degrees = malloc(sizeof(int) * (size_t)ranks);
  int* destinations = malloc(sizeof(int) * 2 * (size_t)ranks);
  int in_count, out_count, weighted, in[2], out[2];
  for (int i = 0; i < ranks; i++) {
    sources[i] = i;
    degrees[i] = 2;
    destinations[2 * i] = (i + 1) % ranks;
    destinations[2 * i + 1] = (i + ranks - 1) % ranks;
  }
  MPI_Dist_graph_create(MPI_COMM_WORLD, me == ranks - 1 ? ranks : 0, sources, degrees, destinations,
                        MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph);
  MPI_Dist_graph_neighbors_count(graph, &in_count, &out_count, &weighted);
  CHECK_EQUAL(in_count, 2);
  CHECK_EQUAL(out_count, 2);
  CHECK_EQUAL(weighted, 0);
  // Arrays for weights stay as they are where there are none.
  int in_weights[2] = {-7, -7}, out_weights[2] = {-7, -7};
  MPI_Dist_graph_neighbors(graph, 2, in, in_weights, 2, out, out_weights);
  CHECK_EQUAL(in_weights[0] + in_weights[1], -14);
  CHECK_EQUAL(out_weights[0] + out_weights[1], -14);
  CHECK_EQUAL(out[0], (me + 1) % ranks);
  CHECK_EQUAL(out[1], (me + ranks - 1) % ranks);
  CHECK_EQUAL(in[0] + in[1], (me + 1) % ranks + (me + ranks - 1) % ranks);
  MPI_Comm_free(&graph);
  free(sources);
  free(degrees);
  free(destinations);
}

/// A graph is weighted unless MPI_UNWEIGHTED was passed, also without edges.
static void no_edges(void) {
  const int* const weights[3] = {NULL, MPI_WEIGHTS_EMPTY, MPI_UNWEIGHTED};
  MPI_Comm graph;
  int in_count, out_count, weighted;
  for (int i = 0; i < 3; i++) {
    MPI_Dist_graph_create(MPI_COMM_WORLD, 0, NULL, NULL, NULL, weights[i], MPI_INFO_NULL, 0,
                          &graph);
    MPI_Dist_graph_neighbors_count(graph, &in_count, &out_count, &weighted);
    CHECK_EQUAL(in_count + out_count, 0);
    CHECK_EQUAL(weighted, i < 2);
    MPI_Comm_free(&graph);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, weights[i], 0, NULL, weights[i],
                                   MPI_INFO_NULL, 0, &graph);
    MPI_Dist_graph_neighbors_count(graph, &in_count, &out_count, &weighted);
    CHECK_EQUAL(weighted, i < 2);
    MPI_Comm_free(&graph);
  }
}

int main(int argc, char** argv) {
  MPI_Comm none;
  MPI_Init(&argc, &argv);
  ranks = size_of(MPI_COMM_WORLD);
  me = rank_in(MPI_COMM_WORLD);
  graph_of(ranks);
  graph_of((ranks + 1) / 2);
  MPI_Graph_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &none);
  CHECK(none == MPI_COMM_NULL);
  distributed(3 * ranks, 1);
  distributed(2 * ranks + 1, 0);
  distributed(0, 1);
  from_one_rank();
  no_edges();
  MPI_Finalize();
  return 0;
}
