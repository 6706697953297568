// messages [ROUNDS]: random messages between two ranks, in all modes of sending and receiving, of
// random layouts in memory, over communicators of one group and of two. All members draw the same
// plan, so each receiver knows what every receive must bring: the messages of a pair are matched in
// the order in which they were sent. What lies between the elements must not change.
#include "../check.h"

enum { messages_max = 48, elements_max = 40000, tags = 3, no_tag = 77 };

typedef enum {
  standard,
  synchronous,
  buffered,
  ready,
  blocking,
  blocking_synchronous,
  persistent,
  partitioned,
  send_mode_count
} SendMode;

/// What the receives of a rank leave open, in this round.
typedef enum { exact, any_source, any_tag, any_message, want_count } Want;

typedef struct {
  int from, to;              // ranks in their group
  int from_group, to_group;  // 0 or 1; 0 if there is one group only
  int tag, elements, send_layout, receive_layout;
  SendMode mode;
  int parts;  // of a partitioned message
  uint64_t key;
} Message;

typedef struct {
  MPI_Comm comm;
  int rank, group, group_count;
  int sizes[2];
} Place;

typedef struct {
  unsigned char* memory;
  size_t bytes;
  void* base;  // what MPI is given
  MPI_Datatype type;
  int count;
  int is_own_type;
} Layout;

typedef struct {
  const Message* message;  // of an exact receive; else NULL
  Layout layout;
  MPI_Request request;
  MPI_Status status;
  int is_taken;
} Receive;

static long message_count;

static int value_of(uint64_t key, int i) {
  return (int)((key * 0x9e3779b1u + (uint64_t)i * 2654435761u) >> 7 & 0x7fffffff);
}

/// The place of element i in the memory of a layout, in numbers.
static size_t place_of(int kind, int elements, int i) {
  switch (kind) {
    case 1:  // every third
      return (size_t)i * 3;
    case 2:  // blocks of five behind gaps of two
      return (size_t)(i / 5) * 7 + 2 + (size_t)(i % 5);
    case 3:  // descending
      return (size_t)(elements - 1 - i) * 2;
    case 4:  // pairs that are exchanged
      return (size_t)(i ^ 1);
    default:
      return (size_t)i;
  }
}

static Layout make_layout(int kind, int elements) {
  Layout layout = {0};
  const size_t length = (size_t)elements * 3 + 16;
  layout.bytes = length * sizeof(int);
  layout.memory = malloc(layout.bytes);
  memset(layout.memory, 0xa5, layout.bytes);
  layout.base = layout.memory;
  layout.type = MPI_INT;
  layout.count = elements;
  MPI_Datatype inner;
  if (kind == 1) {
    MPI_Type_create_resized(MPI_INT, 0, 3 * sizeof(int), &layout.type);
  } else if (kind == 2 && elements > 0) {
    const int blocks = (elements + 4) / 5;
    int* lengths = malloc((size_t)blocks * 2 * sizeof *lengths);
    for (int i = 0; i < blocks; i++) {
      lengths[i] = i + 1 < blocks ? 5 : elements - 5 * i;
      lengths[blocks + i] = 7 * i + 2;
    }
    MPI_Type_indexed(blocks, lengths, lengths + blocks, MPI_INT, &layout.type);
    layout.count = 1;
    free(lengths);
  } else if (kind == 3 && elements > 0) {
    MPI_Type_create_hvector(elements, 1, -2 * (MPI_Aint)sizeof(int), MPI_INT, &layout.type);
    layout.base = layout.memory + (size_t)(elements - 1) * 2 * sizeof(int);
    layout.count = 1;
  } else if (kind == 4 && elements % 2 == 0) {
    const int places[2] = {1, 0};
    MPI_Type_create_indexed_block(2, 1, places, MPI_INT, &inner);
    MPI_Type_create_resized(inner, 0, 2 * sizeof(int), &layout.type);
    MPI_Type_free(&inner);
    layout.count = elements / 2;
  } else {
    return layout;
  }
  layout.is_own_type = 1;
  MPI_Type_commit(&layout.type);
  return layout;
}

