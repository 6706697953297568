/* Functions whose arguments the table does not describe. Compiled for each family. */
#include SORREL_FAMILY

#include <stdio.h>

struct sorrel_fortran_calls f_last_call;
struct f_fortran f_fortran;
struct f_hot f_hot = {&sorrel_standard_functions, 0, 1, F_HOT_VALUES};

/* The Fortran interface's bindings are among the callers of these functions: so that reports name
 * the program's call, calls are noted. */
__attribute__((visibility("default"))) void sorrel_announce_fortran_of_translation(
    const struct sorrel_fortran_calls* calls) {
  f_hot.forwards = 0;
  (void)sorrel_announce_codes(NULL, NULL);
  f_fortran.calls = calls;
  f_fortran.begin = (uintptr_t)calls->begin;
  f_fortran.bytes = (size_t)(calls->end - calls->begin);
}

/* By the linker. */
extern const char __start_sorrel_translation[] __attribute__((visibility("hidden")));
extern const char __stop_sorrel_translation[] __attribute__((visibility("hidden")));

void* f_allocate(size_t bytes) {
  void* memory = malloc(bytes);
  if (memory == NULL) {
    fputs("sorrel: no memory for the arguments of a function of MPI\n", stderr);
    abort();
  }
  return memory;
}

/* ---- Lengths of lists ---- */

MPI_Count f_peers(MPI_Comm comm) {
  int is_inter = 0;
  int count = 0;
  if (comm == MPI_COMM_NULL || R.Comm_test_inter(comm, &is_inter) != MPI_SUCCESS) return 0;
  const int error = is_inter ? R.Comm_remote_size(comm, &count) : R.Comm_size(comm, &count);
  return error == MPI_SUCCESS ? count : 0;
}

MPI_Count f_neighbors(MPI_Comm comm, int are_destinations) {
  int kind = MPI_UNDEFINED;
  int own = 0;
  int sources = 0;
  int destinations = 0;
  int is_weighted = 0;
  if (comm == MPI_COMM_NULL || R.Topo_test(comm, &kind) != MPI_SUCCESS) return 0;
  if (kind == MPI_CART) return R.Cartdim_get(comm, &sources) == MPI_SUCCESS ? 2 * sources : 0;
  if (kind == MPI_GRAPH) {
    const int error = R.Comm_rank(comm, &own) || R.Graph_neighbors_count(comm, own, &sources);
    return error == MPI_SUCCESS ? sources : 0;
  }
  if (kind != MPI_DIST_GRAPH) return 0;
  const int error = R.Dist_graph_neighbors_count(comm, &sources, &destinations, &is_weighted);
  return error != MPI_SUCCESS ? 0 : are_destinations ? destinations : sources;
}

/* ---- Start ---- */

static int code_of(int error) {
  return from_error(error);
}

static int announced(int error) {
  f_last_call.begin = __start_sorrel_translation;
  f_last_call.end = __stop_sorrel_translation;
  if (error != MPI_SUCCESS) return from_error(error);
  sorrel_announce_fortran(&f_last_call);
  sorrel_announce_translation();
  f_begin();
  if (f_fortran.bytes == 0) f_hot.forwards = sorrel_announce_codes(f_hot.functions, code_of);
  return MPI_SUCCESS;
}

/* Some programs call MPI_Init, and MPI from threads: their users set a variable of that MPI. */
SORREL_FUNCTION(int, Init, (int* argc, char*** argv)) {
  SORREL_NOTE_CALLER();
  int own = MPI_THREAD_SINGLE;
  const int wanted = f_usual_thread_level();
  const int error =
      wanted == MPI_THREAD_SINGLE ? S.Init(argc, argv) : S.Init_thread(argc, argv, wanted, &own);
  if (own != MPI_THREAD_MULTIPLE) f_hot.threads_may_call &= ~1;
  return announced(error);
}

