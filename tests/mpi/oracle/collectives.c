// collectives [ROUNDS]: random collectives, blocking, nonblocking (several at once) and persistent,
// on random communicators: duplicates, parts, parts of parts, pairs of groups. All members of a
// communicator draw the same numbers, so each knows what every other one sends. The operands of a
// sum hold 1, the rank and its square: a wrong sum names the rank that is missing or counted twice.
#include "../check.h"

enum { outstanding_max = 4, count_max = 300, elements_max = 30000 };

typedef long long Value;

typedef enum {
  barrier,
  bcast,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  alltoallw,
  reduce,
  allreduce,
  reduce_scatter,
  reduce_scatter_block,
  scan,
  exscan,
  kind_count
} Kind;

static const char* const names[kind_count] = {
    "Barrier",   "Bcast",     "Gather",     "Gatherv",        "Scatter",
    "Scatterv",  "Allgather", "Allgatherv", "Alltoall",       "Alltoallv",
    "Alltoallw", "Reduce",    "Allreduce",  "Reduce_scatter", "Reduce_scatter_block",
    "Scan",      "Exscan"};

typedef enum { op_sum, op_max, op_xor, op_affine, op_count } Op;

static MPI_Datatype pair_type;
static MPI_Op affine_op;
static long call_count;

enum { prime = 1000003 };

/// Composition of maps x -> a x + b: associative, and not commutative.
static void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  const Value* left = in;
  Value* right = inout;
  for (int i = 0; i < *count; i++) {
    const Value a = left[2 * i] * right[2 * i] % prime;
    right[2 * i + 1] = (left[2 * i] * right[2 * i + 1] + left[2 * i + 1]) % prime;
    right[2 * i] = a;
  }
}

typedef struct {
  MPI_Comm comm;
  int size, rank;
  Kind kind;
  Op op;
  int is_double, is_in_place;
  long number;
  int root, count;
  int* counts;   // of each member; of a row of alltoallv: to each member
  int* places;   // of each member's block in the long buffer
  int* counts2;  // what comes in, for alltoallv and alltoallw
  int* places2;
  MPI_Datatype* types;
  Value *send, *recv;
  size_t send_length, recv_length;
  MPI_Request request;
} Call;

/// What member `from` sends to member `to` as element e.
static Value value_of(const Call* call, int from, int to, int e) {
  return call->number * 100000007LL + from * 100003LL + to * 1009LL + e;
}

static Value bits_of(Value value, int is_double) {
  if (!is_double) return value;
  const double real = (double)value;
  Value bits;
  memcpy(&bits, &real, sizeof bits);
  return bits;
}

/// Member i's element e of a reduction.
static Value operand_of(const Call* call, int i, int e) {
  switch (call->op) {
    case op_sum:
      switch (e % 4) {
        case 0:
          return i + 1;
        case 1:
          return 1;
        case 2:
          return (Value)(i + 1) * (i + 1);
        default:
          return call->number % 1000 + e;
      }
    case op_max:
      return (i * 31 + e * 17 + call->number) % (call->size + 5);
    case op_xor:
      return (Value)(((uint64_t)i + 1) * 0x9e3779b97f4a7c15u ^
                     (uint64_t)(e * 77777 + call->number));
    default:
      return (i * 7919LL + e * 104729LL + call->number * 31LL + 2) % prime;
  }
}

/// The total of members 0 to last: element e (of the affine operation, one of a pair).
static Value total_of(const Call* call, int last, int e) {
  if (call->op == op_affine) {
    const int first = e - e % 2;
    Value pair[2] = {operand_of(call, 0, first), operand_of(call, 0, first + 1)};
    for (int i = 1; i <= last; i++) {
      Value next[2] = {operand_of(call, i, first), operand_of(call, i, first + 1)};
      int one = 1;
      compose(pair, next, &one, NULL);
      pair[0] = next[0];
      pair[1] = next[1];
    }
    return pair[e % 2];
  }
  Value total = operand_of(call, 0, e);
  for (int i = 1; i <= last; i++) {
    const Value next = operand_of(call, i, e);
    if (call->op == op_sum) total += next;
    if (call->op == op_max && next > total) total = next;
    if (call->op == op_xor) total ^= next;
  }
  return total;
}

static Value number_of(Value bits, int is_double) {
  if (!is_double) return bits;
  double real;
  memcpy(&real, &bits, sizeof real);
  return (Value)real;
}

