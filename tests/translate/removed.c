/* Functions that MPI has removed, which the libraries of other MPIs have. Their headers do not
 * declare them. */
#include <mpi.h>
#include <stdio.h>

int MPI_Address(void* location, MPI_Aint* address);
int MPI_Type_extent(MPI_Datatype datatype, MPI_Aint* extent);
int MPI_Type_lb(MPI_Datatype datatype, MPI_Aint* lower);
int MPI_Type_ub(MPI_Datatype datatype, MPI_Aint* upper);
int MPI_Type_hvector(
    int count, int length, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype* newtype);
int MPI_Type_hindexed(int count,
                      int lengths[],
                      MPI_Aint displacements[],
                      MPI_Datatype oldtype,
                      MPI_Datatype* newtype);
int MPI_Type_struct(int count,
                    int lengths[],
                    MPI_Aint displacements[],
                    MPI_Datatype oldtypes[],
                    MPI_Datatype* newtype);
int MPI_Errhandler_create(MPI_Comm_errhandler_function* function, MPI_Errhandler* errhandler);
int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler);
int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler* errhandler);

static int failures;
static int handled;

static void check(int is_right, const char* what) {
  if (is_right) return;
  printf("wrong: %s\n", what);
  ++failures;
}

static void handle(MPI_Comm* comm, int* code, ...) {
  handled += *comm == MPI_COMM_SELF && *code == MPI_ERR_RANK;
}

/* Sends one `type` of `from` to itself, and returns how many ints have arrived in `to`. */
static int send_to_self(const int* from, MPI_Datatype type, int* to) {
  MPI_Status status;
  int count = -1;
  MPI_Type_commit(&type);
  MPI_Sendrecv(from, 1, type, 0, 1, to, 8, MPI_INT, 0, 1, MPI_COMM_SELF, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  MPI_Type_free(&type);
  return count;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int numbers[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  int arrived[8] = {0};
  MPI_Aint first = 0;
  MPI_Aint second = 0;
  MPI_Address(&numbers[0], &first);
  MPI_Address(&numbers[3], &second);
  check(second - first == 3 * (MPI_Aint)sizeof(int), "MPI_Address");

  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Aint lower = -1;
  MPI_Aint upper = -1;
  MPI_Aint extent = -1;
  MPI_Type_struct(2, (int[]){1, 2}, (MPI_Aint[]){4, second - first},
                  (MPI_Datatype[]){MPI_INT, MPI_INT}, &type);
  MPI_Type_lb(type, &lower);
  MPI_Type_ub(type, &upper);
  MPI_Type_extent(type, &extent);
  check(lower == 4 && upper == 20 && extent == 16, "MPI_Type_lb, _ub, _extent");
  check(send_to_self(numbers, type, arrived) == 3 && arrived[0] == 1 && arrived[1] == 3 &&
            arrived[2] == 4,
        "MPI_Type_struct");
  MPI_Type_hvector(3, 1, 8, MPI_INT, &type);
  check(send_to_self(numbers, type, arrived) == 3 && arrived[1] == 2 && arrived[2] == 4,
        "MPI_Type_hvector");
  MPI_Type_hindexed(2, (int[]){1, 1}, (MPI_Aint[]){28, 20}, MPI_INT, &type);
  check(send_to_self(numbers, type, arrived) == 2 && arrived[0] == 7 && arrived[1] == 5,
        "MPI_Type_hindexed");

  MPI_Errhandler made = MPI_ERRHANDLER_NULL;
  MPI_Errhandler found = MPI_ERRHANDLER_NULL;
  MPI_Errhandler_create(handle, &made);
  MPI_Errhandler_set(MPI_COMM_SELF, made);
  MPI_Errhandler_get(MPI_COMM_SELF, &found);
  check(found == made, "MPI_Errhandler_get");
  check(MPI_Send(numbers, 1, MPI_INT, 1, 1, MPI_COMM_SELF) == MPI_ERR_RANK && handled == 1,
        "MPI_Errhandler_create, _set");
  MPI_Finalize();
  return failures != 0;
}