SORREL_FUNCTION(int, Init_thread, (int* argc, char*** argv, int required, int* provided)) {
  SORREL_NOTE_CALLER();
  int own = MPI_THREAD_SINGLE;
  int wanted = to_thread_level(required);
  const int usual = f_usual_thread_level();
  if (wanted >= MPI_THREAD_SINGLE && wanted < usual) wanted = usual;
  const int error = S.Init_thread(argc, argv, wanted, provided == NULL ? NULL : &own);
  if (error == MPI_SUCCESS) *provided = from_thread_level(own);
  if (own != MPI_THREAD_MULTIPLE) f_hot.threads_may_call &= ~1;
  return announced(error);
}

SORREL_FUNCTION(int, Get_version, (int* version, int* subversion)) {
  SORREL_NOTE_CALLER();
  const int error = S.Get_version(version, subversion);
  if (error != MPI_SUCCESS) return f_result(error);
  *version = F_MPI_VERSION;
  *subversion = F_MPI_SUBVERSION;
  return MPI_SUCCESS;
}

/* Not the standard's binary interface. */
SORREL_FUNCTION(int, Abi_get_version, (int* major, int* minor)) {
  *major = -1;
  *minor = -1;
  return MPI_SUCCESS;
}

SORREL_FUNCTION(int, Pcontrol, (const int level, ...)) {
  SORREL_NOTE_CALLER();
  return f_result(S.Pcontrol(level));
}

/* ---- Info ---- */

/* Keys and values that the family does not allow would not fit into the program's arrays later: the
 * standard's function gets one that it does not allow either, and raises the error. */
SORREL_FUNCTION(int, Info_set, (F_MPI_Info info, const char* key, const char* value)) {
  SORREL_NOTE_CALLER();
  char long_text[MPI_MAX_INFO_VAL + 2];
  memset(long_text, 'x', sizeof long_text - 1);
  long_text[sizeof long_text - 1] = '\0';
  if (key != NULL && strlen(key) >= F_MPI_MAX_INFO_KEY) key = long_text;
  if (value != NULL && strlen(value) >= F_MPI_MAX_INFO_VAL) value = long_text;
  return f_result(S.Info_set(to_info(info), key, value));
}

/* ---- Files ---- */

SORREL_FUNCTION(int,
                File_set_view,
                (F_MPI_File fh,
                 MPI_Offset disp,
                 F_MPI_Datatype etype,
                 F_MPI_Datatype filetype,
                 const char* datarep,
                 F_MPI_Info info)) {
  SORREL_NOTE_CALLER();
  if (disp == F_MPI_DISPLACEMENT_CURRENT) disp = MPI_DISPLACEMENT_CURRENT;
  return f_result(S.File_set_view(to_file(fh), disp, to_datatype(etype), to_datatype(filetype),
                                  datarep, to_info(info)));
}

/* ---- Attributes ---- */

/* Values of the library that are constants. The program gets their addresses. */
static int host_value;
static int io_value;
static int last_code_value;
static int flavor_value;
static int model_value;

static void replace(void* attribute, int* own, int (*convert)(int)) {
  int** const value = (int**)attribute;
  *own = convert(**value);
  *value = own;
}

static int comm_attribute(int error, int keyval, void* value, const int* flag) {
  if (error != MPI_SUCCESS || !*flag) return f_result(error);
  if (keyval == MPI_HOST) replace(value, &host_value, from_rank);
  if (keyval == MPI_IO) replace(value, &io_value, from_rank);
  if (keyval == MPI_LASTUSEDCODE) replace(value, &last_code_value, from_error);
  return MPI_SUCCESS;
}

SORREL_FUNCTION(int, Comm_get_attr, (F_MPI_Comm comm, int keyval, void* value, int* flag)) {
  SORREL_NOTE_CALLER();
  const int own = to_keyval(keyval);
  return comm_attribute(S.Comm_get_attr(to_comm(comm), own, value, flag), own, value, flag);
}

SORREL_FUNCTION(int, Attr_get, (F_MPI_Comm comm, int keyval, void* value, int* flag)) {
  SORREL_NOTE_CALLER();
  const int own = to_keyval(keyval);
  return comm_attribute(S.Attr_get(to_comm(comm), own, value, flag), own, value, flag);
}

