// With MPI_ERRORS_RETURN every bad argument returns its error class, no operation is started, and
// the program continues.
#include "../check.h"

static int ranks;

static int class_of(int error) {
  int error_class;
  MPI_Error_class(error, &error_class);
  return error_class;
}

#define REFUSED(call, expected) CHECK_EQUAL(class_of(call), expected)

static void sends_and_receives(void) {
  int value = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  MPI_Message message;
  int flag;
  const MPI_Comm world = MPI_COMM_WORLD;
  REFUSED(MPI_Send(&value, 1, MPI_INT, ranks, 0, world), MPI_ERR_RANK);
  REFUSED(MPI_Send(&value, 1, MPI_INT, -7, 0, world), MPI_ERR_RANK);
  REFUSED(MPI_Send(&value, 1, MPI_INT, MPI_ANY_SOURCE, 0, world), MPI_ERR_RANK);
  REFUSED(MPI_Send(&value, 1, MPI_INT, 0, -1, world), MPI_ERR_TAG);
  REFUSED(MPI_Send(&value, 1, MPI_INT, 0, MPI_ANY_TAG, world), MPI_ERR_TAG);
  int *tag_ub, flag_ub;
  MPI_Comm_get_attr(world, MPI_TAG_UB, &tag_ub, &flag_ub);
  REFUSED(MPI_Send(&value, 1, MPI_INT, 0, *tag_ub + 1, world), MPI_ERR_TAG);
  REFUSED(MPI_Irecv(&value, 1, MPI_INT, 0, *tag_ub + 1, world, &request), MPI_ERR_TAG);
  REFUSED(MPI_Probe(0, *tag_ub + 1, world, &status), MPI_ERR_TAG);
  REFUSED(MPI_Send(&value, -1, MPI_INT, 0, 0, world), MPI_ERR_COUNT);
  REFUSED(MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 0, world), MPI_ERR_TYPE);
  REFUSED(MPI_Send(NULL, 1, MPI_INT, 0, 0, world), MPI_ERR_BUFFER);
  REFUSED(MPI_Send(MPI_IN_PLACE, 1, MPI_INT, 0, 0, world), MPI_ERR_BUFFER);
  REFUSED(MPI_Irecv(NULL, 1, MPI_INT, 0, 0, world, &request), MPI_ERR_BUFFER);
  REFUSED(MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM);
  REFUSED(MPI_Ssend(&value, 1, MPI_INT, ranks, 0, world), MPI_ERR_RANK);
  REFUSED(MPI_Rsend(&value, 1, MPI_INT, 0, -5, world), MPI_ERR_TAG);
  REFUSED(MPI_Bsend(&value, -2, MPI_INT, 0, 0, world), MPI_ERR_COUNT);
  REFUSED(MPI_Isend(&value, 1, MPI_INT, ranks, 0, world, &request), MPI_ERR_RANK);
  REFUSED(MPI_Send_init(&value, 1, MPI_INT, 0, -1, world, &request), MPI_ERR_TAG);
  REFUSED(MPI_Recv(&value, 1, MPI_INT, ranks, 0, world, &status), MPI_ERR_RANK);
  REFUSED(MPI_Recv(&value, 1, MPI_INT, 0, -9, world, &status), MPI_ERR_TAG);
  REFUSED(MPI_Recv(&value, -1, MPI_INT, 0, 0, world, &status), MPI_ERR_COUNT);
  REFUSED(MPI_Irecv(&value, 1, MPI_DATATYPE_NULL, 0, 0, world, &request), MPI_ERR_TYPE);
  REFUSED(MPI_Recv_init(&value, 1, MPI_INT, -8, 0, world, &request), MPI_ERR_RANK);
  REFUSED(MPI_Sendrecv(&value, 1, MPI_INT, ranks, 0, &value, 1, MPI_INT, 0, 0, world, &status),
          MPI_ERR_RANK);
  REFUSED(MPI_Sendrecv_replace(&value, 1, MPI_INT, 0, 0, 0, -4, world, &status), MPI_ERR_TAG);
  REFUSED(MPI_Probe(ranks, 0, world, &status), MPI_ERR_RANK);
  REFUSED(MPI_Iprobe(0, -6, world, &flag, &status), MPI_ERR_TAG);
  REFUSED(MPI_Mprobe(0, 0, MPI_COMM_NULL, &message, &status), MPI_ERR_COMM);
  CHECK(request == MPI_REQUEST_NULL);
}

