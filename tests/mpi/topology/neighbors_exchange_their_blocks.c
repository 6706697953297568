// Neighbourhood collectives, blocking, nonblocking and persistent, over grids, graphs and
// distributed graphs: compared with sends and receives along the edges. In a grid, what a rank
// sends in one direction arrives in the block of the opposite direction, also where both neighbours
// are the same rank.
#include "../check.h"

static int me, ranks;

enum kind { allgather, allgatherv, alltoall, alltoallv, alltoallw, kind_count };

enum { edges_max = 32, round_count = 3 };

static const MPI_Comm no_comm = MPI_COMM_NULL;

/// The edges of this rank; tags tell several edges between two ranks apart where the standard does.
struct edges {
  MPI_Comm comm;
  MPI_Comm model;
  int in, out;
  int sources[edges_max], destinations[edges_max];
  int is_grid;
};

/// One side's blocks.
struct blocks {
  int counts[edges_max], places[edges_max];
  MPI_Aint bytes[edges_max];
  MPI_Datatype types[edges_max];
  int* data;
  int total;
};

/// Elements of an edge's message.
static int edge_count(enum kind kind, int source, int destination) {
  switch (kind) {
    case allgather:
    case alltoall:
      return 3;
    case allgatherv:
      return source % 4;
    default:
      return (source * 3 + destination) % 4;
  }
}

static void lay_out(
    struct blocks* blocks, enum kind kind, int count, const int* ends, int is_send) {
  blocks->total = 0;
  for (int i = 0; i < count; i++) {
    const int is_uniform = kind == allgather || kind == alltoall;
    int elements = is_uniform ? 3 : 0;
    if (ends[i] != MPI_PROC_NULL)
      elements = is_send ? edge_count(kind, me, ends[i]) : edge_count(kind, ends[i], me);
    blocks->counts[i] = elements;
    // With gaps, unless the blocks are contiguous by definition.
    blocks->places[i] = is_uniform ? 3 * i : blocks->total + i;
    blocks->bytes[i] = (MPI_Aint)sizeof(int) * blocks->places[i];
    blocks->types[i] = MPI_INT;
    blocks->total += elements;
  }
  blocks->total += count;
  blocks->data = malloc(sizeof(int) * (size_t)(blocks->total + 1));
}

static void fill(struct blocks* send, enum kind kind, int round, int out) {
  for (int i = 0; i < out; i++)
    for (int k = 0; k < send->counts[i]; k++)
      send->data[send->places[i] + k] = me * 10000 + round * 1000 + i * 10 + k;
  if (kind == allgather || kind == allgatherv)
    for (int k = 0; k < 3; k++)
      send->data[k] = me * 10000 + round * 1000 + k;
}

static void clear(struct blocks* blocks) {
  for (int i = 0; i < blocks->total; i++)
    blocks->data[i] = -1;
}

/// Exchanges the blocks by sends and receives.
static void model(const struct edges* edges,
                  enum kind kind,
                  struct blocks* send,
                  struct blocks* to) {
  MPI_Request requests[2 * edges_max];
  const int is_gather = kind == allgather || kind == allgatherv;
  for (int i = 0; i < edges->in; i++)
    MPI_Irecv(to->data + to->places[i], to->counts[i], MPI_INT, edges->sources[i],
              edges->is_grid ? i ^ 1 : 0, edges->model, &requests[i]);
  for (int i = 0; i < edges->out; i++)
    MPI_Isend(is_gather ? send->data : send->data + send->places[i],
              is_gather ? edge_count(kind, me, me) : send->counts[i], MPI_INT,
              edges->destinations[i], edges->is_grid ? i : 0, edges->model,
              &requests[edges->in + i]);
  MPI_Waitall(edges->in + edges->out, requests, MPI_STATUSES_IGNORE);
}

enum form { blocking, nonblocking, persistent, form_count };

