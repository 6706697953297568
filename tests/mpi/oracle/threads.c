// threads [ROUNDS]: random calls of MPI by several threads of each rank at once. Thread t of every
// rank belongs to the same plan, and has a communicator, a window, and tags of its own on a
// communicator of all; so each thread knows what its calls must bring, whatever the other threads
// do.
#include <pthread.h>

#include "../check.h"

enum { threads = 3, cells = 64, elements_max = 30000 };

typedef struct {
  int number, rounds;
  uint64_t seed;
  MPI_Comm comm, common;
  MPI_Win win;
  long long* window;
  long call_count;
} Task;

static int rank, size;

static int value_of(uint64_t key, int from, int i) {
  return (int)((key * 31 + (uint64_t)from * 1000003u + (uint64_t)i * 17u) % 1000000007u);
}

static int draw_elements(uint64_t* random) {
  static const int kinds[] = {1, 2, 60, 128, 129, 1000, 4096, 4097, elements_max};
  return kinds[random_below(random, 9)];
}

/// A message around the ring of all ranks, by some distance, in one of several ways, among other
/// threads' messages.
static void pass_on(Task* task, uint64_t* random, uint64_t* own) {
  const int shift = random_below(random, size), elements = draw_elements(random),
            count = 1 + random_below(random, 3);
  const uint64_t key = random_next(random);
  const int to = (rank + shift) % size, from = (rank + size - shift) % size;
  // The tag is that of this round: a rank that is ahead sends to others by another distance.
  const int tag = (int)(task->call_count % 1000) * threads + task->number;
  const MPI_Comm comm = random_below(random, 2) ? task->comm : task->common;
  int* sent = malloc((size_t)(count * elements) * sizeof *sent);
  int* got = malloc((size_t)(count * elements) * sizeof *got);
  MPI_Request requests[6];
  MPI_Status status;
  for (int i = 0; i < count * elements; i++) {
    sent[i] = value_of(key, rank, i);
    got[i] = -1;
  }
  const int is_early = random_below(own, 2);
  int pending = 0;
  for (int k = 0; k < count && is_early; k++)
    MPI_Irecv(got + k * elements, elements, MPI_INT, random_below(own, 2) ? from : MPI_ANY_SOURCE,
              tag, comm, &requests[pending++]);
  for (int k = 0; k < count; k++) {
    if (random_below(own, 2)) {
      MPI_Isend(sent + k * elements, elements, MPI_INT, to, tag, comm, &requests[pending++]);
    } else {
      MPI_Issend(sent + k * elements, elements, MPI_INT, to, tag, comm, &requests[pending++]);
    }
  }
  for (int k = 0; k < count && !is_early; k++) {
    MPI_Message message;
    int flag = 0;
    switch (random_below(own, 4)) {
      case 0:
        MPI_Mprobe(MPI_ANY_SOURCE, tag, comm, &message, &status);
        MPI_Mrecv(got + k * elements, elements, MPI_INT, &message, &status);
        break;
      case 1:
        while (!flag)
          MPI_Improbe(from, tag, comm, &flag, &message, &status);
        MPI_Mrecv(got + k * elements, elements, MPI_INT, &message, &status);
        break;
      default:
        MPI_Recv(got + k * elements, elements, MPI_INT, from, tag, comm, &status);
    }
    CHECK_EQUAL(status.MPI_SOURCE, from);
    CHECK_EQUAL(status.MPI_TAG, tag);
  }
  const int how = random_below(own, 3);
  if (how == 0) MPI_Waitall(pending, requests, MPI_STATUSES_IGNORE);
  for (int flag = 0; how == 1 && !flag;)
    MPI_Testall(pending, requests, &flag, MPI_STATUSES_IGNORE);
  for (int index = 0; how == 2 && index != MPI_UNDEFINED;)
    MPI_Waitany(pending, requests, &index, MPI_STATUS_IGNORE);
  for (int i = 0; i < count * elements; i++)
    if (got[i] != value_of(key, from, i)) CHECK_EQUAL(got[i], value_of(key, from, i));
  free(got);
  free(sent);
}

