// smp SECONDS KIND ARGUMENTS... - small experiments on message layers between the cores of one
// machine: queues from producers to a consumer, messages to self, allocation. After Mei, "A
// Preliminary Investigation on Optimizing Charm++ for Homogeneous Multi-core Machines", 2008.
//
//   smp SECONDS queue PRODUCERS
//     an iteration: each producer makes 10 000 items, the consumer takes all
//   smp SECONDS self
//     a message to self, the states of the cores adjacent or padded to cache lines
//   smp SECONDS allocate
//     a message allocated and filled by one core and freed by the other
//   smp SECONDS poll MAILBOXES
//     a poll of so many empty mailboxes by their consumer
//
// One queue of the first experiment is src/core/mailbox.hpp, one allocator of the last one is
// src/core/message_pool.hpp behind that mailbox; the others are written here.
//
// Threads without MPI, each on its own core if there are enough. The consumer has the first core,
// the producers the other ones. Prints "result NAME VALUE UNIT" for each sample.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core_kinds.hpp"

enum {
  items = 10000,
  producers_max = 64,
  ring_slots = 256,
  line = 64,
  batch = 1000,
  sample_max = 200
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int cpu_count;
static int cpus[CPU_SETSIZE];

static void find_cpus(void) {
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
    if (CPU_ISSET(cpu, &set)) cpus[cpu_count++] = cpu;
}

static void stay_on(int index) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpus[index], &set);
  pthread_setaffinity_np(pthread_self(), sizeof set, &set);
}

// Where cores are shared, the other threads must run now and then.
static void relax(int* count) {
  if (++*count % 64 == 0) sched_yield();
#ifdef __x86_64__
  __builtin_ia32_pause();
#endif
}

// ---- queues
// ---------------------------------------------------------------------------------------

// Operations of every queue: put by producers, take by the consumer; take returns 0 if the queue is
// empty.
struct queue {
  alignas(line) atomic_size_t head;
  alignas(line) atomic_size_t tail;
  alignas(line) pthread_mutex_t lock;
  size_t slot_count;
  _Atomic(uintptr_t)* slots;
};

static struct queue queues[producers_max];
static int producer_count;

// One queue, one lock.
static void put_locked(int producer, uintptr_t item) {
  struct queue* q = &queues[0];
  (void)producer;
  pthread_mutex_lock(&q->lock);
  const size_t place = atomic_load_explicit(&q->tail, memory_order_relaxed);
  atomic_store_explicit(&q->slots[place % q->slot_count], item, memory_order_relaxed);
  atomic_store_explicit(&q->tail, place + 1, memory_order_relaxed);
  pthread_mutex_unlock(&q->lock);
}

static uintptr_t take_locked(int from) {
  struct queue* q = &queues[0];
  uintptr_t item = 0;
  (void)from;
  pthread_mutex_lock(&q->lock);
  const size_t place = atomic_load_explicit(&q->head, memory_order_relaxed);
  if (place != atomic_load_explicit(&q->tail, memory_order_relaxed)) {
    item = atomic_load_explicit(&q->slots[place % q->slot_count], memory_order_relaxed);
    atomic_store_explicit(&q->head, place + 1, memory_order_relaxed);
  }
  pthread_mutex_unlock(&q->lock);
  return item;
}

// One queue; fetch-and-increment reserves a slot, a store publishes the item in it. Release and
// acquire are the fences of the study: on x86 neither is an instruction.
static void put_counted(int producer, uintptr_t item) {
  struct queue* q = &queues[0];
  (void)producer;
  const size_t place = atomic_fetch_add_explicit(&q->tail, 1, memory_order_relaxed);
  atomic_store_explicit(&q->slots[place % q->slot_count], item, memory_order_release);
}

static uintptr_t take_counted(int from) {
  struct queue* q = &queues[0];
  (void)from;
  const size_t place = atomic_load_explicit(&q->head, memory_order_relaxed);
  _Atomic(uintptr_t)* slot = &q->slots[place % q->slot_count];
  const uintptr_t item = atomic_load_explicit(slot, memory_order_acquire);
  if (item == 0) return 0;
  atomic_store_explicit(slot, 0, memory_order_relaxed);
  atomic_store_explicit(&q->head, place + 1, memory_order_relaxed);
  return item;
}

