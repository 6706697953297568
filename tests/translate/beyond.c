/* What the libraries of other MPIs have beyond the standard's functions: markers of bounds,
 * functions with MPIX_. Compiled for each family, with its values and without declarations of
 * these. */
#include "../mpi/check.h"

#ifdef OPEN_MPI_FAMILY
extern struct ompi_object ompi_mpi_lb, ompi_mpi_ub, ompi_mpi_2cplex, ompi_mpi_2dblcplex;
#define LOWER ((MPI_Datatype) & ompi_mpi_lb)
#define UPPER ((MPI_Datatype) & ompi_mpi_ub)
int MPIX_Query_rocm_support(void);
int MPIX_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request* request);
int MPIX_Allreduce_init(const void* from,
                        void* to,
                        int count,
                        MPI_Datatype datatype,
                        MPI_Op op,
                        MPI_Comm comm,
                        MPI_Info info,
                        MPI_Request* request);
int OMPI_Affinity_str(int format, char bound[1024], char current[1024], char exists[1024]);
#else
#define LOWER ((MPI_Datatype)0x4c000010)
#define UPPER ((MPI_Datatype)0x4c000011)
int MPIX_GPU_query_support(int kind, int* is_supported);
int MPIX_Comm_failure_ack(MPI_Comm comm);
int MPIX_Comm_failure_get_acked(MPI_Comm comm, MPI_Group* failed);
int MPIX_Comm_agree(MPI_Comm comm, int* flag);
int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm* newcomm);
int MPIX_Delete_error_class(int error_class);
#endif
int MPIX_Query_cuda_support(void);
int MPI_Type_struct(int count,
                    int lengths[],
                    MPI_Aint displacements[],
                    MPI_Datatype types[],
                    MPI_Datatype* newtype);

static void check_bounds(MPI_Datatype type, MPI_Aint lower, MPI_Aint extent) {
  MPI_Aint own_lower = -1;
  MPI_Aint own_extent = -1;
  MPI_Type_get_extent(type, &own_lower, &own_extent);
  CHECK_EQUAL(own_lower, lower);
  CHECK_EQUAL(own_extent, extent);
}