static void call(const struct edges* edges,
                 enum kind kind,
                 enum form form,
                 struct blocks* send,
                 struct blocks* to,
                 MPI_Request* request) {
  const MPI_Comm comm = edges->comm;
  const int own = edge_count(kind, me, me);
  int *const from = send->data, *const into = to->data;
  const MPI_Info info = MPI_INFO_NULL;
#define CALL(name, ...)                               \
  if (form == blocking)                               \
    MPI_Neighbor_##name(__VA_ARGS__, comm);           \
  else if (form == nonblocking)                       \
    MPI_Ineighbor_##name(__VA_ARGS__, comm, request); \
  else                                                \
    MPI_Neighbor_##name##_init(__VA_ARGS__, comm, info, request);
  switch (kind) {
    case allgather:
      CALL(allgather, from, own, MPI_INT, into, 3, MPI_INT)
      break;
    case allgatherv:
      CALL(allgatherv, from, own, MPI_INT, into, to->counts, to->places, MPI_INT)
      break;
    case alltoall:
      CALL(alltoall, from, 3, MPI_INT, into, 3, MPI_INT)
      break;
    case alltoallv:
      CALL(alltoallv, from, send->counts, send->places, MPI_INT, into, to->counts, to->places,
           MPI_INT)
      break;
    default:
      CALL(alltoallw, from, send->counts, send->bytes, send->types, into, to->counts, to->bytes,
           to->types)
  }
#undef CALL
}

static void compare(const struct blocks* got, const struct blocks* expected) {
  for (int i = 0; i < expected->total; i++)
    CHECK_EQUAL(got->data[i], expected->data[i]);
}

static void each_form(const struct edges* edges, enum kind kind) {
  struct blocks send, other_send, to, other_to, expected;
  const int is_gather = kind == allgather || kind == allgatherv;
  lay_out(&send, is_gather ? alltoall : kind, edges->out, edges->destinations, 1);
  lay_out(&other_send, is_gather ? alltoall : kind, edges->out, edges->destinations, 1);
  if (is_gather && edges->out == 0) {
    send.data = realloc(send.data, 3 * sizeof(int));
    other_send.data = realloc(other_send.data, 3 * sizeof(int));
  }
  lay_out(&to, kind, edges->in, edges->sources, 0);
  lay_out(&other_to, kind, edges->in, edges->sources, 0);
  lay_out(&expected, kind, edges->in, edges->sources, 0);
  MPI_Request requests[2];

  fill(&send, kind, 0, edges->out);
  clear(&expected);
  model(edges, kind, &send, &expected);
  clear(&to);
  call(edges, kind, blocking, &send, &to, NULL);
  compare(&to, &expected);

  // Two at once, which end in either order.
  clear(&to);
  clear(&other_to);
  fill(&other_send, kind, 1, edges->out);
  call(edges, kind, nonblocking, &send, &to, &requests[0]);
  call(edges, kind, nonblocking, &other_send, &other_to, &requests[1]);
  if (me % 2 == 0) {
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  } else {
    int flag = 0;
    while (!flag)
      MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
  }
  CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
  compare(&to, &expected);
  clear(&expected);
  model(edges, kind, &other_send, &expected);
  compare(&other_to, &expected);

  call(edges, kind, persistent, &send, &to, &requests[0]);
  call(edges, kind, persistent, &other_send, &other_to, &requests[1]);
  for (int round = 0; round < round_count; round++) {
    fill(&send, kind, round, edges->out);
    fill(&other_send, kind, round + 1, edges->out);
    clear(&to);
    clear(&other_to);
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    clear(&expected);
    model(edges, kind, &send, &expected);
    compare(&to, &expected);
    clear(&expected);
    model(edges, kind, &other_send, &expected);
    compare(&other_to, &expected);
  }
  MPI_Request_free(&requests[0]);
  MPI_Request_free(&requests[1]);
  free(send.data);
  free(other_send.data);
  free(to.data);
  free(other_to.data);
  free(expected.data);
}

static void over(struct edges* edges) {
  MPI_Comm_split(edges->comm, 0, 0, &edges->model);
  for (int kind = 0; kind < kind_count; kind++)
    each_form(edges, (enum kind)kind);
  MPI_Comm_free(&edges->model);
  MPI_Comm_free(&edges->comm);
}

