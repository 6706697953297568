/* Functions of the tool information interface that get the address of an object's handle. Compiled
 * for each family. */
#include SORREL_FAMILY

/* The runtime's variables are bound to communicators, or to no object. */
static const void* object_of(int bind, const void* object, MPI_Comm* comm) {
  if (bind != MPI_T_BIND_MPI_COMM || object == NULL) return object;
  *comm = to_comm(*(const F_MPI_Comm*)object);
  return comm;
}

SORREL_FUNCTION(int,
                T_cvar_handle_alloc,
                (int index, void* object, MPI_T_cvar_handle* handle, int* count)) {
  SORREL_NOTE_CALLER();
  int bind = MPI_T_BIND_NO_OBJECT;
  MPI_Comm comm = MPI_COMM_NULL;
  (void)R.T_cvar_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &bind, NULL);
  return from_error(
      S.T_cvar_handle_alloc(index, (void*)object_of(bind, object, &comm), handle, count));
}

SORREL_FUNCTION(
    int,
    T_pvar_handle_alloc,
    (MPI_T_pvar_session session, int index, void* object, MPI_T_pvar_handle* handle, int* count)) {
  SORREL_NOTE_CALLER();
  int bind = MPI_T_BIND_NO_OBJECT;
  MPI_Comm comm = MPI_COMM_NULL;
  (void)R.T_pvar_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &bind, NULL, NULL,
                          NULL);
  return from_error(
      S.T_pvar_handle_alloc(session, index, (void*)object_of(bind, object, &comm), handle, count));
}