/// Kinds that do not apply to this number of elements are contiguous.
static int kind_for(int kind, int elements) {
  return elements == 0 || (kind == 4 && elements % 2 == 1) ? 0 : kind;
}

static void free_layout(Layout* layout) {
  if (layout->is_own_type) MPI_Type_free(&layout->type);
  free(layout->memory);
}

static void fill(Layout* layout, const Message* message) {
  int* numbers = (int*)layout->memory;
  const int kind = kind_for(message->send_layout, message->elements);
  for (int i = 0; i < message->elements; i++)
    numbers[place_of(kind, message->elements, i)] = value_of(message->key, i);
}

static void fail(const Message* message, const char* what, long long found, long long expected) {
  fprintf(stderr,
          "oracle messages: rank %d: the message from %d of group %d with tag %d, %d numbers, mode "
          "%d, layouts %d and %d: %s is %lld, not "
          "%lld\n",
          rank_in(MPI_COMM_WORLD), message->from, message->from_group, message->tag,
          message->elements, message->mode, message->send_layout, message->receive_layout, what,
          found, expected);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/// `elements` is the size for which the layout was made; the message may be shorter.
static void check_layout(Layout* layout, int kind, int elements, const Message* message) {
  int* numbers = (int*)layout->memory;
  kind = kind_for(kind, elements);
  for (int i = 0; i < message->elements; i++) {
    int* number = &numbers[place_of(kind, elements, i)];
    if (*number != value_of(message->key, i))
      fail(message, "a number", *number, value_of(message->key, i));
    memset(number, 0xa5, sizeof *number);
  }
  for (size_t i = 0; i < layout->bytes; i++)
    if (layout->memory[i] != 0xa5)
      fail(message, "a byte between the numbers", layout->memory[i], 0xa5);
}

static void work(uint64_t* own) {
  volatile int x = 0;
  if (random_below(own, 4) == 0)
    for (int i = random_below(own, 3000); i > 0; i--)
      x = x + i;
}

static int draw_elements(uint64_t* random) {
  static const int kinds[] = {0, 1, 2, 7, 40, 128, 129, 500, 2000, 4096, 4097, 15000, elements_max};
  const int kind = kinds[random_below(random, 13)];
  return kind < 40 ? kind : kind - random_below(random, 3);
}

static int draw_plan(const Place* place,
                     const Want* wants,
                     const int* is_early,
                     int is_ready,
                     Message* plan,
                     uint64_t* random) {
  const int count = 1 + random_below(random, messages_max);
  const int is_crowded = random_below(random, 4) == 0,
            favourite = random_below(random, place->sizes[0]);
  for (int k = 0; k < count; k++) {
    Message* message = &plan[k];
    message->from_group = place->group_count == 2 ? random_below(random, 2) : 0;
    message->to_group = place->group_count == 2 ? 1 - message->from_group : 0;
    message->from = random_below(random, place->sizes[message->from_group]);
    message->to = random_below(random, place->sizes[message->to_group]);
    if (is_crowded && message->to_group == 0) message->to = favourite;
    message->tag = random_below(random, tags);
    message->elements = draw_elements(random);
    message->send_layout = random_below(random, 5);
    message->receive_layout = random_below(random, 5);
    message->mode = (SendMode)random_below(random, send_mode_count);
    message->parts = 1 << random_below(random, 4);
    message->key = random_next(random);
    const int receiver = message->to_group * place->sizes[0] + message->to;
    // A blocking send needs a receiver that does not send before it receives; a ready one, a
    // receive that is there.
    if ((message->mode == blocking || message->mode == blocking_synchronous) && !is_early[receiver])
      message->mode = standard;
    if (message->mode == ready && !(is_early[receiver] && is_ready)) message->mode = synchronous;
    if (message->mode == partitioned && wants[receiver] != exact) message->mode = persistent;
    if (message->mode == partitioned) {
      // Each partition is as many numbers of a plain array.
      message->elements -= message->elements % 64;
      message->send_layout = message->receive_layout = 0;
    }
  }
  return count;
}

static MPI_Request start_send(
    const Message* message, Layout* layout, const Place* place, int* is_persistent, uint64_t* own) {
  MPI_Request request = MPI_REQUEST_NULL;
  *is_persistent = 0;
  const int to = message->to, tag = message->tag;
  switch (message->mode) {
    case standard:
      MPI_Isend(layout->base, layout->count, layout->type, to, tag, place->comm, &request);
      break;
    case synchronous:
      MPI_Issend(layout->base, layout->count, layout->type, to, tag, place->comm, &request);
      break;
    case buffered:
      if (random_below(own, 2) == 0) {
        MPI_Bsend(layout->base, layout->count, layout->type, to, tag, place->comm);
      } else {
        MPI_Ibsend(layout->base, layout->count, layout->type, to, tag, place->comm, &request);
      }
      break;
    case ready:
      if (random_below(own, 2) == 0) {
        MPI_Rsend(layout->base, layout->count, layout->type, to, tag, place->comm);
      } else {
        MPI_Irsend(layout->base, layout->count, layout->type, to, tag, place->comm, &request);
      }
      break;
    case blocking:
      MPI_Send(layout->base, layout->count, layout->type, to, tag, place->comm);
      break;
    case blocking_synchronous:
      MPI_Ssend(layout->base, layout->count, layout->type, to, tag, place->comm);
      break;
    case persistent:
      if (random_below(own, 2) == 0) {
        MPI_Send_init(layout->base, layout->count, layout->type, to, tag, place->comm, &request);
      } else {
        MPI_Ssend_init(layout->base, layout->count, layout->type, to, tag, place->comm, &request);
      }
      MPI_Start(&request);
      *is_persistent = 1;
      break;
    default:
      MPI_Psend_init(layout->base, message->parts, message->elements / message->parts, MPI_INT, to,
                     tag, place->comm, MPI_INFO_NULL, &request);
      MPI_Start(&request);
      // In two halves, from either end.
      for (int i = message->parts - 1; i >= message->parts / 2; i--)
        MPI_Pready(i, request);
      if (message->parts > 1) MPI_Pready_range(0, message->parts / 2 - 1, request);
      *is_persistent = 1;
  }
  return request;
}

/// Completes all requests in a random way; statuses of those of receives are kept.
static void finish(MPI_Request* requests, MPI_Status* statuses, int count, uint64_t* own) {
  int* indices = malloc((size_t)(count + 1) * sizeof *indices);
  MPI_Status* some = malloc((size_t)(count + 1) * sizeof *some);
  const int how = random_below(own, 6);
  if (how == 0) {
    MPI_Waitall(count, requests, statuses);
  } else if (how == 1) {
    for (int flag = 0; flag == 0;)
      MPI_Testall(count, requests, &flag, statuses);
  } else if (how == 5) {
    // One after the other, from a random one.
    const int first = count == 0 ? 0 : random_below(own, count);
    for (int i = 0; i < count; i++) {
      const int at = (first + i) % count;
      int flag = 0;
      MPI_Request_get_status(requests[at], &flag, &some[0]);
      MPI_Wait(&requests[at], &statuses[at]);
    }
  } else {
    // A request that is inactive from the begin has the status of nothing, which no receive has.
    for (int done = 0; done != MPI_UNDEFINED;) {
      int index = MPI_UNDEFINED, flag = 1;
      if (how == 2) {
        MPI_Waitany(count, requests, &index, &some[0]);
        done = index == MPI_UNDEFINED ? MPI_UNDEFINED : 1;
        indices[0] = index;
      } else if (how == 3) {
        MPI_Waitsome(count, requests, &done, indices, some);
      } else {
        MPI_Testany(count, requests, &index, &flag, &some[0]);
        done = !flag ? 0 : index == MPI_UNDEFINED ? MPI_UNDEFINED : 1;
        indices[0] = index;
      }
      for (int i = 0; done != MPI_UNDEFINED && i < done; i++)
        statuses[indices[i]] = some[i];
    }
  }
  free(some);
  free(indices);
}

/// Posts the receives of this rank, one for each message to it, in the order of the plan. Returns
/// how many.
static int post_receives(const Message* plan,
                         int count,
                         const Place* place,
                         Want want,
                         Receive* receives,
                         uint64_t* own) {
  int posted = 0;
  for (int k = 0; k < count; k++) {
    const Message* message = &plan[k];
    if (message->to_group != place->group || message->to != place->rank) continue;
    Receive* receive = &receives[posted++];
    memset(receive, 0, sizeof *receive);
    const int source = want == exact || want == any_tag ? message->from : MPI_ANY_SOURCE;
    const int tag = want == exact || want == any_source ? message->tag : MPI_ANY_TAG;
    if (message->mode == partitioned) {
      receive->message = message;
      receive->layout = make_layout(0, message->elements);
      const int parts = 1 << random_below(own, 4);
      MPI_Precv_init(receive->layout.base, parts, message->elements / parts, MPI_INT, source, tag,
                     place->comm, MPI_INFO_NULL, &receive->request);
      MPI_Start(&receive->request);
      continue;
    }
    // Any message may come into a receive that leaves something open: a plain array of the longest.
    receive->message = want == exact ? message : NULL;
    receive->layout = want == exact ? make_layout(message->receive_layout, message->elements)
                                    : make_layout(0, elements_max);
    if (random_below(own, 3) == 0) {
      MPI_Recv_init(receive->layout.base, receive->layout.count, receive->layout.type, source, tag,
                    place->comm, &receive->request);
      MPI_Start(&receive->request);
    } else {
      MPI_Irecv(receive->layout.base, receive->layout.count, receive->layout.type, source, tag,
                place->comm, &receive->request);
    }
  }
  return posted;
}

/// The message that this receive must have got: the oldest of its pair that matches and was not
/// taken by an earlier receive.
static const Message* find_message(const Message* plan,
                                   int count,
                                   const Place* place,
                                   Want want,
                                   const MPI_Status* status,
                                   char* is_taken) {
  for (int k = 0; k < count; k++) {
    const Message* message = &plan[k];
    if (is_taken[k] || message->mode == partitioned || message->to_group != place->group ||
        message->to != place->rank)
      continue;
    if (message->from != status->MPI_SOURCE) continue;
    // Where the tag is open, the oldest message of the source must be the one; its tag is checked
    // below.
    if ((want == exact || want == any_source) && message->tag != status->MPI_TAG) continue;
    is_taken[k] = 1;
    if (message->tag != status->MPI_TAG) fail(message, "the tag", status->MPI_TAG, message->tag);
    return message;
  }
  fprintf(stderr, "oracle messages: rank %d: no message from %d with tag %d is expected\n",
          rank_in(MPI_COMM_WORLD), status->MPI_SOURCE, status->MPI_TAG);
  MPI_Abort(MPI_COMM_WORLD, 1);
  return NULL;
}

static void check_status(const MPI_Status* status, const Message* message, MPI_Datatype type) {
  int found = -1;
  MPI_Get_elements(status, type, &found);
  if (found != message->elements) fail(message, "the number of elements", found, message->elements);
}

/// Takes the messages one by one, by probes and blocking receives.
static void receive_by_probes(
    const Message* plan, int count, const Place* place, Want want, char* is_taken, uint64_t* own) {
  for (int k = 0; k < count; k++) {
    const Message* expected = &plan[k];
    if (expected->to_group != place->group || expected->to != place->rank ||
        expected->mode == partitioned)
      continue;
    const int source = want == exact || want == any_tag ? expected->from : MPI_ANY_SOURCE;
    const int tag = want == exact || want == any_source ? expected->tag : MPI_ANY_TAG;
    MPI_Status status, probed;
    MPI_Message handle = MPI_MESSAGE_NULL;
    int flag = 0, elements = 0;
    const int how = random_below(own, 4);
    if (how == 0) {
      MPI_Probe(source, tag, place->comm, &probed);
    } else if (how == 1) {
      while (!flag)
        MPI_Iprobe(source, tag, place->comm, &flag, &probed);
    } else if (how == 2) {
      MPI_Mprobe(source, tag, place->comm, &handle, &probed);
    } else {
      while (!flag)
        MPI_Improbe(source, tag, place->comm, &flag, &handle, &probed);
    }
    MPI_Get_count(&probed, MPI_INT, &elements);
    const Message* message = find_message(plan, count, place, want, &probed, is_taken);
    if (elements != message->elements)
      fail(message, "the probed count", elements, message->elements);
    Layout layout = make_layout(message->receive_layout, elements);
    if (how < 2) {
      MPI_Recv(layout.base, layout.count, layout.type, probed.MPI_SOURCE, probed.MPI_TAG,
               place->comm, &status);
    } else if (random_below(own, 2) == 0) {
      MPI_Mrecv(layout.base, layout.count, layout.type, &handle, &status);
    } else {
      MPI_Request request;
      MPI_Imrecv(layout.base, layout.count, layout.type, &handle, &request);
      MPI_Wait(&request, &status);
    }
    if (status.MPI_SOURCE != message->from)
      fail(message, "the source", status.MPI_SOURCE, message->from);
    if (status.MPI_TAG != message->tag) fail(message, "the tag", status.MPI_TAG, message->tag);
    check_status(&status, message, layout.type);
    check_layout(&layout, message->receive_layout, elements, message);
    free_layout(&layout);
    message_count++;
    work(own);
  }
}

static void exchange(const Place* place, uint64_t* random, uint64_t* own) {
  static Message plan[messages_max];
  static Receive receives[messages_max];
  static Layout sent[messages_max];
  static MPI_Request requests[2 * messages_max];
  static MPI_Status statuses[2 * messages_max];
  static int is_persistent[2 * messages_max];
  const int all = place->sizes[0] + (place->group_count == 2 ? place->sizes[1] : 0);
  Want* wants = malloc((size_t)all * sizeof *wants);
  int* is_early = malloc((size_t)all * sizeof *is_early);
  for (int i = 0; i < all; i++) {
    wants[i] = (Want)random_below(random, want_count);
    is_early[i] = random_below(random, 2);
  }
  const int is_ready = random_below(random, 2);
  const int count = draw_plan(place, wants, is_early, is_ready, plan, random);
  const int own_index = place->group * place->sizes[0] + place->rank;
  const Want want = wants[own_index];
  // A receive that nothing matches, cancelled at the end.
  int unused = 4711, cancelled = 0;
  MPI_Request decoy;
  MPI_Irecv(&unused, 1, MPI_INT, place->group_count == 2 ? 0 : place->rank, no_tag, place->comm,
            &decoy);
  // While a buffer is attached, a rank stays in its process.
  int buffer_bytes = 0;
  for (int k = 0; k < count; k++)
    if (plan[k].mode == buffered && plan[k].from_group == place->group &&
        plan[k].from == place->rank)
      buffer_bytes += plan[k].elements * (int)sizeof(int) + MPI_BSEND_OVERHEAD;
  void* buffer = NULL;
  if (buffer_bytes > 0) MPI_Buffer_attach(malloc((size_t)buffer_bytes), buffer_bytes);
  int posted = 0, request_count = 0, sent_count = 0;
  char is_taken[messages_max] = {0};
  const int by_probes = !is_early[own_index] && random_below(own, 2) == 0;
  if (is_early[own_index]) posted = post_receives(plan, count, place, want, receives, own);
  if (is_ready) MPI_Barrier(place->comm);
  for (int k = 0; k < count; k++) {
    if (plan[k].from_group != place->group || plan[k].from != place->rank) continue;
    work(own);
    Layout* layout = &sent[sent_count++];
    *layout = make_layout(plan[k].send_layout, plan[k].elements);
    fill(layout, &plan[k]);
    requests[request_count] =
        start_send(&plan[k], layout, place, &is_persistent[request_count], own);
    request_count++;
  }
  if (!is_early[own_index] && !by_probes)
    posted = post_receives(plan, count, place, want, receives, own);
  if (by_probes) {
    // Partitioned messages are not probed.
    for (int k = 0; k < count; k++) {
      if (plan[k].mode != partitioned || plan[k].to_group != place->group ||
          plan[k].to != place->rank)
        continue;
      posted += post_receives(&plan[k], 1, place, exact, &receives[posted], own);
    }
    receive_by_probes(plan, count, place, want, is_taken, own);
  }
  const int first_receive = request_count;
  for (int i = 0; i < posted; i++)
    requests[request_count++] = receives[i].request;
  MPI_Request kept[2 * messages_max];
  memcpy(kept, requests, sizeof kept);
  finish(requests, statuses, request_count, own);
  for (int i = 0; i < posted; i++) {
    Receive* receive = &receives[i];
    const MPI_Status* status = &statuses[first_receive + i];
    const Message* message = receive->message;
    if (message == NULL) message = find_message(plan, count, place, want, status, is_taken);
    const int elements = receive->message == NULL ? elements_max : message->elements;
    const int kind = receive->message == NULL ? 0 : message->receive_layout;
    if (status->MPI_SOURCE != message->from)
      fail(message, "the source", status->MPI_SOURCE, message->from);
    if (status->MPI_TAG != message->tag) fail(message, "the tag", status->MPI_TAG, message->tag);
    check_status(status, message, receive->layout.type);
    check_layout(&receive->layout, kind, elements, message);
    free_layout(&receive->layout);
    message_count++;
  }
  // Persistent requests are those that are left.
  for (int i = 0; i < request_count; i++)
    if (requests[i] != MPI_REQUEST_NULL) {
      CHECK(requests[i] == kept[i]);
      MPI_Request_free(&requests[i]);
    }
  for (int i = 0; i < sent_count; i++)
    free_layout(&sent[i]);
  MPI_Status status;
  MPI_Cancel(&decoy);
  MPI_Wait(&decoy, &status);
  MPI_Test_cancelled(&status, &cancelled);
  CHECK_EQUAL(cancelled, 1);
  CHECK_EQUAL(unused, 4711);
  if (buffer_bytes > 0) {
    MPI_Buffer_detach(&buffer, &buffer_bytes);
    free(buffer);
  }
  free(is_early);
  free(wants);
  // What leaves something open must not take what is sent next.
  MPI_Barrier(place->comm);
}

static Place place_in(MPI_Comm comm) {
  Place place = {comm, rank_in(comm), 0, 1, {size_of(comm), 0}};
  return place;
}

/// Two groups that are the low and the high ranks.
static void exchange_between(MPI_Comm comm, uint64_t* random, uint64_t* own) {
  const int size = size_of(comm), rank = rank_in(comm);
  if (size < 2) return;
  const int cut = 1 + random_below(random, size - 1), is_high = rank >= cut;
  MPI_Comm half, between;
  MPI_Comm_split(comm, is_high, rank, &half);
  MPI_Intercomm_create(half, 0, comm, is_high ? 0 : cut, 5, &between);
  Place place = {between, is_high ? rank - cut : rank, is_high, 2, {cut, size - cut}};
  exchange(&place, random, own);
  exchange(&place, random, own);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

static void exchange_in_parts(MPI_Comm comm, uint64_t* random, uint64_t* own) {
  const int colours = 1 + random_below(random, 3), colour = rank_in(comm) % colours;
  uint64_t of_part = random_next(random) + (uint64_t)colour;
  MPI_Comm part;
  MPI_Comm_split(comm, colour, -rank_in(comm), &part);
  const Place place = place_in(part);
  exchange(&place, &of_part, own);
  MPI_Comm_free(&part);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rounds = argc > 1 ? atoi(argv[1]) : 20;
  const uint64_t seed = random_seed(1);
  uint64_t random = seed, own = seed * 65537 + (uint64_t)rank_in(MPI_COMM_WORLD);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const Place place = place_in(comm);
  for (int round = 0; round < rounds; round++) {
    const int what = random_below(&random, 6);
    if (what == 0) {
      exchange_between(comm, &random, &own);
    } else if (what == 1) {
      exchange_in_parts(comm, &random, &own);
    } else {
      exchange(&place, &random, &own);
    }
  }
  long total = 0;
  MPI_Reduce(&message_count, &total, 1, MPI_LONG, MPI_SUM, 0, comm);
  if (rank_in(comm) == 0) printf("oracle messages: %ld messages are right\n", total);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