// A queue for each producer, which waits if it is full.
static void put_own(int producer, uintptr_t item) {
  struct queue* q = &queues[producer];
  int count = 0;
  const size_t place = atomic_load_explicit(&q->tail, memory_order_relaxed);
  while (atomic_load_explicit(&q->slots[place % q->slot_count], memory_order_acquire) != 0)
    relax(&count);
  atomic_store_explicit(&q->slots[place % q->slot_count], item, memory_order_release);
  atomic_store_explicit(&q->tail, place + 1, memory_order_relaxed);
}

static uintptr_t take_own(int from) {
  struct queue* q = &queues[from];
  const size_t place = atomic_load_explicit(&q->head, memory_order_relaxed);
  _Atomic(uintptr_t)* slot = &q->slots[place % q->slot_count];
  const uintptr_t item = atomic_load_explicit(slot, memory_order_acquire);
  if (item == 0) return 0;
  atomic_store_explicit(slot, 0, memory_order_release);
  atomic_store_explicit(&q->head, place + 1, memory_order_relaxed);
  return item;
}

// The mailboxes of Sorrel's workers. A full one makes its producer wait.
static void put_into_mailbox(int producer, uintptr_t item) {
  int count = 0;
  while (!mailbox_put(producer, item))
    relax(&count);
}

struct kind {
  const char* name;
  void (*put)(int, uintptr_t);
  uintptr_t (*take)(int);
};

static const struct kind kinds[] = {{"lock", put_locked, take_locked},
                                    {"fetch_increment", put_counted, take_counted},
                                    {"queue_each", put_own, take_own},
                                    {"mailbox", put_into_mailbox, mailbox_take}};

enum { kind_count = sizeof kinds / sizeof *kinds };

static struct run {
  const struct kind* kind;
  pthread_barrier_t begin;
  atomic_int is_over;
} run;

static void* produce(void* argument) {
  const int producer = (int)(intptr_t)argument;
  stay_on(cpu_count == 1 ? 0 : 1 + producer % (cpu_count - 1));
  for (;;) {
    pthread_barrier_wait(&run.begin);
    if (atomic_load(&run.is_over)) return NULL;
    for (int i = 0; i < items; i++)
      run.kind->put(producer, (uintptr_t)(i + 1));
  }
}

static double consume_all(void) {
  uint64_t sum = 0;
  const double start = now();
  int count = 0;
  for (int taken = 0, from = 0; taken < producer_count * items;
       from = (from + 1) % producer_count) {
    const uintptr_t item = run.kind->take(from);
    if (item == 0) {
      relax(&count);
      continue;
    }
    sum += item;
    taken++;
  }
  const double seconds = now() - start;
  if (sum != (uint64_t)producer_count * items * (items + 1) / 2) {
    fprintf(stderr, "smp: an item was lost\n");
    exit(1);
  }
  return seconds;
}

static void measure_queue(const struct kind* kind, double seconds) {
  pthread_t threads[producers_max];
  run.kind = kind;
  atomic_store(&run.is_over, 0);
  pthread_barrier_init(&run.begin, NULL, (unsigned)producer_count + 1);
  mailboxes_open(producer_count);
  for (int i = 0; i < producer_count; i++) {
    struct queue* q = &queues[i];
    // Every queue holds all items that are put, so that no producer waits for room.
    q->slot_count = i == 0 ? (size_t)producers_max * items : items;
    q->slots = calloc(q->slot_count, sizeof *q->slots);
    atomic_store(&q->head, 0);
    atomic_store(&q->tail, 0);
    pthread_mutex_init(&q->lock, NULL);
    pthread_create(&threads[i], NULL, produce, (void*)(intptr_t)i);
  }
  const double end = now() + seconds;
  for (int sample = -1; sample < sample_max && (sample < 3 || now() < end); sample++) {
    pthread_barrier_wait(&run.begin);
    const double taken = consume_all();
    if (sample >= 0) printf("result %s_%d %.6g us\n", kind->name, producer_count, taken * 1e6);
  }
  atomic_store(&run.is_over, 1);
  pthread_barrier_wait(&run.begin);
  for (int i = 0; i < producer_count; i++) {
    pthread_join(threads[i], NULL);
    free(queues[i].slots);
  }
  mailboxes_close();
}

// ---- messages to self
// ------------------------------------------------------------------------------

// The state of one core: the counters of its own queue, and the queue's one slot.
struct own_state {
  volatile uint64_t put, taken, handled;
  void* volatile slot;
};