SORREL_FUNCTION(int, Win_get_attr, (F_MPI_Win win, int keyval, void* value, int* flag)) {
  SORREL_NOTE_CALLER();
  const int own = to_keyval(keyval);
  const int error = S.Win_get_attr(to_win(win), own, value, flag);
  if (error != MPI_SUCCESS || !*flag) return f_result(error);
  if (own == MPI_WIN_CREATE_FLAVOR) replace(value, &flavor_value, from_win_flavor);
  if (own == MPI_WIN_MODEL) replace(value, &model_value, from_win_model);
  return MPI_SUCCESS;
}

/* ---- The contents of datatypes ---- */

/* The constants among the integers of a datatype. `counts`: how many of the sizes of each dimension
 * are among them. */
static void convert_integers(int combiner, int count, int lists, int integers[]) {
  if (combiner == MPI_COMBINER_SUBARRAY) integers[count - 1] = from_order(integers[count - 1]);
  if (combiner != MPI_COMBINER_DARRAY) return;
  const int dimensions = integers[2];
  int* const distributions = integers + 3 + lists * dimensions;
  for (int i = 0; i < dimensions; ++i) {
    distributions[i] = from_distribution(distributions[i]);
    distributions[dimensions + i] = from_distribution_argument(distributions[dimensions + i]);
  }
  integers[count - 1] = from_order(integers[count - 1]);
}

SORREL_FUNCTION(int,
                Type_get_contents,
                (F_MPI_Datatype datatype,
                 int max_integers,
                 int max_addresses,
                 int max_datatypes,
                 int integers[],
                 MPI_Aint addresses[],
                 F_MPI_Datatype datatypes[])) {
  SORREL_NOTE_CALLER();
  const MPI_Datatype own = to_datatype(datatype);
  SORREL_LIST(MPI_Datatype, list, max_datatypes);
  int error = S.Type_get_contents(own, max_integers, max_addresses, max_datatypes, integers,
                                  addresses, datatypes == NULL ? NULL : list);
  int combiner = 0;
  int integer_count = 0;
  int address_count = 0;
  int datatype_count = 0;
  if (error == MPI_SUCCESS)
    error = R.Type_get_envelope(own, &integer_count, &address_count, &datatype_count, &combiner);
  if (error == MPI_SUCCESS) {
    convert_integers(combiner, integer_count, 1, integers);
    for (int i = 0; i < datatype_count; ++i)
      set_datatype(&datatypes[i], list[i]);
  }
  SORREL_END_LIST(list);
  return f_result(error);
}

#ifdef SORREL_LARGE_COUNTS
SORREL_FUNCTION(int,
                Type_get_contents_c,
                (F_MPI_Datatype datatype,
                 MPI_Count max_integers,
                 MPI_Count max_addresses,
                 MPI_Count max_large_counts,
                 MPI_Count max_datatypes,
                 int integers[],
                 MPI_Aint addresses[],
                 MPI_Count large_counts[],
                 F_MPI_Datatype datatypes[])) {
  SORREL_NOTE_CALLER();
  const MPI_Datatype own = to_datatype(datatype);
  SORREL_LIST(MPI_Datatype, list, max_datatypes);
  int error =
      S.Type_get_contents_c(own, max_integers, max_addresses, max_large_counts, max_datatypes,
                            integers, addresses, large_counts, datatypes == NULL ? NULL : list);
  int combiner = 0;
  MPI_Count integer_count = 0;
  MPI_Count address_count = 0;
  MPI_Count large_count = 0;
  MPI_Count datatype_count = 0;
  if (error == MPI_SUCCESS)
    error = R.Type_get_envelope_c(own, &integer_count, &address_count, &large_count,
                                  &datatype_count, &combiner);
  if (error == MPI_SUCCESS) {
    convert_integers(combiner, (int)integer_count, large_count == 0, integers);
    for (MPI_Count i = 0; i < datatype_count; ++i)
      set_datatype(&datatypes[i], list[i]);
  }
  SORREL_END_LIST(list);
  return f_result(error);
}
#endif

