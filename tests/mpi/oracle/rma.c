// rma [ROUNDS]: windows of random kinds under random synchronization, compared with a model. In a
// round each rank changes a strip of another rank's window that no other rank touches, by a
// sequence of operations whose outcome is that of the same sequence on an array; all ranks add to
// common cells, and draw tickets. All ranks draw the same numbers, so each knows every window.
#include "../check.h"

enum { strip = 40, shared_cells = 8, ops_max = 6, tickets = 2 };

typedef long long Cell;

static int rank, size;
static Cell* window;
static Cell* own;     // the model of this rank's window
static Cell* strips;  // and of this rank's strip in each other one
static Cell* drawn;   // tickets of each rank
static size_t cells;
static uint64_t shared_random;

static MPI_Win make_window(int kind, void** freed) {
  MPI_Win win;
  const MPI_Aint bytes = (MPI_Aint)(cells * sizeof(Cell));
  *freed = NULL;
  if (kind == 0) {
    *freed = window = malloc((size_t)bytes);
    MPI_Win_create(window, bytes, sizeof(Cell), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  } else if (kind == 1) {
    MPI_Win_allocate(bytes, sizeof(Cell), MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
  } else {
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    if (size_of(node) == size) {
      MPI_Win_allocate_shared(bytes, sizeof(Cell), MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
    } else {
      MPI_Win_allocate(bytes, sizeof(Cell), MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
    }
    MPI_Comm_free(&node);
  }
  memset(window, 0, (size_t)bytes);
  return win;
}

/// One origin's operations on its strip of `target`; `is_own`: they are carried out, too. What a
/// get must bring is that of the model at that moment.
static void change_strip(
    MPI_Win win, int origin, int target, uint64_t seed, int is_own, int may_flush) {
  if (!is_own && target != rank) return;
  Cell* cell = target == rank ? own + (size_t)origin * strip : strips + (size_t)target * strip;
  // Its own stay until the end of the epoch.
  static Cell outs[2][ops_max][strip], in[ops_max][strip], expected[ops_max][strip];
  Cell(*out)[strip] = outs[is_own];
  int got[ops_max] = {0};
  const MPI_Aint base = (MPI_Aint)origin * strip;
  const int count = 1 + random_below(&seed, may_flush ? ops_max : 1);
  for (int k = 0; k < count; k++) {
    const int kind = random_below(&seed, 5), first = random_below(&seed, strip);
    const int length = 1 + random_below(&seed, strip - first);
    const Cell value = (Cell)(random_next(&seed) >> 20);
    for (int i = 0; i < length; i++)
      out[k][i] = value + i;
    if (is_own) {
      switch (kind) {
        case 0:
          MPI_Put(out[k], length, MPI_LONG_LONG, target, base + first, length, MPI_LONG_LONG, win);
          break;
        case 1:
          MPI_Get(in[k], length, MPI_LONG_LONG, target, base + first, length, MPI_LONG_LONG, win);
          break;
        case 2:
          MPI_Accumulate(out[k], length, MPI_LONG_LONG, target, base + first, length, MPI_LONG_LONG,
                         MPI_SUM, win);
          break;
        case 3:
          MPI_Get_accumulate(out[k], length, MPI_LONG_LONG, in[k], length, MPI_LONG_LONG, target,
                             base + first, length, MPI_LONG_LONG, MPI_BXOR, win);
          break;
        default:
          MPI_Fetch_and_op(out[k], in[k], MPI_LONG_LONG, target, base + first, MPI_REPLACE, win);
      }
      if (may_flush) MPI_Win_flush(target, win);
    }
    for (int i = 0; i < (kind == 4 ? 1 : length); i++) {
      Cell* at = &cell[first + i];
      expected[k][i] = *at;
      if (kind == 0 || kind == 4) *at = out[k][i];
      if (kind == 2) *at += out[k][i];
      if (kind == 3) *at ^= out[k][i];
    }
    got[k] = kind == 1 || kind == 3 ? length : kind == 4 ? 1 : 0;
  }
  if (!is_own || !may_flush) return;
  for (int k = 0; k < count; k++)
    for (int i = 0; i < got[k]; i++)
      CHECK_EQUAL(in[k][i], expected[k][i]);
}

static void begin(MPI_Win win, int way, int target, MPI_Group all) {
  if (way == 0) MPI_Win_fence(0, win);
  if (way == 1) {
    MPI_Win_post(all, 0, win);
    MPI_Win_start(all, 0, win);
  }
  if (way == 2) MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win);
  if (way == 3) MPI_Win_lock_all(0, win);
  if (way == 4) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win);
}

static void end(MPI_Win win, int way, int target) {
  if (way == 0) MPI_Win_fence(0, win);
  if (way == 1) {
    MPI_Win_complete(win);
    MPI_Win_wait(win);
  }
  if (way == 2 || way == 4) MPI_Win_unlock(target, win);
  if (way == 3) MPI_Win_unlock_all(win);
}

static void check_window(MPI_Win win, const char* what, int round) {
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
  for (size_t i = 0; i < cells; i++) {
    const Cell expected = own[i];
    if (window[i] == expected) continue;
    fprintf(stderr,
            "oracle rma: round %d, %s: cell %zu of rank %d (strip of rank %zu) is %lld, not %lld\n",
            round, what, i, rank, i / strip, window[i], expected);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Win_unlock(rank, win);
}

/// Every rank adds to the common cells of some ranks, and draws tickets at one.
static void add_to_all(MPI_Win win, int way, int round) {
  const size_t common = (size_t)size * strip;
  Cell out[shared_cells], in[tickets];
  const int keeper = random_below(&shared_random, size);
  for (int origin = 0; origin < size; origin++) {
    const int target = random_below(&shared_random, size);
    const int length = 1 + random_below(&shared_random, shared_cells - 1);
    for (int i = 0; i < length; i++)
      out[i] = (Cell)(origin + 1) * (origin + 1) + i;
    if (origin == rank) {
      begin(win, way, target, MPI_GROUP_NULL);
      MPI_Accumulate(out, length, MPI_LONG_LONG, target, (MPI_Aint)common + 1, length,
                     MPI_LONG_LONG, MPI_SUM, win);
      end(win, way, target);
    }
    for (int i = 0; i < length && target == rank; i++)
      own[common + 1 + (size_t)i] += out[i];
  }
  const Cell one = 1;
  begin(win, way, keeper, MPI_GROUP_NULL);
  MPI_Fetch_and_op(&one, &in[0], MPI_LONG_LONG, keeper, (MPI_Aint)common, MPI_SUM, win);
  end(win, way, keeper);
  // Each ticket is drawn once.
  Cell sums[2] = {in[0], in[0] * in[0]}, totals[2];
  MPI_Allreduce(sums, totals, 2, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
  const Cell first = drawn[keeper];
  Cell expected[2] = {0, 0};
  for (Cell i = first; i < first + size; i++) {
    expected[0] += i;
    expected[1] += i * i;
  }
  if (totals[0] != expected[0] || totals[1] != expected[1]) {
    fprintf(stderr, "oracle rma: round %d: the tickets of rank %d add up to %lld, not %lld\n",
            round, keeper, totals[0], expected[0]);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  drawn[keeper] += size;
  if (keeper == rank) own[common] += size;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  rank = rank_in(MPI_COMM_WORLD);
  size = size_of(MPI_COMM_WORLD);
  const int rounds = argc > 1 ? atoi(argv[1]) : 8;
  shared_random = random_seed(1);
  cells = (size_t)size * strip + 1 + shared_cells;
  own = malloc(cells * sizeof(Cell));
  strips = malloc((size_t)size * strip * sizeof(Cell));
  drawn = malloc((size_t)size * sizeof(Cell));
  MPI_Group all;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  int turn_count = 0;
  for (int round = 0; round < rounds; round++) {
    memset(own, 0, cells * sizeof(Cell));
    memset(strips, 0, (size_t)size * strip * sizeof(Cell));
    memset(drawn, 0, (size_t)size * sizeof(Cell));
    void* freed;
    MPI_Win win = make_window(random_below(&shared_random, 3), &freed);
    MPI_Barrier(MPI_COMM_WORLD);
    const int turns = 1 + random_below(&shared_random, 3);
    for (int turn = 0; turn < turns; turn++, turn_count++) {
      const int way = random_below(&shared_random, 5), shift = random_below(&shared_random, size);
      const uint64_t seed = random_next(&shared_random);
      begin(win, way, (rank + shift) % size, all);
      for (int origin = 0; origin < size; origin++)
        change_strip(win, origin, (origin + shift) % size, seed + (uint64_t)origin, origin == rank,
                     way >= 2);
      end(win, way, (rank + shift) % size);
      if (way == 0) MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
      MPI_Barrier(MPI_COMM_WORLD);
      check_window(win, "strips", round);
      MPI_Barrier(MPI_COMM_WORLD);
      add_to_all(win, 2 + random_below(&shared_random, 3), round);
      MPI_Barrier(MPI_COMM_WORLD);
      check_window(win, "sums", round);
      MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_free(&win);
    free(freed);
  }
  if (rank == 0) printf("oracle rma: %d windows, %d epochs are right\n", rounds, turn_count);
  MPI_Group_free(&all);
  free(own);
  free(strips);
  free(drawn);
  MPI_Finalize();
  return 0;
}