static void wrong(const Call* call, int from, int e, Value found_bits, Value expected_bits) {
  const Value found = number_of(found_bits, call->is_double);
  const Value expected = number_of(expected_bits, call->is_double);
  fprintf(
      stderr,
      "oracle collectives: MPI_%s, call %ld: %d members, member %d is rank %d, root %d, count %d, "
      "operation %d, %s: element %d of member %d is %lld, not %lld\n",
      names[call->kind], call->number, call->size, call->rank, rank_in(MPI_COMM_WORLD), call->root,
      call->count, call->op, call->is_double ? "double" : "integer", e, from, found, expected);
  const Value missing = expected - found - 1;
  if (call->kind >= reduce && call->op == op_sum && e % 4 == 0 && missing >= 0 &&
      missing < call->size)
    fprintf(stderr, "oracle collectives: as if member %lld were missing\n", missing);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void expect(const Call* call, int from, int e, Value found, Value expected) {
  if (found != expected) wrong(call, from, e, found, expected);
}

static Value* make_values(size_t length) {
  Value* values = malloc((length + 1) * sizeof *values);
  for (size_t i = 0; i <= length; i++)
    values[i] = -77;
  return values;
}

/// Blocks of random lengths in random order, with gaps.
static size_t place_blocks(uint64_t* random, int size, const int* counts, int* places) {
  const int first = random_below(random, size), gap = random_below(random, 3);
  int at = 0;
  for (int k = 0; k < size; k++) {
    const int i = (first + k) % size;
    places[i] = at;
    at += counts[i] + gap;
  }
  return (size_t)at;
}

static int count_between(const Call* call, int from, int to) {
  uint64_t state = (uint64_t)call->number * 1000003u + (uint64_t)from * 4099u + (uint64_t)to;
  return random_below(&state, call->count + 1);
}

static void draw(Call* call, MPI_Comm comm, uint64_t* random, long number) {
  memset(call, 0, sizeof *call);
  call->comm = comm;
  call->size = size_of(comm);
  call->rank = rank_in(comm);
  call->number = number;
  call->kind = (Kind)random_below(random, kind_count);
  // Short reductions and barriers have a path of their own: half of all calls.
  if (random_below(random, 2) == 0) call->kind = random_below(random, 4) == 0 ? barrier : allreduce;
  call->root = random_below(random, call->size);
  call->op = (Op)random_below(random, op_count);
  call->is_double = call->op < op_xor && random_below(random, 2);
  call->is_in_place = random_below(random, 4) == 0;
  const int limit = elements_max / call->size < count_max ? elements_max / call->size : count_max;
  call->count = 1 + (random_below(random, 3) != 0 ? random_below(random, 4)
                                                  : random_below(random, limit + 1));
  if (call->op == op_affine && call->kind >= reduce) call->count += call->count % 2;
  call->counts = calloc((size_t)call->size, sizeof(int));
  call->places = calloc((size_t)call->size, sizeof(int));
  for (int i = 0; i < call->size; i++) {
    call->counts[i] = random_below(random, call->count + 1);
    if (call->kind == reduce_scatter && call->op == op_affine)
      call->counts[i] -= call->counts[i] % 2;
  }
}

static MPI_Datatype type_of(const Call* call) {
  if (call->kind >= reduce && call->op == op_affine) return pair_type;
  return call->is_double ? MPI_DOUBLE : MPI_LONG_LONG;
}

static MPI_Op operation_of(const Call* call) {
  const MPI_Op operations[op_count] = {MPI_SUM, MPI_MAX, MPI_BXOR, affine_op};
  return operations[call->op];
}

/// Buffers, and what this member sends.
static void prepare(Call* call, uint64_t* random) {
  const int size = call->size, rank = call->rank, count = call->count;
  const int is_root = rank == call->root;
  size_t send = 0, recv = 0;
  switch (call->kind) {
    case barrier:
      break;
    case bcast:
      recv = (size_t)count;
      break;
    case gather:
    case allgather:
      send = (size_t)count;
      recv = (size_t)(count * size);
      break;
    case gatherv:
    case allgatherv:
      send = (size_t)call->counts[rank];
      recv = place_blocks(random, size, call->counts, call->places);
      break;
    case scatter:
      send = (size_t)(count * size);
      recv = (size_t)count;
      break;
    case scatterv:
      send = place_blocks(random, size, call->counts, call->places);
      recv = (size_t)call->counts[rank];
      break;
    case alltoall:
      send = recv = (size_t)(count * size);
      break;
    case alltoallv:
    case alltoallw:
      call->counts2 = calloc((size_t)size, sizeof(int));
      call->places2 = calloc((size_t)size, sizeof(int));
      for (int i = 0; i < size; i++) {
        call->counts[i] = count_between(call, rank, i);
        call->counts2[i] = count_between(call, i, rank);
      }
      send = place_blocks(random, size, call->counts, call->places);
      recv = place_blocks(random, size, call->counts2, call->places2);
      break;
    case reduce_scatter:
      for (int i = 0; i < size; i++)
        send += (size_t)call->counts[i];
      recv = (size_t)call->counts[rank];
      break;
    case reduce_scatter_block:
      send = (size_t)(count * size);
      recv = (size_t)count;
      break;
    default:
      send = recv = (size_t)count;
  }
  call->send = make_values(send);
  call->recv = make_values(recv);
  call->send_length = send;
  call->recv_length = recv;
  const int is_double = call->is_double;
  switch (call->kind) {
    case bcast:
      for (int e = 0; e < count && is_root; e++)
        call->recv[e] = bits_of(value_of(call, rank, 0, e), is_double);
      break;
    case scatter:
    case alltoall:
      for (int i = 0; i < size; i++)
        for (int e = 0; e < count; e++)
          call->send[i * count + e] = bits_of(value_of(call, rank, i, e), is_double);
      break;
    case scatterv:
    case alltoallv:
    case alltoallw:
      for (int i = 0; i < size; i++)
        for (int e = 0; e < call->counts[i]; e++)
          call->send[call->places[i] + e] = bits_of(value_of(call, rank, i, e), is_double);
      break;
    default:
      for (size_t e = 0; e < send; e++) {
        const Value value =
            call->kind >= reduce ? operand_of(call, rank, (int)e) : value_of(call, rank, 0, (int)e);
        call->send[e] = bits_of(value, is_double);
      }
  }
  if (call->kind == alltoallw) {
    call->types = malloc((size_t)size * sizeof *call->types);
    for (int i = 0; i < size; i++) {
      call->types[i] = type_of(call);
      call->places[i] *= (int)sizeof(Value);
      call->places2[i] *= (int)sizeof(Value);
    }
  }
}

/// The send buffer, or MPI_IN_PLACE with its contents in the receive buffer.
static const void* source_of(Call* call) {
  const int may_be = call->kind == allreduce || call->kind == scan || call->kind == exscan ||
                     (call->kind == reduce && call->rank == call->root);
  if (!may_be || !call->is_in_place) return call->send;
  memcpy(call->recv, call->send, call->send_length * sizeof(Value));
  return MPI_IN_PLACE;
}

/// form 0: blocking, 1: nonblocking, 2: persistent.
#define ISSUE(NAME, ...)                           \
  (form == 0   ? MPI_##NAME(__VA_ARGS__, c)        \
   : form == 1 ? MPI_I##NAME##_(__VA_ARGS__, c, q) \
               : MPI_##NAME##_init(__VA_ARGS__, c, MPI_INFO_NULL, q))
#define MPI_IBcast_ MPI_Ibcast
#define MPI_IGather_ MPI_Igather
#define MPI_IGatherv_ MPI_Igatherv
#define MPI_IScatter_ MPI_Iscatter
#define MPI_IScatterv_ MPI_Iscatterv
#define MPI_IAllgather_ MPI_Iallgather
#define MPI_IAllgatherv_ MPI_Iallgatherv
#define MPI_IAlltoall_ MPI_Ialltoall
#define MPI_IAlltoallv_ MPI_Ialltoallv
#define MPI_IAlltoallw_ MPI_Ialltoallw
#define MPI_IReduce_ MPI_Ireduce
#define MPI_IAllreduce_ MPI_Iallreduce
#define MPI_IReduce_scatter_ MPI_Ireduce_scatter
#define MPI_IReduce_scatter_block_ MPI_Ireduce_scatter_block
#define MPI_IScan_ MPI_Iscan
#define MPI_IExscan_ MPI_Iexscan

static void issue(Call* call, int form) {
  MPI_Comm c = call->comm;
  MPI_Request* q = &call->request;
  const int n = call->count, root = call->root, rank = call->rank;
  const MPI_Datatype t = type_of(call);
  const int items = t == pair_type ? n / 2 : n;
  void* out = call->recv;
  const void* in = source_of(call);
  *q = MPI_REQUEST_NULL;
  int* halves = NULL;
  switch (call->kind) {
    case barrier:
      if (form == 0) MPI_Barrier(c);
      if (form == 1) MPI_Ibarrier(c, q);
      if (form == 2) MPI_Barrier_init(c, MPI_INFO_NULL, q);
      break;
    case bcast:
      ISSUE(Bcast, out, n, t, root);
      break;
    case gather:
      ISSUE(Gather, in, n, t, out, n, t, root);
      break;
    case gatherv:
      ISSUE(Gatherv, in, call->counts[rank], t, out, call->counts, call->places, t, root);
      break;
    case scatter:
      ISSUE(Scatter, in, n, t, out, n, t, root);
      break;
    case scatterv:
      ISSUE(Scatterv, in, call->counts, call->places, t, out, call->counts[rank], t, root);
      break;
    case allgather:
      ISSUE(Allgather, in, n, t, out, n, t);
      break;
    case allgatherv:
      ISSUE(Allgatherv, in, call->counts[rank], t, out, call->counts, call->places, t);
      break;
    case alltoall:
      ISSUE(Alltoall, in, n, t, out, n, t);
      break;
    case alltoallv:
      ISSUE(Alltoallv, in, call->counts, call->places, t, out, call->counts2, call->places2, t);
      break;
    case alltoallw:
      ISSUE(Alltoallw, in, call->counts, call->places, call->types, out, call->counts2,
            call->places2, call->types);
      break;
    case reduce:
      ISSUE(Reduce, in, out, items, t, operation_of(call), root);
      break;
    case allreduce:
      ISSUE(Allreduce, in, out, items, t, operation_of(call));
      break;
    case reduce_scatter:
      halves = malloc((size_t)call->size * sizeof(int));
      for (int i = 0; i < call->size; i++)
        halves[i] = t == pair_type ? call->counts[i] / 2 : call->counts[i];
      // Stays until the call is over.
      call->counts2 = halves;
      ISSUE(Reduce_scatter, in, out, halves, t, operation_of(call));
      break;
    case reduce_scatter_block:
      ISSUE(Reduce_scatter_block, in, out, items, t, operation_of(call));
      break;
    case scan:
      ISSUE(Scan, in, out, items, t, operation_of(call));
      break;
    case exscan:
      ISSUE(Exscan, in, out, items, t, operation_of(call));
      break;
    case kind_count:
      break;
  }
  if (form == 2) MPI_Start(q);
}

static void check_blocks(
    const Call* call, const int* counts, const int* places, int scale, int to) {
  for (int i = 0; i < call->size; i++)
    for (int e = 0; e < (counts == NULL ? call->count : counts[i]); e++)
      expect(call, i, e, call->recv[(places == NULL ? i * call->count : places[i] / scale) + e],
             bits_of(value_of(call, i, to, e), call->is_double));
}

static void check_totals(const Call* call, int last, int first, int length) {
  for (int e = 0; e < length; e++)
    expect(call, last, e, call->recv[e], bits_of(total_of(call, last, first + e), call->is_double));
}

static void verify(const Call* call) {
  const int rank = call->rank, is_root = rank == call->root, last = call->size - 1;
  int first = 0;
  switch (call->kind) {
    case bcast:
      for (int e = 0; e < call->count; e++)
        expect(call, call->root, e, call->recv[e],
               bits_of(value_of(call, call->root, 0, e), call->is_double));
      break;
    case gather:
    case gatherv:
      if (is_root)
        check_blocks(call, call->kind == gather ? NULL : call->counts,
                     call->kind == gather ? NULL : call->places, 1, 0);
      break;
    case allgather:
      check_blocks(call, NULL, NULL, 1, 0);
      break;
    case allgatherv:
      check_blocks(call, call->counts, call->places, 1, 0);
      break;
    case scatter:
    case scatterv:
      for (int e = 0; e < (call->kind == scatter ? call->count : call->counts[rank]); e++)
        expect(call, call->root, e, call->recv[e],
               bits_of(value_of(call, call->root, rank, e), call->is_double));
      break;
    case alltoall:
      check_blocks(call, NULL, NULL, 1, rank);
      break;
    case alltoallv:
      check_blocks(call, call->counts2, call->places2, 1, rank);
      break;
    case alltoallw:
      check_blocks(call, call->counts2, call->places2, (int)sizeof(Value), rank);
      break;
    case reduce:
      if (is_root) check_totals(call, last, 0, call->count);
      break;
    case allreduce:
      check_totals(call, last, 0, call->count);
      break;
    case reduce_scatter:
      for (int i = 0; i < rank; i++)
        first += call->counts[i];
      check_totals(call, last, first, call->counts[rank]);
      break;
    case reduce_scatter_block:
      check_totals(call, last, rank * call->count, call->count);
      break;
    case scan:
      check_totals(call, rank, 0, call->count);
      break;
    case exscan:
      if (rank > 0) check_totals(call, rank - 1, 0, call->count);
      break;
    default:
      break;
  }
  // Nothing is written behind the buffers.
  CHECK_EQUAL(call->send[call->send_length], -77);
  CHECK_EQUAL(call->recv[call->recv_length], -77);
}

static void end(Call* call) {
  free(call->counts);
  free(call->places);
  free(call->counts2);
  free(call->places2);
  free(call->types);
  free(call->send);
  free(call->recv);
}

/// A pause of a random length: members arrive at different times.
static void work(uint64_t* own) {
  volatile double x = 1;
  const int rounds = random_below(own, 4) == 0 ? random_below(own, 4000) : 0;
  for (int i = 0; i < rounds; i++)
    x = x * 1.0000001;
}

/// One call in the given form, or several nonblocking ones at once.
static void call_some(MPI_Comm comm, uint64_t* random, uint64_t* own) {
  const int form = random_below(random, 3);
  const int count = form == 1 ? 1 + random_below(random, outstanding_max) : 1;
  const long number = (long)(random_next(random) >> 40);
  Call calls[outstanding_max];
  for (int k = 0; k < count; k++) {
    draw(&calls[k], comm, random, number + k);
    uint64_t blocks = random_next(random);
    prepare(&calls[k], &blocks);
    work(own);
    issue(&calls[k], form);
  }
  if (form != 0) {
    // Completed one by one, in random order, which members choose for themselves.
    for (int left = count; left != 0; left--) {
      MPI_Request requests[outstanding_max];
      int index, has_any = 0;
      for (int k = 0; k < count; k++) {
        requests[k] = calls[k].request;
        has_any |= requests[k] != MPI_REQUEST_NULL;
      }
      if (!has_any) break;
      if (form == 2 || random_below(own, 2)) {
        MPI_Waitany(count, requests, &index, MPI_STATUS_IGNORE);
        if (index == MPI_UNDEFINED) break;
        if (form == 2) MPI_Request_free(&requests[index]);
      } else {
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
      }
      for (int k = 0; k < count; k++)
        calls[k].request = requests[k];
    }
  }
  for (int k = 0; k < count; k++) {
    verify(&calls[k]);
    end(&calls[k]);
  }
  call_count += count;
}

/// Sums between the two groups of an intercommunicator: each gets the other one's.
static void call_between(MPI_Comm comm, uint64_t* random, uint64_t* own) {
  const int size = size_of(comm), rank = rank_in(comm);
  if (size < 2) return;
  const int cut = 1 + random_below(random, size - 1), is_low = rank < cut;
  MPI_Comm half, between;
  MPI_Comm_split(comm, is_low, rank, &half);
  MPI_Intercomm_create(half, 0, comm, is_low ? cut : 0, 5, &between);
  const int other_first = is_low ? cut : 0, other_end = is_low ? size : cut;
  Value expected = 0, found = -1;
  for (int i = other_first; i < other_end; i++)
    expected += (Value)(i + 1) * (i + 1);
  const Value square = (Value)(rank + 1) * (rank + 1);
  MPI_Allreduce(&square, &found, 1, MPI_LONG_LONG, MPI_SUM, between);
  CHECK_EQUAL(found, expected);
  Value* all = make_values((size_t)(other_end - other_first));
  MPI_Allgather(&square, 1, MPI_LONG_LONG, all, 1, MPI_LONG_LONG, between);
  for (int i = other_first; i < other_end; i++)
    CHECK_EQUAL(all[i - other_first], (Value)(i + 1) * (i + 1));
  free(all);
  Value sent = is_low && rank == 0 ? 4711 : -1;
  if (is_low) {
    MPI_Bcast(&sent, 1, MPI_LONG_LONG, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, between);
  } else {
    MPI_Bcast(&sent, 1, MPI_LONG_LONG, 0, between);
    CHECK_EQUAL(sent, 4711);
  }
  MPI_Barrier(between);
  MPI_Comm merged;
  MPI_Intercomm_merge(between, !is_low, &merged);
  CHECK_EQUAL(rank_in(merged), rank);
  call_some(merged, random, own);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

/// A part of `comm`, or a duplicate; MPI_COMM_NULL for members outside. *random becomes its
/// members'.
static MPI_Comm make_part(MPI_Comm comm, uint64_t* random) {
  const int size = size_of(comm), rank = rank_in(comm);
  const int way = random_below(random, 4), colours = 1 + random_below(random, 4);
  const uint64_t part_seed = random_next(random);
  MPI_Comm part = MPI_COMM_NULL;
  if (way == 0) {
    MPI_Comm_dup(comm, &part);
    *random = part_seed;
  } else if (way == 1) {
    // In reverse order, in blocks.
    const int colour = rank / ((size + colours - 1) / colours);
    MPI_Comm_split(comm, colour, -rank, &part);
    *random = part_seed + (uint64_t)colour;
  } else if (way == 2) {
    const int colour = rank % colours;
    MPI_Comm_split(comm, colour, rank * 7 % size, &part);
    *random = part_seed + (uint64_t)colour;
  } else {
    // Every so many members.
    int range[1][3] = {{random_below(random, size), size - 1, colours}};
    MPI_Group all, some;
    MPI_Comm_group(comm, &all);
    MPI_Group_range_incl(all, 1, range, &some);
    MPI_Comm_create(comm, some, &part);
    MPI_Group_free(&some);
    MPI_Group_free(&all);
    *random = part_seed;
  }
  return part;
}

/// Communicators that are freed as soon as their only collective has ended.
static void free_at_once(MPI_Comm comm, uint64_t* random, uint64_t* own) {
  const int rank = rank_in(comm);
  for (int k = 0; k < 4; k++) {
    const int colour = rank / (1 + random_below(random, 4)) % 3, is_sum = random_below(random, 2);
    MPI_Comm part;
    MPI_Comm_split(comm, colour, rank, &part);
    const Value one = 1;
    Value sum = size_of(part);
    work(own);
    if (is_sum) {
      MPI_Allreduce(&one, &sum, 1, MPI_LONG_LONG, MPI_SUM, part);
    } else {
      MPI_Barrier(part);
    }
    CHECK_EQUAL(sum, size_of(part));
    MPI_Comm_free(&part);
    // Memory that was freed is used again.
    char* used = malloc(200 + (size_t)random_below(own, 4000));
    memset(used, -1, 200);
    free(used);
  }
}

static void play(MPI_Comm comm, uint64_t random, uint64_t* own, int depth, int rounds) {
  for (int round = 0; round < rounds; round++) {
    const int what = random_below(&random, 12);
    if (what == 0 && depth > 0) {
      uint64_t of_part = random_next(&random);
      MPI_Comm part = make_part(comm, &of_part);
      if (part == MPI_COMM_NULL) continue;
      play(part, of_part, own, depth - 1, 6);
      MPI_Comm_free(&part);
    } else if (what == 1) {
      call_between(comm, &random, own);
    } else if (what == 2) {
      free_at_once(comm, &random, own);
    } else {
      call_some(comm, &random, own);
    }
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rounds = argc > 1 ? atoi(argv[1]) : 60;
  const uint64_t seed = random_seed(1);
  MPI_Type_contiguous(2, MPI_LONG_LONG, &pair_type);
  MPI_Type_commit(&pair_type);
  MPI_Op_create(compose, 0, &affine_op);
  uint64_t own = seed * 65537 + (uint64_t)rank_in(MPI_COMM_WORLD);
  play(MPI_COMM_WORLD, seed, &own, 3, rounds);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_in(MPI_COMM_WORLD) == 0)
    printf("oracle collectives: %ld calls of rank 0 are right\n", call_count);
  MPI_Op_free(&affine_op);
  MPI_Type_free(&pair_type);
  MPI_Finalize();
  return 0;
}