/* ---- The datatype of a size ---- */

/* Only the standard's interface has datatypes of some sizes. For these the standard's function gets
 * a size that no datatype has, and raises the error. */
SORREL_FUNCTION(int, Type_match_size, (int typeclass, int size, F_MPI_Datatype* datatype)) {
  SORREL_NOTE_CALLER();
  const int own_class = to_type_class(typeclass);
  MPI_Datatype match = MPI_DATATYPE_NULL;
  const int error = S.Type_match_size(own_class, size, datatype == NULL ? NULL : &match);
  if (error != MPI_SUCCESS) return f_result(error);
  const F_MPI_Datatype own = from_datatype(match);
  if (to_datatype(own) != match) return f_result(S.Type_match_size(own_class, -size, &match));
  *datatype = own;
  return MPI_SUCCESS;
}

/* ---- Functions that MPI has removed ---- */

SORREL_FUNCTION(int, Address, (void* location, MPI_Aint* address)) {
  SORREL_NOTE_CALLER();
  return f_result(S.Get_address(to_buffer(location), address));
}

/* Stores the results whose address is not null. */
static int give_extent(F_MPI_Datatype datatype, MPI_Aint* lower, MPI_Aint* extent) {
  MPI_Aint unused = 0;
  return S.Type_get_extent(to_datatype(datatype), lower == NULL ? &unused : lower,
                           extent == NULL ? &unused : extent);
}

SORREL_FUNCTION(int, Type_extent, (F_MPI_Datatype datatype, MPI_Aint* extent)) {
  SORREL_NOTE_CALLER();
  return f_result(give_extent(datatype, NULL, extent));
}

SORREL_FUNCTION(int, Type_lb, (F_MPI_Datatype datatype, MPI_Aint* lower)) {
  SORREL_NOTE_CALLER();
  return f_result(give_extent(datatype, lower, NULL));
}

SORREL_FUNCTION(int, Type_ub, (F_MPI_Datatype datatype, MPI_Aint* upper)) {
  SORREL_NOTE_CALLER();
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  const int error = give_extent(datatype, &lower, &extent);
  if (error == MPI_SUCCESS) *upper = lower + extent;
  return f_result(error);
}

SORREL_FUNCTION(
    int,
    Type_hvector,
    (int count, int length, MPI_Aint stride, F_MPI_Datatype oldtype, F_MPI_Datatype* newtype)) {
  SORREL_NOTE_CALLER();
  MPI_Datatype made = MPI_DATATYPE_NULL;
  const int error = S.Type_create_hvector(count, length, stride, to_datatype(oldtype), &made);
  if (error == MPI_SUCCESS) set_datatype(newtype, made);
  return f_result(error);
}

SORREL_FUNCTION(int,
                Type_hindexed,
                (int count,
                 int lengths[],
                 MPI_Aint displacements[],
                 F_MPI_Datatype oldtype,
                 F_MPI_Datatype* newtype)) {
  SORREL_NOTE_CALLER();
  MPI_Datatype made = MPI_DATATYPE_NULL;
  const int error =
      S.Type_create_hindexed(count, lengths, displacements, to_datatype(oldtype), &made);
  if (error == MPI_SUCCESS) set_datatype(newtype, made);
  return f_result(error);
}

SORREL_FUNCTION(int, Errhandler_set, (F_MPI_Comm comm, F_MPI_Errhandler errhandler)) {
  SORREL_NOTE_CALLER();
  return f_result(S.Comm_set_errhandler(to_comm(comm), to_errhandler(errhandler)));
}

SORREL_FUNCTION(int, Errhandler_get, (F_MPI_Comm comm, F_MPI_Errhandler* errhandler)) {
  SORREL_NOTE_CALLER();
  MPI_Errhandler found = MPI_ERRHANDLER_NULL;
  const int error = S.Comm_get_errhandler(to_comm(comm), &found);
  if (error == MPI_SUCCESS) set_errhandler(errhandler, found);
  return f_result(error);
}