/* Two elements with gaps arrive where the bounds say. */
static void structures_have_marked_bounds(void) {
  int lengths[] = {1, 2, 1};
  MPI_Aint displacements[] = {-4, 0, 16};
  MPI_Datatype types[] = {LOWER, MPI_INT, UPPER};
  MPI_Datatype both;
  MPI_Type_struct(3, lengths, displacements, types, &both);
  check_bounds(both, -4, 20);
  MPI_Type_commit(&both);
  const int from[] = {0, 1, 2, 0, 0, 0, 3, 4, 0, 0, 0, 0};
  int to[4] = {0};
  MPI_Sendrecv(&from[1], 2, both, 0, 1, to, 4, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  for (int i = 0; i < 4; ++i)
    CHECK_EQUAL(to[i], i + 1);

  /* Only the upper one; and one that an inner datatype has marked counts, too. */
  MPI_Datatype upper;
  MPI_Type_create_struct(2, &lengths[1], &displacements[1], &types[1], &upper);
  check_bounds(upper, 0, 16);
  MPI_Aint places[] = {8, 10};
  MPI_Datatype parts[] = {both, UPPER};
  MPI_Datatype nested;
  int ones[] = {1, 1};
  MPI_Type_create_struct(2, ones, places, parts, &nested);
  check_bounds(nested, 4, 20);

  /* A marker of length 0 marks nothing; markers alone make a datatype without data. */
  int none[] = {0, 2};
  MPI_Datatype unmarked;
  MPI_Type_struct(2, none, displacements, types, &unmarked);
  check_bounds(unmarked, 0, 8);
  MPI_Datatype empty;
  MPI_Datatype markers[] = {LOWER, UPPER};
  MPI_Aint ends[] = {-8, 24};
  MPI_Type_create_struct(2, ones, ends, markers, &empty);
  check_bounds(empty, -8, 32);
  int bytes = -1;
  MPI_Type_size(empty, &bytes);
  CHECK_EQUAL(bytes, 0);
  MPI_Type_free(&both), MPI_Type_free(&upper), MPI_Type_free(&nested);
  MPI_Type_free(&unmarked), MPI_Type_free(&empty);
}

#ifdef OPEN_MPI_FAMILY
static void functions_beyond_mpi_answer(void) {
  CHECK_EQUAL(MPIX_Query_rocm_support(), 0);
  MPI_Request requests[2];
  int own = rank_in(MPI_COMM_WORLD) + 1;
  int sum = 0;
  MPIX_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  MPIX_Allreduce_init(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  MPI_Startall(2, requests);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  CHECK_EQUAL(sum, size_of(MPI_COMM_WORLD) * (size_of(MPI_COMM_WORLD) + 1) / 2);
  MPI_Request_free(&requests[0]), MPI_Request_free(&requests[1]);
  /* Datatypes that MPI does not have: calls refuse them. */
  MPI_Datatype pairs[] = {(MPI_Datatype)&ompi_mpi_2cplex, (MPI_Datatype)&ompi_mpi_2dblcplex};
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  for (int i = 0; i < 2; ++i) {
    int size = 0, error_class = 0;
    MPI_Error_class(MPI_Type_size(pairs[i], &size), &error_class);
    CHECK_EQUAL(error_class, MPI_ERR_TYPE);
    CHECK(pairs[i] != MPI_DATATYPE_NULL);
  }
  char bound[1024] = "", current[1024] = "", exists[1024] = "";
  CHECK_EQUAL(OMPI_Affinity_str(0, bound, current, exists), MPI_SUCCESS);
  CHECK(bound[0] != 0 && current[0] != 0 && exists[0] != 0);
}
#else
static void functions_beyond_mpi_answer(void) {
  int is_supported = -1;
  CHECK_EQUAL(MPIX_GPU_query_support(0, &is_supported), MPI_SUCCESS);
  CHECK_EQUAL(is_supported, 0);
  MPI_Group failed = MPI_GROUP_NULL;
  CHECK_EQUAL(MPIX_Comm_failure_ack(MPI_COMM_WORLD), MPI_SUCCESS);
  CHECK_EQUAL(MPIX_Comm_failure_get_acked(MPI_COMM_WORLD, &failed), MPI_SUCCESS);
  CHECK(failed == MPI_GROUP_EMPTY);
  int flag = rank_in(MPI_COMM_WORLD) == 0 ? 6 : 12;
  CHECK_EQUAL(MPIX_Comm_agree(MPI_COMM_WORLD, &flag), MPI_SUCCESS);
  CHECK_EQUAL(flag, size_of(MPI_COMM_WORLD) == 1 ? 6 : 4);
  MPI_Comm again = MPI_COMM_NULL;
  CHECK_EQUAL(MPIX_Comm_shrink(MPI_COMM_WORLD, &again), MPI_SUCCESS);
  int result = MPI_UNEQUAL;
  MPI_Comm_compare(MPI_COMM_WORLD, again, &result);
  CHECK_EQUAL(result, MPI_CONGRUENT);
  MPI_Comm_free(&again);
  int added = 0;
  MPI_Add_error_class(&added);
  CHECK_EQUAL(MPIX_Delete_error_class(added), MPI_SUCCESS);
}
#endif

/* MPI 3.1 has errors without an object on MPI_COMM_WORLD, MPI 4 on MPI_COMM_SELF. */
static MPI_Comm comm_of_error;

static void note_comm(MPI_Comm* comm, int* error, ...) {
  (void)error;
  comm_of_error = *comm;
}

static void errors_without_an_object_reach_a_handler(void) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(note_comm, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  int size = 0;
  MPI_Type_size(MPI_DATATYPE_NULL, &size);
  CHECK(comm_of_error == MPI_COMM_WORLD);
  comm_of_error = MPI_COMM_NULL;
  MPI_Comm_rank(MPI_COMM_NULL, &size);
  CHECK(comm_of_error == MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  MPI_Type_size(MPI_DATATYPE_NULL, &size);
  CHECK(comm_of_error == MPI_COMM_SELF);
  MPI_Errhandler_free(&handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  errors_without_an_object_reach_a_handler();
  structures_have_marked_bounds();
  CHECK_EQUAL(MPIX_Query_cuda_support(), 0);
  functions_beyond_mpi_answer();
  MPI_Finalize();
  return 0;
}
