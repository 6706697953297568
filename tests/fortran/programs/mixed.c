// Returns the number of errors.
#include <mpi.h>

int c_part(const MPI_Fint* comm,
           const MPI_Fint* datatype,
           const MPI_Fint* op,
           const MPI_Fint* info,
           MPI_Fint* status,
           const MPI_Fint* ignored) {
  const MPI_Comm twin = MPI_Comm_f2c(*comm);
  const MPI_Datatype pair = MPI_Type_f2c(*datatype);
  int wrong = MPI_Op_f2c(*op) != MPI_SUM;
  wrong += ignored != MPI_F_STATUS_IGNORE;
  wrong += (const void*)ignored != MPI_F08_STATUS_IGNORE;
  wrong += MPI_Comm_c2f(twin) != *comm || MPI_Type_c2f(pair) != *datatype;
  int rank, size;
  MPI_Comm_rank(twin, &rank);
  MPI_Comm_size(twin, &size);
  int sent[2] = {rank, 2 * rank};
  int received[2];
  MPI_Status c_status;
  MPI_Sendrecv(sent, 1, pair, (rank + 1) % size, 3, received, 1, pair, MPI_ANY_SOURCE, 3, twin,
               &c_status);
  MPI_Status_c2f(&c_status, status);
  wrong += status[MPI_F_SOURCE] != c_status.MPI_SOURCE || status[MPI_F_TAG] != 3;
  MPI_Status again;
  MPI_Status_f2c(status, &again);
  wrong += again.MPI_SOURCE != c_status.MPI_SOURCE || received[1] != 2 * again.MPI_SOURCE;
  MPI_Info_set(MPI_Info_f2c(*info), "from", "C");
  return wrong;
}

// Compares an attribute that Fortran has set, and replaces it by a pointer, whose address it gives
// back.
int attributes_in_c(const MPI_Fint* comm,
                    const MPI_Fint* keyval,
                    const MPI_Aint* expected,
                    MPI_Aint* address) {
  static int mark;
  const MPI_Comm handle = MPI_Comm_f2c(*comm);
  MPI_Aint* found;
  int flag = 0;
  MPI_Comm_get_attr(handle, *keyval, &found, &flag);
  const int wrong = !flag || *found != *expected;
  MPI_Comm_set_attr(handle, *keyval, &mark);
  *address = (MPI_Aint)&mark;
  return 100 * wrong;
}
