// Random one-sided operations with derived datatypes on windows in the memory of a device give what
// a sequential model of every window gives, in all kinds of epochs. Each rank changes a strip of
// each window that no other rank touches; all ranks draw the same numbers. The argument: "within",
// all ranks are in one process, whose workers wait for nothing.
#include <stdint.h>

#include "driver.h"

enum { strip = 96, slots = 3, own = strip * slots, types = 5, extent = 24, elements = 12 };

enum { put, get, accumulate, get_and_add, get_and_maximize, kinds };

enum { by_fence, by_lock, by_lock_all, by_start, epochs };

static MPI_Datatype type[types];
static int places[types][elements];

/* 12 ints in an extent of 24. */
static MPI_Datatype make_type(int kind) {
  MPI_Datatype made, inner, resized;
  int lengths[4] = {3, 1, 6, 2}, displacements[4] = {20, 0, 3, 12};
  int sizes[2] = {6, 4}, subsizes[2] = {4, 3}, starts[2] = {1, 1};
  int singles[6] = {6, 0, 2, 4, 1, 7};
  if (kind == 0) {
    MPI_Type_contiguous(elements, MPI_INT, &made);
  } else if (kind == 1) {
    MPI_Type_vector(6, 2, 4, MPI_INT, &made);
  } else if (kind == 2) {
    MPI_Type_indexed(4, lengths, displacements, MPI_INT, &made);
  } else if (kind == 3) {
    MPI_Type_vector(2, 1, 2, MPI_INT, &inner);
    MPI_Type_create_indexed_block(6, 1, singles, inner, &made);
    MPI_Type_free(&inner);
  } else {
    MPI_Type_create_subarray(2, sizes, subsizes, starts, MPI_ORDER_C, MPI_INT, &made);
  }
  MPI_Type_create_resized(made, 0, extent * (MPI_Aint)sizeof(int), &resized);
  MPI_Type_free(&made);
  MPI_Type_commit(&resized);
  return resized;
}

static void find_places(int kind) {
  int numbers[extent], position = 0;
  for (int i = 0; i < extent; ++i)
    numbers[i] = i;
  MPI_Pack(numbers, 1, type[kind], places[kind], elements * (int)sizeof(int), &position,
           MPI_COMM_SELF);
}

static uint64_t state = 99;

static int below(int limit) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (int)((state >> 33) % (uint64_t)limit);
}

/* One operation of a rank, and its buffers there. */
typedef struct {
  int target, kind, from, to, count, seed, slot;
  int is_on_device, is_result_on_device;
  int values[strip], result[strip], expected[strip];
  CUdeviceptr values_there, result_there;
} Operation;

static void draw(Operation* of, int slot) {
  of->target = below(rank_count);
  of->kind = below(kinds);
  of->from = below(types);
  of->to = below(types);
  of->count = 1 + below(strip / extent);
  of->seed = below(1 << 20);
  of->slot = slot;
  of->is_on_device = below(4) != 0;
  of->is_result_on_device = below(4) != 0;
}

/* To the model of the window; what comes back is expected. */
static void apply(Operation* of, int* cells) {
  for (int i = 0; i < strip; ++i) {
    of->values[i] = of->seed + 7 * i;
    of->result[i] = of->expected[i] = -1 - i;
  }
  for (int e = 0; e < elements * of->count; ++e) {
    int* cell = &cells[extent * (e / elements) + places[of->to][e % elements]];
    const int place = extent * (e / elements) + places[of->from][e % elements];
    if (of->kind == get || of->kind >= get_and_add) of->expected[place] = *cell;
    if (of->kind == put) *cell = of->values[place];
    if (of->kind == accumulate || of->kind == get_and_add) *cell += of->values[place];
    if (of->kind == get_and_maximize && of->values[place] > *cell) *cell = of->values[place];
  }
}

static void call(Operation* of, int origin, MPI_Win window) {
  const MPI_Datatype from = type[of->from], to = type[of->to];
  const MPI_Aint where = (MPI_Aint)origin * own + (MPI_Aint)of->slot * strip;
  void* values = of->is_on_device ? (void*)of->values_there : of->values;
  void* result = of->is_result_on_device ? (void*)of->result_there : of->result;
  const int n = of->count;
  CHECK(cuda.cuMemcpyHtoD(of->values_there, of->values, sizeof of->values));
  CHECK(cuda.cuMemcpyHtoD(of->result_there, of->result, sizeof of->result));
  if (of->kind == put) {
    MPI_Put(values, n, from, of->target, where, n, to, window);
  } else if (of->kind == get) {
    MPI_Get(result, n, from, of->target, where, n, to, window);
  } else if (of->kind == accumulate) {
    MPI_Accumulate(values, n, from, of->target, where, n, to, MPI_SUM, window);
  } else {
    MPI_Get_accumulate(values, n, from, result, n, from, of->target, where, n, to,
                       of->kind == get_and_add ? MPI_SUM : MPI_MAX, window);
  }
}

