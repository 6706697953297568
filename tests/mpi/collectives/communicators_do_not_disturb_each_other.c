// Collectives on many communicators that exist at the same time, in an order that differs from rank
// to rank as far as MPI allows, do not mix; nor do messages between the same ranks meanwhile. A
// seed decides the splits and the order.
#include "../check.h"

enum { comm_count = 24, rounds = 60 };

static int world_rank, world_size;
static MPI_Comm comms[comm_count];
static int uses[comm_count];

/// All ranks draw the same numbers, so that all know every split.
static void make_communicators(uint64_t* shared_dice) {
  for (int i = 0; i < comm_count; i++) {
    const int color_count = 1 + random_below(shared_dice, 5);
    const int salt = random_below(shared_dice, 1000);
    const int multiplier = 1 + 2 * random_below(shared_dice, 50);
    MPI_Comm_split(i == 0 ? MPI_COMM_WORLD : comms[random_below(shared_dice, 1) * (i - 1)],
                   (world_rank * multiplier + salt) / 3 % color_count,
                   (world_rank * 31 + salt) % 17, &comms[i]);
  }
}

/// One collective whose result identifies the communicator and the number of its uses.
static void use(int i, int kind) {
  MPI_Comm comm = comms[i];
  const int me = rank_in(comm), size = size_of(comm);
  const int stamp = 1000 * i + uses[i]++;
  int sum = 0, value = me == stamp % size ? stamp : -1;
  switch (kind) {
    case 0:
      MPI_Barrier(comm);
      break;
    case 1:
      MPI_Bcast(&value, 1, MPI_INT, stamp % size, comm);
      CHECK_EQUAL(value, stamp);
      break;
    case 2:
      value = stamp + me;
      MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
      CHECK_EQUAL(sum, size * stamp + size * (size - 1) / 2);
      break;
    case 3: {
      int* all = malloc((size_t)size * sizeof *all);
      value = stamp * 3 + me;
      MPI_Allgather(&value, 1, MPI_INT, all, 1, MPI_INT, comm);
      for (int k = 0; k < size; k++)
        CHECK_EQUAL(all[k], stamp * 3 + k);
      free(all);
      break;
    }
    case 4: {
      int long_sum[600], long_value[600];
      for (int k = 0; k < 600; k++)
        long_value[k] = stamp + k;
      MPI_Allreduce(long_value, long_sum, 600, MPI_INT, MPI_MAX, comm);
      CHECK_EQUAL(long_sum[599], stamp + 599);
      break;
    }
    default: {
      const int right = (me + 1) % size, left = (me + size - 1) % size;
      MPI_Sendrecv(&stamp, 1, MPI_INT, right, stamp % 100, &value, 1, MPI_INT, left, stamp % 100,
                   comm, MPI_STATUS_IGNORE);
      CHECK_EQUAL(value, stamp);
    }
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  world_rank = rank_in(MPI_COMM_WORLD);
  world_size = size_of(MPI_COMM_WORLD);
  uint64_t dice = random_seed(11);
  for (int life = 0; life < 3; life++) {
    memset(uses, 0, sizeof uses);
    make_communicators(&dice);
    // All ranks follow the same list, so that members of any two communicators use them in the same
    // order; each rank has its own speed.
    for (int round = 0; round < rounds; round++) {
      const int i = random_below(&dice, comm_count);
      const int kind = random_below(&dice, 6);
      use(i, kind);
    }
    // Freed in another order than created, some while other members are still in a collective.
    for (int i = 0; i < comm_count; i++)
      MPI_Comm_free(&comms[(i * 7 + life) % comm_count]);
  }
  MPI_Finalize();
  return 0;
}