static void over_grid(int dimensions, const int* dims, const int* periods) {
  struct edges edges = {.comm = no_comm, .in = 2 * dimensions, .out = 2 * dimensions, .is_grid = 1};
  MPI_Cart_create(MPI_COMM_WORLD, dimensions, dims, periods, 0, &edges.comm);
  if (edges.comm == MPI_COMM_NULL) return;
  for (int d = 0; d < dimensions; d++)
    MPI_Cart_shift(edges.comm, d, 1, &edges.sources[2 * d], &edges.sources[2 * d + 1]);
  memcpy(edges.destinations, edges.sources, sizeof edges.sources);
  over(&edges);
}

static void over_grids(void) {
  const int one[1] = {1}, two[1] = {2}, all[1] = {ranks}, none[1] = {0}, around[3] = {1, 1, 1};
  const int thin[3] = {1, ranks / 2 > 0 ? ranks / 2 : 1, ranks > 1 ? 2 : 1}, mixed[3] = {0, 1, 0};
  over_grid(1, all, none);
  over_grid(1, all, around);
  over_grid(1, one, around);
  if (ranks > 1) over_grid(1, two, around);
  over_grid(3, thin, around);
  over_grid(3, thin, mixed);
  over_grid(0, NULL, NULL);
}

/// A ring with two edges between node 0 and the last one, and two loops at node 0.
static void over_graph(void) {
  struct edges edges = {.comm = no_comm, .is_grid = 0};
  int* index = malloc(sizeof(int) * (size_t)ranks);
  int* list = malloc(sizeof(int) * (size_t)(2 * ranks + 8));
  int count = 0;
  for (int node = 0; node < ranks; node++) {
    list[count++] = (node + 1) % ranks;
    list[count++] = (node + ranks - 1) % ranks;
    if (node == 0) list[count++] = ranks - 1;
    if (node == ranks - 1) list[count++] = 0;
    if (node == 0) list[count++] = 0;
    index[node] = count;
  }
  MPI_Graph_create(MPI_COMM_WORLD, ranks, index, list, 0, &edges.comm);
  MPI_Graph_neighbors_count(edges.comm, me, &edges.in);
  MPI_Graph_neighbors(edges.comm, me, edges_max, edges.sources);
  edges.out = edges.in;
  memcpy(edges.destinations, edges.sources, sizeof edges.sources);
  over(&edges);
  free(index);
  free(list);
}

/// Two edges to the next rank, a loop, one to the rank three on, and none from the last one, which
/// has more edges in.
static void over_dist_graph(void) {
  struct edges edges = {.comm = no_comm, .is_grid = 0};
  const int steps[4] = {1, 1, 0, 3};
  for (int i = 0; i < 4; i++) {
    if (me != ranks - 1) edges.destinations[edges.out++] = (me + steps[i]) % ranks;
    const int source = ((me - steps[3 - i]) % ranks + ranks) % ranks;
    if (source != ranks - 1) edges.sources[edges.in++] = source;
  }
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, edges.in, edges.sources, MPI_UNWEIGHTED, edges.out,
                                 edges.destinations, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &edges.comm);
  over(&edges);
}

/// Ranks without edges: their lists may be null pointers.
static void over_no_edges(void) {
  MPI_Comm empty;
  MPI_Request requests[6];
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &empty);
  MPI_Neighbor_allgatherv(NULL, 0, MPI_INT, NULL, NULL, NULL, MPI_INT, empty);
  MPI_Neighbor_alltoallv(NULL, NULL, NULL, MPI_INT, NULL, NULL, NULL, MPI_INT, empty);
  MPI_Neighbor_alltoallw(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, empty);
  MPI_Ineighbor_allgatherv(NULL, 0, MPI_INT, NULL, NULL, NULL, MPI_INT, empty, &requests[0]);
  MPI_Ineighbor_alltoallv(NULL, NULL, NULL, MPI_INT, NULL, NULL, NULL, MPI_INT, empty,
                          &requests[1]);
  MPI_Ineighbor_alltoallw(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, empty, &requests[2]);
  MPI_Neighbor_allgatherv_init(NULL, 0, MPI_INT, NULL, NULL, NULL, MPI_INT, empty, MPI_INFO_NULL,
                               &requests[3]);
  MPI_Neighbor_alltoallv_init(NULL, NULL, NULL, MPI_INT, NULL, NULL, NULL, MPI_INT, empty,
                              MPI_INFO_NULL, &requests[4]);
  MPI_Neighbor_alltoallw_init(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, empty, MPI_INFO_NULL,
                              &requests[5]);
  MPI_Startall(3, &requests[3]);
  MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
  for (int i = 3; i < 6; i++)
    MPI_Request_free(&requests[i]);
  MPI_Comm_free(&empty);
}

