// Partitioned messages of every shape: different numbers of partitions and datatypes on both sides,
// partitions that become ready in any order and by any of the three functions, small ones that
// share a message, repeated transfers, several messages between two ranks, intercommunicators.
#include "../check.h"

enum { transfers = 3, pairs_max = 4 };

static int me, ranks;

/// One message: its sides agree on the number of ints, `unit * factor_product`.
struct shape {
  int send_partitions, receive_partitions;
  int send_count, receive_count;          // elements of a partition
  int send_element, receive_element;      // ints of an element
  int is_send_spread, is_receive_spread;  // with a gap behind each element
};

static int divisor_of(int n, uint64_t* random) {
  int d = 1 + random_below(random, n);
  while (n % d != 0)
    d--;
  return d;
}

static void divide(int ints, uint64_t* random, int* partitions, int* count, int* element) {
  *partitions = divisor_of(ints, random);
  *element = divisor_of(ints / *partitions, random);
  *count = ints / *partitions / *element;
}

static struct shape random_shape(uint64_t* random) {
  static const int sizes[] = {0, 1, 12, 720, 5040, 30240};
  const int ints = sizes[random_below(random, 6)];
  struct shape shape = {1 + random_below(random, 5), 1 + random_below(random, 5), 0, 0, 1, 1, 0, 0};
  if (ints > 0) {
    divide(ints, random, &shape.send_partitions, &shape.send_count, &shape.send_element);
    divide(ints, random, &shape.receive_partitions, &shape.receive_count, &shape.receive_element);
  }
  shape.is_send_spread = random_below(random, 2);
  shape.is_receive_spread = random_below(random, 2);
  return shape;
}

/// Units that two workers copy together: 128 KiB and more of plain bytes.
static struct shape long_shape(uint64_t* random) {
  enum { ints = 240000 };

  struct shape shape = {1 + random_below(random, 4), 1 + random_below(random, 4), 0, 0, 1, 1, 0, 0};
  shape.send_count = ints / shape.send_partitions;
  shape.receive_count = ints / shape.receive_partitions;
  return shape;
}

/// `element` ints, with as many ints of gap if spread.
static MPI_Datatype type_of(int element, int is_spread) {
  MPI_Datatype ints, type;
  MPI_Type_contiguous(element, MPI_INT, &ints);
  MPI_Type_create_resized(ints, 0, (MPI_Aint)sizeof(int) * element * (is_spread ? 2 : 1), &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&ints);
  return type;
}

static size_t place_of(size_t i, int element, int is_spread) {
  return is_spread ? i / (size_t)element * 2 * (size_t)element + i % (size_t)element : i;
}

struct message {
  struct shape shape;
  int from, to;  // ranks in the communicator
  int *sent, *received;
  MPI_Request send, receive;
};

static size_t ints_of(const struct shape* shape) {
  return (size_t)shape->send_partitions * (size_t)shape->send_count * (size_t)shape->send_element;
}

static int value_of(const struct message* message, int from, int transfer, size_t i) {
  return from * 1000003 + transfer * 7919 + message->shape.send_partitions + (int)i;
}

static void shuffle(int* order, int n, uint64_t* random) {
  for (int i = 0; i < n; i++)
    order[i] = i;
  for (int i = n; i > 1; i--) {
    const int j = random_below(random, i), swapped = order[j];
    order[j] = order[i - 1];
    order[i - 1] = swapped;
  }
}

static void make_all_ready(const struct message* message, uint64_t* own_random) {
  const int n = message->shape.send_partitions;
  const int middle = n / 2;
  int* order = malloc(sizeof(int) * (size_t)n);
  shuffle(order, n, own_random);
  switch (random_below(own_random, 3)) {
    case 0:
      for (int i = 0; i < n; i++)
        CHECK_EQUAL(MPI_Pready(order[i], message->send), MPI_SUCCESS);
      break;
    case 1:
      MPI_Pready_list(middle, order, message->send);
      MPI_Pready_list(n - middle, order + middle, message->send);
      break;
    default:
      if (middle < n) MPI_Pready_range(middle, n - 1, message->send);
      if (middle > 0) MPI_Pready_range(0, middle - 1, message->send);
  }
  free(order);
}

/// What a partition that has arrived contains.
static void check_partition(const struct message* message, int transfer, int partition) {
  const struct shape* shape = &message->shape;
  const size_t n = (size_t)shape->receive_count * (size_t)shape->receive_element;
  for (size_t i = n * (size_t)partition; i < n * ((size_t)partition + 1); i++) {
    CHECK_EQUAL(message->received[place_of(i, shape->receive_element, shape->is_receive_spread)],
                value_of(message, message->from, transfer, i));
  }
}

static void poll_partitions(struct message* message, int transfer, uint64_t* own_random) {
  const int n = message->shape.receive_partitions;
  int* order = malloc(sizeof(int) * (size_t)n);
  shuffle(order, n, own_random);
  for (int i = 0; i < n; i++) {
    int flag = 0;
    while (!flag)
      MPI_Parrived(message->receive, order[i], &flag);
    check_partition(message, transfer, order[i]);
  }
  free(order);
}