/* ---- Statuses of Fortran, which are C's, as integers ---- */

/* Fortran's MPI_STATUS_IGNORE, for comparison by code in C. The Fortran companion sets them. */
#define STATUS_OF_FORTRAN __attribute__((visibility("default")))
STATUS_OF_FORTRAN int* MPI_F_STATUS_IGNORE;
STATUS_OF_FORTRAN int* MPI_F_STATUSES_IGNORE;

SORREL_FUNCTION(int, Status_c2f, (const F_MPI_Status* c_status, int* f_status)) {
  SORREL_NOTE_CALLER();
  memcpy(f_status, c_status, sizeof *c_status);
  return MPI_SUCCESS;
}

SORREL_FUNCTION(int, Status_f2c, (const int* f_status, F_MPI_Status* c_status)) {
  SORREL_NOTE_CALLER();
  memcpy(c_status, f_status, sizeof *c_status);
  return MPI_SUCCESS;
}

/* ---- Starting ranks ---- */

/* The codes that the call has set for the programs, at the root. */
static void convert_codes(int codes[], MPI_Count count, int root, MPI_Comm comm) {
  int own = MPI_UNDEFINED;
  if (codes == MPI_ERRCODES_IGNORE || comm == MPI_COMM_NULL ||
      R.Comm_rank(comm, &own) != MPI_SUCCESS || own != root)
    return;
  for (MPI_Count i = 0; i < count; ++i) {
    if (codes[i] == MPI_ERR_SPAWN) codes[i] = F_MPI_ERR_SPAWN;
  }
}

SORREL_FUNCTION(int,
                Comm_spawn,
                (const char* command,
                 char* argv[],
                 int maxprocs,
                 F_MPI_Info info,
                 int root,
                 F_MPI_Comm comm,
                 F_MPI_Comm* intercomm,
                 int codes[])) {
  SORREL_NOTE_CALLER();
  MPI_Comm made = (MPI_Comm)sorrel_unset;
  const int error = S.Comm_spawn(command, argv, maxprocs, to_info(info), to_rank(root),
                                 to_comm(comm), intercomm == NULL ? NULL : &made, codes);
  if (made != (MPI_Comm)sorrel_unset) set_comm(intercomm, made);
  convert_codes(codes, maxprocs, root, to_comm(comm));
  return f_result(error);
}

SORREL_FUNCTION(int,
                Comm_spawn_multiple,
                (int count,
                 char* commands[],
                 char** argvs[],
                 const int maxprocs[],
                 const F_MPI_Info infos[],
                 int root,
                 F_MPI_Comm comm,
                 F_MPI_Comm* intercomm,
                 int codes[])) {
  SORREL_NOTE_CALLER();
  /* The arguments of other ranks than the root are not read. */
  int own = MPI_UNDEFINED;
  const MPI_Comm on = to_comm(comm);
  const int is_root = on != MPI_COMM_NULL && R.Comm_rank(on, &own) == MPI_SUCCESS && own == root;
  const MPI_Count info_count = is_root && infos != NULL ? count : 0;
  SORREL_LIST(MPI_Info, list, info_count);
  MPI_Count code_count = 0;
  for (MPI_Count i = 0; i < info_count; ++i)
    list[i] = to_info(infos[i]);
  for (int i = 0; is_root && maxprocs != NULL && i < count; ++i)
    code_count += maxprocs[i];
  MPI_Comm made = (MPI_Comm)sorrel_unset;
  const int error =
      S.Comm_spawn_multiple(count, commands, argvs, maxprocs, infos == NULL ? NULL : list,
                            to_rank(root), on, intercomm == NULL ? NULL : &made, codes);
  if (made != (MPI_Comm)sorrel_unset) set_comm(intercomm, made);
  convert_codes(codes, code_count, root, on);
  SORREL_END_LIST(list);
  return f_result(error);
}