static void fill_long(int* send, int count, int round) {
  for (int i = 0; i < 2 * count; i++)
    send[i] = me * 1000000 + round * 1000 + i;
}

/// Messages that stay with their sender until they are received, or that two workers copy together;
/// and messages of the user beside.
static void long_blocks(int count) {
  const int dims[1] = {ranks}, periods[1] = {1};
  MPI_Comm ring;
  MPI_Request requests[3], again;
  int left, right, got, *send = malloc(2 * sizeof(int) * (size_t)count);
  int* to = malloc(2 * sizeof(int) * (size_t)count);
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &ring);
  MPI_Cart_shift(ring, 0, 1, &left, &right);
  MPI_Neighbor_alltoall_init(send, count, MPI_INT, to, count, MPI_INT, ring, MPI_INFO_NULL, &again);
  for (int round = 0; round < 10; round++) {
    const enum form form = (enum form)(round % form_count);
    fill_long(send, count, round);
    memset(to, 255, 2 * sizeof(int) * (size_t)count);
    got = -1;
    requests[1] = form == persistent ? again : MPI_REQUEST_NULL;
    MPI_Irecv(&got, 1, MPI_INT, left, MPI_ANY_TAG, ring, &requests[0]);
    if (form == blocking)
      MPI_Neighbor_alltoall(send, count, MPI_INT, to, count, MPI_INT, ring);
    else if (form == nonblocking)
      MPI_Ineighbor_alltoall(send, count, MPI_INT, to, count, MPI_INT, ring, &requests[1]);
    else
      MPI_Start(&requests[1]);
    MPI_Isend(&me, 1, MPI_INT, right, 0, ring, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    CHECK_EQUAL(got, left);
    for (int i = 0; i < count; i++) {
      CHECK_EQUAL(to[i], left * 1000000 + round * 1000 + count + i);
      CHECK_EQUAL(to[count + i], right * 1000000 + round * 1000 + i);
    }
  }
  MPI_Request_free(&again);
  MPI_Comm_free(&ring);
  free(send);
  free(to);
}

/// A type with gaps at the sender, in large-count calls.
static void derived_types(void) {
  const int dims[1] = {ranks}, periods[1] = {0};
  MPI_Comm line;
  MPI_Datatype column;
  int left, right, grid[4][3], to[8];
  MPI_Type_vector(4, 1, 3, MPI_INT, &column);
  MPI_Type_commit(&column);
  MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &line);
  MPI_Cart_shift(line, 0, 1, &left, &right);
  for (int i = 0; i < 12; i++)
    grid[i / 3][i % 3] = me * 100 + i;
  memset(to, 255, sizeof to);
  const MPI_Count ones[2] = {1, 1}, fours[2] = {4, 4};
  const MPI_Aint columns[2] = {0, 2 * sizeof(int)}, halves[2] = {0, 4 * sizeof(int)};
  const MPI_Datatype types[2] = {column, column}, ints[2] = {MPI_INT, MPI_INT};
  MPI_Neighbor_alltoallw_c(grid, ones, columns, types, to, fours, halves, ints, line);
  for (int i = 0; i < 4; i++) {
    CHECK_EQUAL(to[i], left == MPI_PROC_NULL ? -1 : left * 100 + 3 * i + 2);
    CHECK_EQUAL(to[4 + i], right == MPI_PROC_NULL ? -1 : right * 100 + 3 * i);
  }
  MPI_Comm_free(&line);
  MPI_Type_free(&column);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  ranks = size_of(MPI_COMM_WORLD);
  me = rank_in(MPI_COMM_WORLD);
  over_grids();
  over_graph();
  over_dist_graph();
  over_no_edges();
  for (int count = 20000; ranks <= 16 && count <= 60000; count += 40000)
    long_blocks(count);
  derived_types();
  MPI_Finalize();
  return 0;
}
