#include "cases.h"

static void request_active(int wrong) {
  int value = 0;
  MPI_Request request;
  if (rank_of(world) == 0) {
    MPI_Irecv(&value, 1, MPI_INT, 1, 3, world, &request); /* planted */
    if (!wrong) MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (!wrong) {
    MPI_Send(&value, 1, MPI_INT, 0, 3, world);
  }
}

static void request_send(int wrong) {
  int value = 0;
  if (rank_of(world) == 0) {
    MPI_Request request;
    MPI_Isend(&value, 1, MPI_INT, 1, 3, world, &request); /* planted */
    if (!wrong) MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(&value, 1, MPI_INT, 0, 3, world, MPI_STATUS_IGNORE);
  }
}

static void request_overwritten(int wrong) {
  int values[2] = {0, 0};
  MPI_Request requests[2];
  const int peer = 1 - rank_of(world);
  for (int i = 0; i < 2; ++i)
    MPI_Irecv(&values[i], 1, MPI_INT, peer, i, world,
              wrong ? &requests[0] : &requests[i]); /* planted */
  for (int i = 0; i < 2; ++i)
    MPI_Send(&i, 1, MPI_INT, peer, i, world);
  MPI_Waitall(wrong ? 1 : 2, requests, MPI_STATUSES_IGNORE);
}

static void request_persistent(int wrong) {
  int value = 0;
  MPI_Request request;
  MPI_Send_init(&value, 1, MPI_INT, MPI_PROC_NULL, 0, world, &request); /* planted */
  if (!wrong) MPI_Request_free(&request);
}

static void request_collective(int wrong) {
  MPI_Request request;
  MPI_Ibarrier(world, &request); /* planted */
  if (!wrong) MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void communicator_dup(int wrong) {
  MPI_Comm copy;
  MPI_Comm_dup(world, &copy); /* planted */
  if (!wrong) MPI_Comm_free(&copy);
}

static void communicator_split(int wrong) {
  MPI_Comm half;
  MPI_Comm_split(world, rank_of(world) % 2, 0, &half); /* planted */
  if (!wrong) MPI_Comm_disconnect(&half);
}

static void communicator_cart(int wrong) {
  MPI_Comm grid;
  const int dims[1] = {2}, periods[1] = {1};
  MPI_Cart_create(world, 1, dims, periods, 0, &grid); /* planted */
  if (!wrong) MPI_Comm_free(&grid);
}

static void datatype(int wrong) {
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair); /* planted */
  MPI_Type_commit(&pair);
  if (!wrong) MPI_Type_free(&pair);
}

static void datatype_contents(int wrong) {
  MPI_Datatype pair, both, inner = MPI_DATATYPE_NULL;
  int integers[1];
  MPI_Aint addresses[1];
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_contiguous(2, pair, &both);
  MPI_Type_get_contents(both, 1, 0, 1, integers, addresses, &inner); /* planted */
  if (!wrong) MPI_Type_free(&inner);
  MPI_Type_free(&pair);
  MPI_Type_free(&both);
}

static void group(int wrong) {
  MPI_Group all;
  MPI_Comm_group(world, &all); /* planted */
  if (!wrong) MPI_Group_free(&all);
}

static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i)
    ((int*)inout)[i] += ((int*)in)[i];
}

static void op(int wrong) {
  MPI_Op own;
  MPI_Op_create(add, 1, &own); /* planted */
  if (!wrong) MPI_Op_free(&own);
}

static void info(int wrong) {
  MPI_Info hints;
  MPI_Info_create(&hints); /* planted */
  if (!wrong) MPI_Info_free(&hints);
}

static void on_error(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  (void)code;
}

static void errhandler(int wrong) {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(on_error, &handler); /* planted */
  if (!wrong) MPI_Errhandler_free(&handler);
}

static void window(int wrong) {
  int value = 0;
  MPI_Win win;
  MPI_Win_create(&value, sizeof value, sizeof value, MPI_INFO_NULL, world, &win); /* planted */
  if (!wrong) MPI_Win_free(&win);
}

static void file(int wrong) {
  MPI_File handle;
  MPI_File_open(world, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &handle); /* planted */
  if (!wrong) MPI_File_close(&handle);
}

static void message(int wrong) {
  int value = 0;
  if (rank_of(world) == 0) {
    MPI_Request request;
    MPI_Ibsend(&value, 0, MPI_INT, MPI_PROC_NULL, 3, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Isend(&value, 1, MPI_INT, 1, 3, world, &request);
    if (wrong) {
      MPI_Request_free(&request);
    } else {
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  } else {
    MPI_Message handle;
    MPI_Mprobe(0, 3, world, &handle, MPI_STATUS_IGNORE); /* planted */
    if (!wrong) MPI_Mrecv(&value, 1, MPI_INT, &handle, MPI_STATUS_IGNORE);
  }
}

static const struct check_case cases[] = {
    {"request-active", 2, "leak-request", request_active},
    {"request-send", 2, "leak-request", request_send},
    {"request-overwritten", 2, "leak-request", request_overwritten},
    {"request-persistent", 1, "leak-request", request_persistent},
    {"request-collective", 2, "leak-request", request_collective},
    {"communicator-dup", 2, "leak-communicator", communicator_dup},
    {"communicator-split", 2, "leak-communicator", communicator_split},
    {"communicator-cart", 2, "leak-communicator", communicator_cart},
    {"datatype", 1, "leak-datatype", datatype},
    {"datatype-contents", 1, "leak-datatype", datatype_contents},
    {"group", 2, "leak-group", group},
    {"op", 1, "leak-op", op},
    {"info", 1, "leak-info", info},
    {"errhandler", 1, "leak-errhandler", errhandler},
    {"window", 2, "leak-window", window},
    {"file", 2, "leak-file", file},
    {"message", 2, "leak-message", message},
};

int main(int argc, char** argv) {
  return run_cases(argc, argv, cases, sizeof cases / sizeof *cases);
}