static void collectives(void) {
  int value = 0, result = 0;
  const MPI_Comm world = MPI_COMM_WORLD;
  REFUSED(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
  REFUSED(MPI_Bcast(&value, 1, MPI_INT, ranks, world), MPI_ERR_ROOT);
  REFUSED(MPI_Bcast(&value, 1, MPI_INT, -1, world), MPI_ERR_ROOT);
  REFUSED(MPI_Bcast(&value, -1, MPI_INT, 0, world), MPI_ERR_COUNT);
  REFUSED(MPI_Bcast(&value, 1, MPI_DATATYPE_NULL, 0, world), MPI_ERR_TYPE);
  REFUSED(MPI_Reduce(&value, &result, 1, MPI_INT, MPI_OP_NULL, 0, world), MPI_ERR_OP);
  REFUSED(MPI_Reduce(&value, &result, 1, MPI_INT, MPI_SUM, ranks, world), MPI_ERR_ROOT);
  REFUSED(MPI_Allreduce(&value, &result, -1, MPI_INT, MPI_SUM, world), MPI_ERR_COUNT);
  REFUSED(MPI_Allreduce(&value, &result, 1, MPI_FLOAT, MPI_BAND, world), MPI_ERR_OP);
  REFUSED(MPI_Allreduce(&value, &result, 1, MPI_INT, MPI_REPLACE, world), MPI_ERR_OP);
  REFUSED(MPI_Scan(&value, &result, 1, MPI_INT, MPI_NO_OP, world), MPI_ERR_OP);
  REFUSED(MPI_Reduce_local(&value, &result, 1, MPI_INT, MPI_REPLACE), MPI_ERR_OP);
  REFUSED(MPI_Scan(&value, &result, 1, MPI_DATATYPE_NULL, MPI_SUM, world), MPI_ERR_TYPE);
  REFUSED(MPI_Gather(&value, 1, MPI_INT, &result, 1, MPI_INT, ranks + 3, world), MPI_ERR_ROOT);
  REFUSED(MPI_Allgather(&value, -1, MPI_INT, &result, 1, MPI_INT, world), MPI_ERR_COUNT);
  REFUSED(MPI_Alltoall(&value, 1, MPI_INT, &result, -1, MPI_INT, world), MPI_ERR_COUNT);
}

/// On MPI_COMM_SELF, where the rank is the root, too.
static void buffers_of_collectives(void) {
  int value = 0, result = 0, values[2] = {0, 0};
  const int counts[1] = {1}, places[1] = {0}, zero[1] = {0};
  const MPI_Comm self = MPI_COMM_SELF;
  REFUSED(MPI_Allreduce(&value, &value, 1, MPI_INT, MPI_SUM, self), MPI_ERR_BUFFER);
  REFUSED(MPI_Reduce(&value, &value, 1, MPI_INT, MPI_SUM, 0, self), MPI_ERR_BUFFER);
  REFUSED(MPI_Scan(&value, &value, 1, MPI_INT, MPI_SUM, self), MPI_ERR_BUFFER);
  REFUSED(MPI_Reduce_scatter(&value, &value, counts, MPI_INT, MPI_SUM, self), MPI_ERR_BUFFER);
  REFUSED(MPI_Reduce_scatter_block(&value, &value, 1, MPI_INT, MPI_SUM, self), MPI_ERR_BUFFER);
  REFUSED(MPI_Gather(values, 1, MPI_INT, values, 1, MPI_INT, 0, self), MPI_ERR_BUFFER);
  REFUSED(MPI_Gatherv(values, 1, MPI_INT, values, counts, places, MPI_INT, 0, self),
          MPI_ERR_BUFFER);
  REFUSED(MPI_Scatter(values, 1, MPI_INT, values, 1, MPI_INT, 0, self), MPI_ERR_BUFFER);
  REFUSED(MPI_Allgather(values, 1, MPI_INT, values, 1, MPI_INT, self), MPI_ERR_BUFFER);
  REFUSED(MPI_Alltoall(values, 1, MPI_INT, values, 1, MPI_INT, self), MPI_ERR_BUFFER);
  REFUSED(MPI_Allreduce(&value, NULL, 1, MPI_INT, MPI_SUM, self), MPI_ERR_BUFFER);
  REFUSED(MPI_Allreduce(&value, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, self), MPI_ERR_BUFFER);
  REFUSED(MPI_Gather(&value, 1, MPI_INT, NULL, 1, MPI_INT, 0, self), MPI_ERR_BUFFER);
  REFUSED(MPI_Alltoallv(&value, NULL, places, MPI_INT, &result, counts, places, MPI_INT, self),
          MPI_ERR_ARG);
  REFUSED(MPI_Gatherv(&value, 1, MPI_INT, &result, counts, NULL, MPI_INT, 0, self), MPI_ERR_ARG);
  REFUSED(MPI_Allgatherv(&value, 1, MPI_INT, NULL, counts, places, MPI_INT, self), MPI_ERR_BUFFER);
  REFUSED(MPI_Reduce_local(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
  REFUSED(MPI_Reduce_local(&value, NULL, 1, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
  // Without data there is no overlap and no missing data.
  CHECK_EQUAL(MPI_Allreduce(&value, &value, 0, MPI_INT, MPI_SUM, self), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, self), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Gatherv(NULL, 0, MPI_INT, NULL, zero, places, MPI_INT, 0, self), MPI_SUCCESS);
}

static void communicators_and_groups(void) {
  MPI_Comm comm;
  MPI_Group world, group;
  int rank, result;
  const int twice[2] = {0, 0}, outside[1] = {ranks};
  const int dims[1] = {ranks + 1}, periods[1] = {0};
  REFUSED(MPI_Comm_size(MPI_COMM_NULL, &rank), MPI_ERR_COMM);
  REFUSED(MPI_Comm_rank(MPI_COMM_NULL, &rank), MPI_ERR_COMM);
  REFUSED(MPI_Comm_dup(MPI_COMM_NULL, &comm), MPI_ERR_COMM);
  REFUSED(MPI_Comm_split(MPI_COMM_WORLD, -3, 0, &comm), MPI_ERR_ARG);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  REFUSED(MPI_Group_incl(world, 2, twice, &group), MPI_ERR_RANK);
  REFUSED(MPI_Group_incl(world, 1, outside, &group), MPI_ERR_RANK);
  REFUSED(MPI_Group_size(MPI_GROUP_NULL, &rank), MPI_ERR_GROUP);
  REFUSED(MPI_Comm_create(MPI_COMM_SELF, MPI_GROUP_NULL, &comm), MPI_ERR_GROUP);
  REFUSED(MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_NULL, &result), MPI_ERR_COMM);
  REFUSED(MPI_Cart_create(MPI_COMM_WORLD, 1, dims, periods, 0, &comm), MPI_ERR_TOPOLOGY);
  MPI_Group_free(&world);
  REFUSED(MPI_Comm_free(&(MPI_Comm){MPI_COMM_WORLD}), MPI_ERR_COMM);
}

static void types_requests_and_the_rest(void) {
  MPI_Datatype type;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Op op = MPI_SUM;
  int size;
  char value[8];
  REFUSED(MPI_Type_contiguous(-1, MPI_INT, &type), MPI_ERR_COUNT);
  REFUSED(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &type), MPI_ERR_TYPE);
  REFUSED(MPI_Type_size(MPI_DATATYPE_NULL, &size), MPI_ERR_TYPE);
  REFUSED(MPI_Type_free(&(MPI_Datatype){MPI_INT}), MPI_ERR_TYPE);
  MPI_Type_contiguous(2, MPI_INT, &type);
  REFUSED(MPI_Send(value, 1, type, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
  MPI_Type_free(&type);
  REFUSED(MPI_Start(&request), MPI_ERR_REQUEST);
  REFUSED(MPI_Request_free(&request), MPI_ERR_REQUEST);
  REFUSED(MPI_Cancel(&request), MPI_ERR_REQUEST);
  REFUSED(MPI_Op_free(&op), MPI_ERR_OP);
  REFUSED(MPI_Waitall(-1, &request, MPI_STATUSES_IGNORE), MPI_ERR_COUNT);
  REFUSED(MPI_Info_set(MPI_INFO_NULL, "a", "b"), MPI_ERR_INFO);
  REFUSED(MPI_Init(NULL, NULL), MPI_ERR_OTHER);
}

/// The library's Fortran is gfortran, whatever a program would set.
static void fortran(void) {
  unsigned char literals[2][16];
  int is_set;
  MPI_Info info;
  REFUSED(MPI_Abi_get_fortran_booleans(3, literals[0], literals[1], &is_set), MPI_ERR_ARG);
  REFUSED(MPI_Abi_get_fortran_booleans(0, literals[0], literals[1], &is_set), MPI_ERR_ARG);
  REFUSED(MPI_Abi_get_fortran_booleans(32, literals[0], literals[1], &is_set), MPI_ERR_ARG);
  REFUSED(MPI_Abi_get_fortran_booleans(4, NULL, literals[1], &is_set), MPI_ERR_ARG);
  REFUSED(MPI_Abi_set_fortran_booleans(5, literals[0], literals[1]), MPI_ERR_ARG);
  REFUSED(MPI_Abi_set_fortran_booleans(4, literals[0], literals[1]), MPI_ERR_ABI);
  MPI_Abi_get_fortran_info(&info);
  REFUSED(MPI_Abi_set_fortran_info(info), MPI_ERR_ABI);
  MPI_Info_free(&info);
}

/// A freed handle's variable is null, and a null handle is an error.
static void freed_handles(void) {
  MPI_Comm comm;
  MPI_Datatype type;
  int value = 0;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Type_contiguous(3, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Comm_free(&comm);
  MPI_Type_free(&type);
  REFUSED(MPI_Send(&value, 1, MPI_INT, 0, 0, comm), MPI_ERR_COMM);
  REFUSED(MPI_Send(&value, 1, type, 0, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  ranks = size_of(MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  sends_and_receives();
  collectives();
  buffers_of_collectives();
  communicators_and_groups();
  types_requests_and_the_rest();
  fortran();
  freed_handles();
  // None of this was sent, and everything still works.
  int flag = 1, sum = 0;
  const int one = 1;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  CHECK_EQUAL(flag, 0);
  CHECK_EQUAL(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
  CHECK_EQUAL(sum, ranks);
  MPI_Finalize();
  return 0;
}