static void begin(struct message* message, MPI_Comm comm, int tag) {
  const struct shape* shape = &message->shape;
  const size_t bytes = ints_of(shape) * 2 * sizeof(int) + 1;
  const MPI_Datatype send_type = type_of(shape->send_element, shape->is_send_spread);
  const MPI_Datatype receive_type = type_of(shape->receive_element, shape->is_receive_spread);
  message->sent = malloc(bytes);
  message->received = malloc(bytes);
  // Either side may come first.
  const int receives_first = (me + tag) % 2;
  for (int step = 0; step < 2; step++) {
    if (step == receives_first)
      MPI_Psend_init(message->sent, shape->send_partitions, shape->send_count, send_type,
                     message->to, tag, comm, MPI_INFO_NULL, &message->send);
    else
      MPI_Precv_init(message->received, shape->receive_partitions, shape->receive_count,
                     receive_type, message->from, tag, comm, MPI_INFO_NULL, &message->receive);
  }
  MPI_Type_free((MPI_Datatype[]){send_type});
  MPI_Type_free((MPI_Datatype[]){receive_type});
}

static void check_status(const struct message* message, const MPI_Status* status, int tag) {
  int count;
  CHECK_EQUAL(status->MPI_SOURCE, message->from);
  CHECK_EQUAL(status->MPI_TAG, tag);
  MPI_Get_count(status, MPI_INT, &count);
  CHECK_EQUAL(count, ints_of(&message->shape));
}

/// `own_rank` is the caller's in the group that its receivers see.
static void transfer_all(
    struct message* messages, int n, int transfer, int own_rank, uint64_t* own_random) {
  MPI_Request requests[2 * pairs_max];
  for (int i = 0; i < n; i++) {
    const struct shape* shape = &messages[i].shape;
    memset(messages[i].received, 0, ints_of(shape) * 2 * sizeof(int));
    for (size_t k = 0; k < ints_of(shape); k++)
      messages[i].sent[place_of(k, shape->send_element, shape->is_send_spread)] =
          value_of(&messages[i], own_rank, transfer, k);
    requests[i] = messages[i].send;
    requests[n + i] = messages[i].receive;
  }
  if (random_below(own_random, 2)) {
    MPI_Startall(2 * n, requests);
  } else {
    for (int i = 0; i < 2 * n; i++)
      MPI_Start(&requests[i]);
  }
  for (int i = 0; i < n; i++)
    make_all_ready(&messages[i], own_random);
  for (int i = 0; i < n; i++) {
    if (random_below(own_random, 4) == 0) poll_partitions(&messages[i], transfer, own_random);
  }
  MPI_Status statuses[2 * pairs_max];
  if (random_below(own_random, 2)) {
    MPI_Waitall(2 * n, requests, statuses);
  } else {
    for (int i = 0; i < 2 * n; i++) {
      MPI_Status status;
      int index;
      MPI_Waitany(2 * n, requests, &index, &status);
      statuses[index] = status;
    }
  }
  for (int i = 0; i < n; i++) {
    CHECK(requests[i] == messages[i].send && requests[n + i] == messages[i].receive);
    check_status(&messages[i], &statuses[n + i], 5 + i / 2);
    for (int k = 0; k < messages[i].shape.receive_partitions; k++)
      check_partition(&messages[i], transfer, k);
  }
}

/// Every rank sends to `to` and receives from `from`; two messages have the same tag.
static void round_of(MPI_Comm comm,
                     int to,
                     int from,
                     int own_rank,
                     struct shape (*next_shape)(uint64_t*),
                     uint64_t* random,
                     uint64_t* own_random) {
  struct message messages[pairs_max];
  const int n = 1 + random_below(random, pairs_max);
  for (int i = 0; i < n; i++) {
    messages[i] = (struct message){.shape = next_shape(random), .to = to, .from = from};
    begin(&messages[i], comm, 5 + i / 2);
  }
  for (int transfer = 0; transfer < transfers; transfer++)
    transfer_all(messages, n, transfer, own_rank, own_random);
  for (int i = 0; i < n; i++) {
    MPI_Request_free(&messages[i].send);
    MPI_Request_free(&messages[i].receive);
    CHECK(messages[i].send == MPI_REQUEST_NULL && messages[i].receive == MPI_REQUEST_NULL);
    free(messages[i].sent);
    free(messages[i].received);
  }
}

static void between_groups(uint64_t* random, uint64_t* own_random) {
  if (ranks % 2 != 0) return;
  MPI_Comm half, inter;
  const int is_low = me < ranks / 2;
  MPI_Comm_split(MPI_COMM_WORLD, is_low, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_low ? ranks / 2 : 0, 3, &inter);
  const int peer = rank_in(half);
  round_of(inter, peer, peer, peer, random_shape, random, own_random);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  me = rank_in(MPI_COMM_WORLD);
  ranks = size_of(MPI_COMM_WORLD);
  uint64_t random = random_seed(418);
  uint64_t own_random = random + 31 * (uint64_t)(me + 1);
  const int rounds = ranks > 4 ? 2 : 10;
  for (int i = 0; i < rounds; i++) {
    const int shift = random_below(&random, ranks);
    round_of(MPI_COMM_WORLD, (me + shift) % ranks, (me + ranks - shift) % ranks, me, random_shape,
             &random, &own_random);
  }
  for (int shift = 1; shift <= 2 && ranks <= 16; shift++)
    round_of(MPI_COMM_WORLD, (me + shift) % ranks, (me + 2 * ranks - shift) % ranks, me, long_shape,
             &random, &own_random);
  between_groups(&random, &own_random);
  MPI_Finalize();
  return 0;
}