static void call_collective(Task* task, uint64_t* random, MPI_Comm comm) {
  const int count = 1 + random_below(random, 2000), members = size_of(comm), own = rank_in(comm);
  const int root = random_below(random, members), kind = random_below(random, 7);
  const uint64_t key = random_next(random);
  long long* in = malloc((size_t)count * sizeof *in);
  long long* out = malloc((size_t)count * sizeof *out);
  for (int i = 0; i < count; i++) {
    in[i] = (long long)(own + 1) * (i + 1) + task->number;
    out[i] = -1;
  }
  const long long ranks = (long long)members * (members + 1) / 2;
  MPI_Request request = MPI_REQUEST_NULL;
  switch (kind) {
    case 0:
      MPI_Barrier(comm);
      break;
    case 1:
      for (int i = 0; i < count && own == root; i++)
        out[i] = value_of(key, 0, i);
      MPI_Bcast(out, count, MPI_LONG_LONG, root, comm);
      for (int i = 0; i < count; i++)
        CHECK_EQUAL(out[i], value_of(key, 0, i));
      break;
    case 2:
    case 3:
      if (kind == 2) MPI_Allreduce(in, out, count, MPI_LONG_LONG, MPI_SUM, comm);
      if (kind == 3) MPI_Iallreduce(in, out, count, MPI_LONG_LONG, MPI_SUM, comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      for (int i = 0; i < count; i++)
        CHECK_EQUAL(out[i], ranks * (i + 1) + (long long)members * task->number);
      break;
    case 4:
      MPI_Reduce(in, out, count, MPI_LONG_LONG, MPI_SUM, root, comm);
      for (int i = 0; i < count && own == root; i++)
        CHECK_EQUAL(out[i], ranks * (i + 1) + (long long)members * task->number);
      break;
    case 5:
      MPI_Scan(in, out, count, MPI_LONG_LONG, MPI_SUM, comm);
      for (int i = 0; i < count; i++)
        CHECK_EQUAL(out[i], (long long)(own + 1) * (own + 2) / 2 * (i + 1) +
                                (long long)(own + 1) * task->number);
      break;
    default: {
      int* all = malloc((size_t)members * sizeof *all);
      const int value = value_of(key, own, 1);
      MPI_Iallgather(&value, 1, MPI_INT, all, 1, MPI_INT, comm, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      for (int i = 0; i < members; i++)
        CHECK_EQUAL(all[i], value_of(key, i, 1));
      free(all);
    }
  }
  free(out);
  free(in);
}

static void call_in_a_part(Task* task, uint64_t* random) {
  const int colours = 1 + random_below(random, 3);
  uint64_t of_part = random_next(random) + (uint64_t)(rank % colours);
  MPI_Comm part;
  MPI_Comm_split(task->comm, rank % colours, rank, &part);
  for (int i = 0; i < 3; i++)
    call_collective(task, &of_part, part);
  MPI_Comm_free(&part);
}

/// Every rank adds to cells of all ranks, in the thread's window.
static void add_to_windows(Task* task, uint64_t* random) {
  const int first = random_below(random, cells / 2), count = 1 + random_below(random, cells / 2),
            way = random_below(random, 3);
  long long ones[cells], before = -1;
  for (int i = 0; i < cells; i++)
    ones[i] = rank + 1;
  if (way == 0) MPI_Win_fence(0, task->win);
  if (way == 1) MPI_Win_lock_all(0, task->win);
  for (int k = 0; k < size; k++) {
    const int target = (rank + k) % size;
    if (way == 2) MPI_Win_lock(MPI_LOCK_SHARED, target, 0, task->win);
    MPI_Accumulate(ones, count, MPI_LONG_LONG, target, first, count, MPI_LONG_LONG, MPI_SUM,
                   task->win);
    if (way == 1) {
      MPI_Fetch_and_op(NULL, &before, MPI_LONG_LONG, target, first, MPI_NO_OP, task->win);
      MPI_Win_flush(target, task->win);
      CHECK(before >= 0);
    }
    if (way == 2) MPI_Win_unlock(target, task->win);
  }
  if (way == 0) MPI_Win_fence(0, task->win);
  if (way == 1) MPI_Win_unlock_all(task->win);
  MPI_Barrier(task->comm);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, task->win);
  for (int i = 0; i < cells; i++) {
    CHECK_EQUAL(task->window[i],
                i >= first && i < first + count ? (long long)size * (size + 1) / 2 : 0);
    task->window[i] = 0;
  }
  MPI_Win_unlock(rank, task->win);
  MPI_Barrier(task->comm);
}

static void* run(void* argument) {
  Task* task = argument;
  uint64_t random = task->seed * 977 + (uint64_t)task->number,
           own = random * 65537 + (uint64_t)rank;
  for (int round = 0; round < task->rounds; round++) {
    const int what = random_below(&random, 8);
    if (what < 4) pass_on(task, &random, &own);
    if (what == 4 || what == 5) call_collective(task, &random, task->comm);
    if (what == 6) call_in_a_part(task, &random);
    if (what == 7) add_to_windows(task, &random);
    task->call_count++;
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided = -1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  CHECK_EQUAL(provided, MPI_THREAD_MULTIPLE);
  const int rounds = argc > 1 ? atoi(argv[1]) : 4;
  uint64_t random = random_seed(1);
  rank = rank_in(MPI_COMM_WORLD);
  size = size_of(MPI_COMM_WORLD);
  Task tasks[threads] = {0};
  MPI_Comm common;
  MPI_Comm_dup(MPI_COMM_WORLD, &common);
  for (int t = 0; t < threads; t++) {
    MPI_Comm_dup(MPI_COMM_WORLD, &tasks[t].comm);
    tasks[t].common = common;
    tasks[t].number = t;
    MPI_Win_allocate(cells * sizeof(long long), sizeof(long long), MPI_INFO_NULL, tasks[t].comm,
                     &tasks[t].window, &tasks[t].win);
    memset(tasks[t].window, 0, cells * sizeof(long long));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  long calls = 0;
  for (int wave = 0; wave < rounds; wave++) {
    pthread_t others[threads];
    const int count = 1 + random_below(&random, threads);
    const uint64_t seed = random_next(&random);
    for (int t = 0; t < count; t++) {
      tasks[t].seed = seed;
      tasks[t].rounds = 12;
      if (t > 0) pthread_create(&others[t], NULL, run, &tasks[t]);
    }
    run(&tasks[0]);
    for (int t = 1; t < count; t++)
      pthread_join(others[t], NULL);
  }
  for (int t = 0; t < threads; t++)
    calls += tasks[t].call_count;
  if (rank == 0) printf("oracle threads: %ld rounds of rank 0 are right\n", calls);
  for (int t = 0; t < threads; t++) {
    MPI_Win_free(&tasks[t].win);
    MPI_Comm_free(&tasks[t].comm);
  }
  MPI_Comm_free(&common);
  MPI_Finalize();
  return 0;
}