static struct own_state close_together[producers_max];

static struct {
  alignas(2 * line) struct own_state state;
} apart[producers_max];

struct self_run {
  struct own_state* state;
  int index;
  double seconds, each;
  pthread_barrier_t* begin;
};

static void* send_to_self(void* argument) {
  struct self_run* r = argument;
  char message[line];
  stay_on(r->index % cpu_count);
  pthread_barrier_wait(r->begin);
  // All cores work all the time: a quick sample would be one in which the other cores rest.
  const double start = now();
  long done = 0;
  do {
    for (int i = 0; i < batch; i++) {
      r->state->slot = message;
      r->state->put++;
      while (r->state->taken != r->state->put) {
        *(volatile char*)r->state->slot = (char)i;
        r->state->taken++;
      }
      r->state->handled++;
    }
    done += batch;
  } while (now() - start < r->seconds);
  r->each = (now() - start) / (double)done;
  return NULL;
}

static void measure_self(const char* name, double seconds, int is_apart) {
  pthread_t threads[producers_max];
  struct self_run runs[producers_max];
  pthread_barrier_t begin;
  const int count = cpu_count < producers_max ? cpu_count : producers_max;
  for (int sample = 0; sample < 5; sample++) {
    double sum = 0;
    pthread_barrier_init(&begin, NULL, (unsigned)count);
    for (int i = 0; i < count; i++) {
      runs[i] = (struct self_run){is_apart ? &apart[i].state : &close_together[i], i, seconds / 5,
                                  0, &begin};
      pthread_create(&threads[i], NULL, send_to_self, &runs[i]);
    }
    for (int i = 0; i < count; i++) {
      pthread_join(threads[i], NULL);
      sum += runs[i].each;
    }
    printf("result %s %.6g ns\n", name, sum / count * 1e9);
  }
}

// ---- allocation
// ----------------------------------------------------------------------------------------

enum { message_bytes = 256 };

static pthread_mutex_t heap_lock = PTHREAD_MUTEX_INITIALIZER;

static void* take_from_locked_heap(void) {
  pthread_mutex_lock(&heap_lock);
  void* message = malloc(message_bytes);
  pthread_mutex_unlock(&heap_lock);
  return message;
}

static void give_to_locked_heap(void* message) {
  pthread_mutex_lock(&heap_lock);
  free(message);
  pthread_mutex_unlock(&heap_lock);
}

// A pool belongs to one core: memory freed by another core comes back through a ring, and the owner
// puts it into its list.
static void* pool_list;
static struct queue way_back;

static void* take_from_pool(void) {
  void* message = pool_list;
  if (message == NULL) {
    const size_t place = atomic_load_explicit(&way_back.head, memory_order_relaxed);
    message = (void*)atomic_exchange_explicit(&way_back.slots[place % ring_slots], 0,
                                              memory_order_acquire);
    if (message == NULL) return malloc(message_bytes);
    atomic_store_explicit(&way_back.head, place + 1, memory_order_relaxed);
    return message;
  }
  memcpy(&pool_list, message, sizeof pool_list);
  return message;
}

static void give_to_pool(void* message) {
  const size_t place = atomic_load_explicit(&way_back.tail, memory_order_relaxed);
  int count = 0;
  while (atomic_load_explicit(&way_back.slots[place % ring_slots], memory_order_acquire) != 0) {
    if (count > 4096) {  // its owner sends no more
      free(message);
      return;
    }
    relax(&count);
  }
  atomic_store_explicit(&way_back.slots[place % ring_slots], (uintptr_t)message,
                        memory_order_release);
  atomic_store_explicit(&way_back.tail, place + 1, memory_order_relaxed);
}

struct allocator {
  const char* name;
  void (*send)(int number);  // allocates, fills and passes on a message
  int (*receive)(void);      // frees one; 0: there is none
};

// A message by reference, with its first byte written.
static void pass_on(char* message, int number) {
  message[0] = (char)number;
  put_own(0, (uintptr_t)message);
}

static void send_from_locked_heap(int number) {
  pass_on(take_from_locked_heap(), number);
}

static int receive_to_locked_heap(void) {
  void* message = (void*)take_own(0);
  if (message != NULL) give_to_locked_heap(message);
  return message != NULL;
}

static void send_from_malloc(int number) {
  pass_on(malloc(message_bytes), number);
}

