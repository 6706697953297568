/* The functions of Open MPI's C++ library that its header's inline code names, and so every C++
 * program imports, and constants of the namespace MPI. The objects are the program's: a pointer to
 * the virtual functions, and a handle.
 */
#include "translate/openmpi_types.h"

struct Object {
  void** functions;
  void* handle;
};

typedef void UserFunction(void* in, void* inout, int* count, F_MPI_Datatype* datatype);
typedef void CxxFunction(const void* in, void* inout, int count, const struct Object* datatype);

extern int MPI_Win_free(F_MPI_Win* win);
extern int MPI_Type_free(F_MPI_Datatype* datatype);
extern char ompi_mpi_comm_null[];
/* The virtual functions of MPI::Datatype, of the program. */
extern void* datatype_functions[] __asm__("_ZTVN3MPI8DatatypeE") __attribute__((weak));

#define CXX(name) __asm__(name) __attribute__((visibility("default")))

void win_free(struct Object* win) CXX("_ZN3MPI3Win4FreeEv");

void win_free(struct Object* win) {
  MPI_Win_free((F_MPI_Win*)&win->handle);
}

void datatype_free(struct Object* datatype) CXX("_ZN3MPI8Datatype4FreeEv");

void datatype_free(struct Object* datatype) {
  MPI_Type_free((F_MPI_Datatype*)&datatype->handle);
}

/* Constructors of MPI::Comm, an abstract class: its subclass then sets the virtual functions. */
void make_comm(struct Object* comm) CXX("_ZN3MPI4CommC2Ev");

void make_comm(struct Object* comm) {
  comm->handle = ompi_mpi_comm_null;
}

void make_whole_comm(struct Object* comm) CXX("_ZN3MPI4CommC1Ev");

void make_whole_comm(struct Object* comm) {
  comm->handle = ompi_mpi_comm_null;
}

/* MPI::Init. Errors throw no exceptions: the handler that should is MPI_ERRORS_ARE_FATAL. */
void initialize(void) CXX("_ZN3MPI20InitializeInterceptsEv");

void initialize(void) {}

/* Constants of the namespace that are no objects. */
const void* const bottom CXX("_ZN3MPI6BOTTOME") = (const void*)0;
const void* const in_place CXX("_ZN3MPI8IN_PLACEE") = (const void*)1;
const char** const argv_null CXX("_ZN3MPI9ARGV_NULLE") = 0;
const char*** const argvs_null CXX("_ZN3MPI10ARGVS_NULLE") = 0;
int mpi_errno CXX("_ZN3MPI9mpi_errnoE");

/* Constructors of MPI::Comm from a handle of no subclass. */
void copy_comm(struct Object* comm, const struct Object* from)
    CXX("_ZN3MPI4CommC2ERKNS_9Comm_NullE");

void copy_comm(struct Object* comm, const struct Object* from) {
  comm->handle = from->handle;
}

void copy_whole_comm(struct Object* comm, const struct Object* from)
    CXX("_ZN3MPI4CommC1ERKNS_9Comm_NullE");

void copy_whole_comm(struct Object* comm, const struct Object* from) {
  comm->handle = from->handle;
}

__attribute__((visibility("default"))) void ompi_mpi_cxx_op_intercept(
    void* in, void* inout, int* count, F_MPI_Datatype* datatype, UserFunction* function) {
  const struct Object own = {datatype_functions == 0 ? 0 : &datatype_functions[2], *datatype};
  ((CxxFunction*)function)(in, inout, *count, &own);
}