static void check_result(Operation* of) {
  if (of->is_result_on_device)
    CHECK(cuda.cuMemcpyDtoH(of->result, of->result_there, sizeof of->result));
  for (int i = 0; i < strip; ++i) {
    if (of->result[i] != of->expected[i])
      fail(__LINE__, "kind %d: value %d is %d, not %d", of->kind, i, of->result[i],
           of->expected[i]);
  }
}

static void run_epoch(int epoch, Operation* of, MPI_Win window, MPI_Group world) {
  if (epoch == by_fence) MPI_Win_fence(0, window);
  if (epoch == by_lock_all) MPI_Win_lock_all(0, window);
  if (epoch == by_start) {
    MPI_Win_post(world, 0, window);
    MPI_Win_start(world, 0, window);
  }
  for (int i = 0; i < slots; ++i) {
    if (epoch == by_lock)
      MPI_Win_lock(i % 2 == 0 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, of[i].target, 0, window);
    call(&of[i], rank_number, window);
    if (epoch == by_lock) MPI_Win_unlock(of[i].target, window);
    // The next one may be on the same elements.
    if (epoch == by_lock_all && i % 2 == 0) MPI_Win_flush(of[i].target, window);
    if (epoch == by_lock_all && i % 2 != 0) MPI_Win_flush_all(window);
    if (epoch == by_lock || epoch == by_lock_all) check_result(&of[i]);
  }
  if (epoch == by_fence) MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
  if (epoch == by_lock_all) MPI_Win_unlock_all(window);
  if (epoch == by_start) {
    MPI_Win_complete(window);
    MPI_Win_wait(window);
  }
  if (epoch == by_lock || epoch == by_lock_all) MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  open_cuda(CU_GET_PROC_ADDRESS_LEGACY_STREAM);
  use_device(0);
  for (int i = 0; i < types; ++i) {
    type[i] = make_type(i);
    find_places(i);
  }
  const size_t cells = (size_t)rank_count * own, bytes = cells * sizeof(int);
  CUdeviceptr memory = allocate(bytes);
  int* seen = malloc(bytes);
  int* model = calloc(cells * (size_t)rank_count, sizeof(int));
  Operation* operations = calloc(slots, sizeof *operations);
  Operation* others = calloc(1, sizeof *others);
  for (int i = 0; i < slots; ++i) {
    operations[i].values_there = allocate(sizeof operations[i].values);
    operations[i].result_there = allocate(sizeof operations[i].result);
  }
  CHECK(cuda.cuMemsetD8(memory, 0, bytes));
  CHECK(cuda.cuCtxSynchronize());
  MPI_Win window;
  MPI_Group world;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Win_create((void*)memory, (MPI_Aint)bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                 &window);
  const int rounds = rank_count > 16 ? 8 : 40;
  for (int round = 0; round < rounds; ++round) {
    const int epoch = round % epochs;
    for (int origin = 0; origin < rank_count; ++origin) {
      for (int i = 0; i < slots; ++i) {
        Operation* of = origin == rank_number ? &operations[i] : others;
        draw(of, epoch == by_lock_all ? 0 : i);
        apply(of,
              model + (size_t)of->target * cells + (size_t)origin * own + (size_t)of->slot * strip);
      }
    }
    run_epoch(epoch, operations, window, world);
    for (int i = 0; i < slots; ++i)
      check_result(&operations[i]);
    CHECK(cuda.cuMemcpyDtoH(seen, memory, bytes));
    for (size_t i = 0; i < cells; ++i) {
      const int expected = model[(size_t)rank_number * cells + i];
      if (seen[i] != expected)
        fail(__LINE__, "round %d: cell %zu is %d, not %d", round, i, seen[i], expected);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (argc > 1) REQUIRE(cuda.count(FAKE_CUDA_BLOCKING_WAITS) == 0 || rank_count == 1);
  MPI_Win_free(&window);
  MPI_Group_free(&world);
  for (int i = 0; i < types; ++i)
    MPI_Type_free(&type[i]);
  printf("windows of rank %d are as the model says\n", rank_number);
  MPI_Finalize();
  return 0;
}