static int receive_to_malloc(void) {
  void* message = (void*)take_own(0);
  free(message);
  return message != NULL;
}

static void send_from_pool(int number) {
  pass_on(take_from_pool(), number);
}

static int receive_to_pool(void) {
  void* message = (void*)take_own(0);
  if (message != NULL) give_to_pool(message);
  return message != NULL;
}

// Sorrel's way: the bytes travel in the mailbox, and the receiver's pool holds them.
static void send_by_mailbox(int number) {
  char message[message_bytes];
  int count = 0;
  message[0] = (char)number;
  while (!mailbox_put_message(message, sizeof message))
    relax(&count);
}

static const struct allocator allocators[] = {
    {"locked_heap", send_from_locked_heap, receive_to_locked_heap},
    {"malloc", send_from_malloc, receive_to_malloc},
    {"pool", send_from_pool, receive_to_pool},
    {"message_pool", send_by_mailbox, mailbox_take_message}};

enum { allocator_count = sizeof allocators / sizeof *allocators };

static const struct allocator* allocator;

static void* fill_messages(void* argument) {
  (void)argument;
  stay_on(cpu_count > 1 ? 1 : 0);
  for (;;) {
    pthread_barrier_wait(&run.begin);
    if (atomic_load(&run.is_over)) return NULL;
    for (int i = 0; i < items; i++)
      allocator->send(i);
  }
}

static void measure_allocator(const struct allocator* which, double seconds) {
  pthread_t thread;
  allocator = which;
  pool_list = NULL;
  atomic_store(&run.is_over, 0);
  pthread_barrier_init(&run.begin, NULL, 2);
  for (struct queue* q = &queues[0]; q != NULL; q = q == &queues[0] ? &way_back : NULL) {
    q->slot_count = ring_slots;
    q->slots = calloc(ring_slots, sizeof *q->slots);
    atomic_store(&q->head, 0);
    atomic_store(&q->tail, 0);
  }
  mailboxes_open(1);
  pthread_create(&thread, NULL, fill_messages, NULL);
  const double end = now() + seconds;
  for (int sample = -1; sample < sample_max && (sample < 3 || now() < end); sample++) {
    pthread_barrier_wait(&run.begin);
    const double start = now();
    int count = 0;
    for (int taken = 0; taken < items;) {
      if (which->receive()) {
        taken++;
      } else {
        relax(&count);
      }
    }
    if (sample >= 0) printf("result %s %.6g ns\n", which->name, (now() - start) / items * 1e9);
  }
  atomic_store(&run.is_over, 1);
  pthread_barrier_wait(&run.begin);
  pthread_join(thread, NULL);
  free(queues[0].slots);
  free(way_back.slots);
  mailboxes_close();
}

// ---- polls

static void measure_poll(int mailboxes, double seconds) {
  mailboxes_open(mailboxes);
  const double end = now() + seconds;
  for (int sample = 0; sample < sample_max && (sample < 3 || now() < end); sample++) {
    const double start = now();
    for (int i = 0; i < batch; i++) {
      if (mailboxes_poll()) {
        fprintf(stderr, "smp: an empty mailbox has a record\n");
        exit(1);
      }
    }
    printf("result poll_%d %.6g ns\n", mailboxes, (now() - start) / batch * 1e9);
  }
  mailboxes_close();
}

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? atof(argv[1]) : 0.2;
  const char* what = argc > 2 ? argv[2] : "";
  find_cpus();
  stay_on(0);
  producer_count = argc > 3 ? atoi(argv[3]) : 1;
  if (strcmp(what, "queue") == 0 && producer_count >= 1 && producer_count <= producers_max) {
    for (int i = 0; i < kind_count; i++)
      measure_queue(&kinds[i], seconds);
  } else if (strcmp(what, "self") == 0) {
    measure_self("close_together", seconds, 0);
    measure_self("apart", seconds, 1);
  } else if (strcmp(what, "allocate") == 0) {
    for (int i = 0; i < allocator_count; i++)
      measure_allocator(&allocators[i], seconds);
  } else if (strcmp(what, "poll") == 0 && producer_count >= 1) {
    measure_poll(producer_count, seconds);
  } else {
    fprintf(stderr, "usage: smp SECONDS queue PRODUCERS | self | allocate | poll MAILBOXES\n");
    return 2;
  }
  return 0;
}
