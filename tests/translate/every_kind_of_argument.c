// Each kind of argument whose values other MPIs' binary interfaces have otherwise: constants,
// handles in tables and variables, statuses, texts with the interface's own limits, attributes,
// callbacks. The values come from the header with which this file is compiled.
#include "../mpi/check.h"

static int me, ranks;
// Handles in static tables are addresses that the loader fills in, where handles are addresses.
static MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR, MPI_LONG};
static MPI_Comm worlds[] = {MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_NULL};

static void handles_in_tables(void) {
  const int sizes[] = {sizeof(int), sizeof(double), 1, sizeof(long)};
  for (int i = 0; i < 4; i++) {
    int size = 0;
    MPI_Type_size(types[i], &size);
    CHECK_EQUAL(size, sizes[i]);
  }
  CHECK_EQUAL(size_of(worlds[0]), ranks);
  CHECK_EQUAL(size_of(worlds[1]), 1);
  MPI_Comm copy;
  MPI_Comm_dup(worlds[0], &copy);
  CHECK(copy != MPI_COMM_WORLD && copy != MPI_COMM_NULL);
  int result = -1;
  MPI_Comm_compare(copy, MPI_COMM_WORLD, &result);
  CHECK_EQUAL(result, MPI_CONGRUENT);
  MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_WORLD, &result);
  CHECK_EQUAL(result, MPI_IDENT);
  MPI_Comm_free(&copy);
  CHECK(copy == worlds[2]);
}

static void levels_of_threads(int provided) {
  int level = -1;
  MPI_Query_thread(&level);
  CHECK_EQUAL(level, provided);
  CHECK(provided >= MPI_THREAD_FUNNELED && provided <= MPI_THREAD_MULTIPLE);
}

// More requests than a call keeps on its stack.
static void statuses_of_many_requests(void) {
  enum { count = 70 };

  MPI_Request requests[2 * count];
  MPI_Status statuses[2 * count];
  int got[count];
  const int right = (me + 1) % ranks, left = (me + ranks - 1) % ranks;
  for (int i = 0; i < count; i++)
    MPI_Irecv(&got[i], 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : left, i % 3 ? i : MPI_ANY_TAG,
              MPI_COMM_WORLD, &requests[i]);
  for (int i = 0; i < count; i++)
    MPI_Isend(&i, 1, MPI_INT, right, i, MPI_COMM_WORLD, &requests[count + i]),
        MPI_Wait(&requests[count + i], MPI_STATUS_IGNORE);
  requests[2 * count - 1] = MPI_REQUEST_NULL;
  MPI_Waitall(2 * count, requests, statuses);
  for (int i = 0; i < count; i++) {
    int elements = -1;
    MPI_Get_count(&statuses[i], MPI_INT, &elements);
    CHECK_EQUAL(got[i], i);
    CHECK_EQUAL(statuses[i].MPI_SOURCE, left);
    CHECK_EQUAL(statuses[i].MPI_TAG, i);
    CHECK_EQUAL(elements, 1);
    CHECK(requests[i] == MPI_REQUEST_NULL);
    CHECK_EQUAL(statuses[count + i].MPI_SOURCE, MPI_ANY_SOURCE);
    CHECK_EQUAL(statuses[count + i].MPI_TAG, MPI_ANY_TAG);
  }
}

static void statuses_that_are_not_written(void) {
  MPI_Status status, before;
  memset(&status, 0x5a, sizeof status);
  before = status;
  MPI_Request request;
  int value, flag = 1;
  MPI_Irecv(&value, 1, MPI_INT, me, 99, MPI_COMM_WORLD, &request);
  MPI_Test(&request, &flag, &status);
  CHECK_EQUAL(flag, 0);
  CHECK_EQUAL(memcmp(&status, &before, sizeof status), 0);
  MPI_Send(&me, 1, MPI_INT, me, 99, MPI_COMM_WORLD);
  MPI_Wait(&request, &status);
  CHECK_EQUAL(status.MPI_SOURCE, me);
  CHECK_EQUAL(status.MPI_ERROR, before.MPI_ERROR);
  CHECK_EQUAL(value, me);
  MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  CHECK_EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
  CHECK_EQUAL(status.MPI_TAG, MPI_ANY_TAG);
  int cancelled = -1, elements = -1;
  MPI_Status_set_cancelled(&status, 1);
  MPI_Status_set_elements(&status, MPI_DOUBLE, 7);
  MPI_Test_cancelled(&status, &cancelled);
  MPI_Get_elements(&status, MPI_DOUBLE, &elements);
  CHECK_EQUAL(cancelled, 1);
  CHECK_EQUAL(elements, 7);
}

static void texts_have_the_limits_of_the_interface(void) {
  char name[2 * MPI_MAX_OBJECT_NAME], longest[512];
  memset(longest, 'n', sizeof longest);
  longest[120] = '\0';
  memset(name, '#', sizeof name);
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_SELF, &copy);
  MPI_Comm_set_name(copy, longest);
  int length = -1;
  MPI_Comm_get_name(copy, name, &length);
  CHECK_EQUAL(length, MPI_MAX_OBJECT_NAME > 120 ? 120 : MPI_MAX_OBJECT_NAME - 1);
  CHECK_EQUAL(name[length], '\0');
  CHECK_EQUAL(name[MPI_MAX_OBJECT_NAME], '#');
  MPI_Comm_free(&copy);

  char text[MPI_MAX_ERROR_STRING + 1];
  text[MPI_MAX_ERROR_STRING] = '#';
  MPI_Error_string(MPI_ERR_TRUNCATE, text, &length);
  CHECK_EQUAL(text[MPI_MAX_ERROR_STRING], '#');
  CHECK_EQUAL(strlen(text), length);
  char version[MPI_MAX_LIBRARY_VERSION_STRING + 1];
  version[MPI_MAX_LIBRARY_VERSION_STRING] = '#';
  MPI_Get_library_version(version, &length);
  CHECK(strstr(version, "Sorrel") != NULL);
  CHECK_EQUAL(version[MPI_MAX_LIBRARY_VERSION_STRING], '#');

  // A key that would not fit is refused.
  MPI_Info info;
  MPI_Info_create(&info);
  memset(longest, 'k', sizeof longest);
  longest[MPI_MAX_INFO_KEY + 1] = '\0';
  int class = -1;
  MPI_Error_class(MPI_Info_set(info, longest, "value"), &class);
  CHECK_EQUAL(class, MPI_ERR_INFO_KEY);
  longest[MPI_MAX_INFO_KEY - 1] = '\0';
  CHECK_EQUAL(MPI_Info_set(info, longest, "value"), MPI_SUCCESS);
  char key[MPI_MAX_INFO_KEY + 1];
  MPI_Info_get_nthkey(info, 0, key);
  CHECK_EQUAL(strcmp(key, longest), 0);
  MPI_Info_free(&info);
  CHECK(info == MPI_INFO_NULL);
}

static int value_of(int keyval) {
  int* value = NULL;
  int flag = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &value, &flag);
  CHECK(flag);
  return *value;
}

static void attributes_of_the_library(void) {
  CHECK(value_of(MPI_TAG_UB) >= 32767);
  CHECK_EQUAL(value_of(MPI_HOST), MPI_PROC_NULL);
  CHECK_EQUAL(value_of(MPI_IO), MPI_ANY_SOURCE);
  CHECK(value_of(MPI_LASTUSEDCODE) >= MPI_ERR_LASTCODE);
  CHECK_EQUAL(value_of(MPI_UNIVERSE_SIZE) >= ranks, 1);
  int memory[4], *flavor, *model, flag;
  MPI_Aint* size;
  MPI_Win win;
  MPI_Win_create(memory, sizeof memory, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win);
  MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &flavor, &flag);
  CHECK(flag && *flavor == MPI_WIN_FLAVOR_CREATE);
  MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &flag);
  CHECK(flag && *model == MPI_WIN_UNIFIED);
  MPI_Win_get_attr(win, MPI_WIN_SIZE, &size, &flag);
  CHECK(flag && *size == (MPI_Aint)sizeof memory);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, MPI_MODE_NOCHECK, win);
  MPI_Win_unlock(0, win);
  MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
  MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOSUCCEED, win);
  MPI_Win_free(&win);
  CHECK(win == MPI_WIN_NULL);
}

static int copied, deleted;
static MPI_Comm copied_from;

static int copy_attribute(MPI_Comm comm, int keyval, void* extra, void* in, void* out, int* flag) {
  (void)keyval;
  copied_from = comm;
  copied += *(int*)extra;
  *(void**)out = (char*)in + 1;
  *flag = 1;
  return in == NULL ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm, (void)keyval, (void)value;
  deleted += *(int*)extra;
  return MPI_SUCCESS;
}

static void attributes_of_the_program(void) {
  int key, same, none, extra = 3, flag;
  static char memory[2];
  char* value;
  MPI_Comm_create_keyval(copy_attribute, delete_attribute, &key, &extra);
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &same, NULL);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &none, NULL);
  CHECK(key != MPI_KEYVAL_INVALID && key != MPI_TAG_UB && same != key && none != same);
  MPI_Comm from, to;
  MPI_Comm_dup(MPI_COMM_SELF, &from);
  MPI_Comm_set_attr(from, key, memory);
  MPI_Comm_set_attr(from, same, memory);
  MPI_Comm_set_attr(from, none, memory);
  MPI_Comm_dup(from, &to);
  CHECK(copied_from == from);
  CHECK_EQUAL(copied, 3);
  MPI_Comm_get_attr(to, key, &value, &flag);
  CHECK(flag && value == memory + 1);
  MPI_Comm_get_attr(to, same, &value, &flag);
  CHECK(flag && value == memory);
  MPI_Comm_get_attr(to, none, &value, &flag);
  CHECK_EQUAL(flag, 0);
  MPI_Comm_free(&to);
  MPI_Comm_free(&from);
  CHECK_EQUAL(deleted, 6);
  MPI_Comm_free_keyval(&key);
  MPI_Comm_free_keyval(&same);
  MPI_Comm_free_keyval(&none);
  CHECK_EQUAL(key, MPI_KEYVAL_INVALID);
}

static MPI_Comm failed_comm;
static int failed_code;

static void on_error(MPI_Comm* comm, int* code, ...) {
  failed_comm = *comm;
  failed_code = *code;
}

static MPI_File failed_file;

static void on_file_error(MPI_File* file, int* code, ...) {
  failed_file = *file;
  failed_code = *code;
}

static void errors(void) {
  MPI_Errhandler handler, got;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_create_errhandler(on_error, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  MPI_Comm_get_errhandler(comm, &got);
  CHECK(got == handler);
  MPI_Errhandler_free(&got);
  MPI_Send(&me, 1, MPI_INT, 12345, 0, comm);
  int class = -1;
  MPI_Error_class(failed_code, &class);
  CHECK(failed_comm == comm);
  CHECK_EQUAL(class, MPI_ERR_RANK);
  // A number that the standard's interface knows as MPI_PROC_NULL, and this one may not.
  const int wrong_rank = MPI_PROC_NULL == -3 ? -5 : -3;
  if (wrong_rank != MPI_ROOT) {
    failed_code = MPI_SUCCESS;
    MPI_Send(&me, 1, MPI_INT, wrong_rank, 0, comm);
    MPI_Error_class(failed_code, &class);
    CHECK_EQUAL(class, MPI_ERR_RANK);
  }
  MPI_Errhandler_free(&handler);
  CHECK(handler == MPI_ERRHANDLER_NULL);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Error_class(MPI_Send(&me, -1, MPI_INT, 0, 0, comm), &class);
  CHECK_EQUAL(class, MPI_ERR_COUNT);
  MPI_Error_class(MPI_Send(&me, 1, MPI_DATATYPE_NULL, 0, 0, comm), &class);
  CHECK_EQUAL(class, MPI_ERR_TYPE);
  MPI_Error_class(MPI_Allreduce(&me, &class, 1, MPI_INT, MPI_OP_NULL, comm), &class);
  CHECK_EQUAL(class, MPI_ERR_OP);
  MPI_Comm_free(&comm);

  int own_class, own_code;
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Add_error_class(&own_class);
  MPI_Add_error_code(own_class, &own_code);
  MPI_Add_error_string(own_code, "an error of the program");
  CHECK(own_class > MPI_ERR_LASTCODE && own_code > MPI_ERR_LASTCODE);
  CHECK(value_of(MPI_LASTUSEDCODE) >= own_code);
  MPI_Error_class(own_code, &class);
  CHECK_EQUAL(class, own_class);
  MPI_Error_string(own_code, text, &length);
  CHECK_EQUAL(strcmp(text, "an error of the program"), 0);

  MPI_Errhandler file_handler;
  MPI_File_create_errhandler(on_file_error, &file_handler);
  MPI_File_set_errhandler(MPI_FILE_NULL, file_handler);
  MPI_File file = MPI_FILE_NULL;
  MPI_File_open(MPI_COMM_SELF, "/no/such/folder/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  MPI_Error_class(failed_code, &class);
  CHECK_EQUAL(class, MPI_ERR_NO_SUCH_FILE);
  CHECK(failed_file == MPI_FILE_NULL && file == MPI_FILE_NULL);
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
  MPI_Errhandler_free(&file_handler);
}

static MPI_Datatype reduced_type;

static void add(void* in, void* inout, int* count, MPI_Datatype* datatype) {
  reduced_type = *datatype;
  int elements = *count;
  if (*datatype != MPI_INT) elements *= 2;
  for (int i = 0; i < elements; i++)
    ((int*)inout)[i] += ((int*)in)[i];
}

static void reductions_of_the_program(void) {
  MPI_Op op;
  MPI_Op_create(add, 1, &op);
  CHECK(op != MPI_OP_NULL && op != MPI_SUM);
  int in[2] = {me, 1}, out[2] = {0, 0};
  MPI_Allreduce(in, out, 2, MPI_INT, op, MPI_COMM_WORLD);
  CHECK_EQUAL(out[0], ranks * (ranks - 1) / 2);
  CHECK_EQUAL(out[1], ranks);
  int local[2] = {5, 6};
  MPI_Reduce_local(in, local, 2, MPI_INT, op);
  CHECK(reduced_type == MPI_INT);
  MPI_Datatype pair;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Reduce_local(in, local, 1, pair, op);
  CHECK(reduced_type == pair);
  CHECK_EQUAL(local[0], 5 + 2 * me);
  MPI_Allreduce(MPI_IN_PLACE, in, 1, pair, op, MPI_COMM_WORLD);
  CHECK_EQUAL(in[1], ranks);
  MPI_Type_free(&pair);
  CHECK(pair == MPI_DATATYPE_NULL);
  MPI_Op_free(&op);
  CHECK(op == MPI_OP_NULL);
}

static int queried, freed, cancelled;

static int query(void* extra, MPI_Status* status) {
  queried += *(int*)extra;
  MPI_Status_set_elements(status, MPI_INT, 3);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_UNDEFINED;
  status->MPI_TAG = 17;
  return MPI_SUCCESS;
}

static int end(void* extra) {
  freed += *(int*)extra;
  return MPI_SUCCESS;
}

static int cancel(void* extra, int is_complete) {
  cancelled += *(int*)extra + is_complete;
  return MPI_SUCCESS;
}

static void generalized_requests(void) {
  int extra = 2, count = 0;
  MPI_Request request;
  MPI_Status status;
  MPI_Grequest_start(query, end, cancel, &extra, &request);
  CHECK(request != MPI_REQUEST_NULL);
  MPI_Cancel(&request);
  MPI_Grequest_complete(request);
  MPI_Wait(&request, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK_EQUAL(count, 3);
  CHECK_EQUAL(status.MPI_TAG, 17);
  CHECK(queried == 2 && freed == 2 && cancelled == 2);
  CHECK(request == MPI_REQUEST_NULL);
}

// A class has a datatype of a size or none: never one of another size.
static void sizes_of_classes(void) {
  const int classes[] = {MPI_TYPECLASS_INTEGER, MPI_TYPECLASS_REAL, MPI_TYPECLASS_COMPLEX};
  int found = 0;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  for (int i = 0; i < 3; i++) {
    for (int size = 1; size <= 64; size++) {
      MPI_Datatype type = MPI_DATATYPE_NULL;
      int bytes = 0, error_class = MPI_SUCCESS;
      const int error = MPI_Type_match_size(classes[i], size, &type);
      MPI_Error_class(error, &error_class);
      CHECK(error_class == MPI_SUCCESS || error_class == MPI_ERR_ARG);
      if (error != MPI_SUCCESS) continue;
      MPI_Type_size(type, &bytes);
      CHECK_EQUAL(bytes, size);
      found++;
    }
  }
  CHECK(found >= 8);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
}

static void contents_of_datatypes(void) {
  const int sizes[] = {8, 6}, parts[] = {4, 3}, starts[] = {1, 2};
  MPI_Datatype type, oldtypes[1];
  int integers[32], integer_count, address_count, type_count, combiner;
  MPI_Aint addresses[1];
  MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_FORTRAN, MPI_DOUBLE, &type);
  MPI_Type_get_envelope(type, &integer_count, &address_count, &type_count, &combiner);
  CHECK_EQUAL(combiner, MPI_COMBINER_SUBARRAY);
  MPI_Type_get_contents(type, 32, 1, 1, integers, addresses, oldtypes);
  CHECK_EQUAL(integers[integer_count - 1], MPI_ORDER_FORTRAN);
  CHECK(oldtypes[0] == MPI_DOUBLE);
  MPI_Type_free(&type);
  const int distributions[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_NONE},
            arguments[] = {2, MPI_DISTRIBUTE_DFLT_DARG}, grid[] = {2, 1};
  MPI_Type_create_darray(2, 0, 2, sizes, distributions, arguments, grid, MPI_ORDER_C, MPI_INT,
                         &type);
  MPI_Type_get_envelope(type, &integer_count, &address_count, &type_count, &combiner);
  CHECK_EQUAL(combiner, MPI_COMBINER_DARRAY);
  MPI_Type_get_contents(type, 32, 1, 1, integers, addresses, oldtypes);
  CHECK(integers[5] == MPI_DISTRIBUTE_CYCLIC && integers[6] == MPI_DISTRIBUTE_NONE);
  CHECK(integers[7] == 2 && integers[8] == MPI_DISTRIBUTE_DFLT_DARG);
  CHECK_EQUAL(integers[integer_count - 1], MPI_ORDER_C);
  CHECK(oldtypes[0] == MPI_INT);
  int bytes;
  MPI_Type_size(type, &bytes);
  CHECK_EQUAL(bytes, 24 * sizeof(int));
  MPI_Type_free(&type);
  sizes_of_classes();
}

static void kinds_of_communicators(void) {
  MPI_Comm shared, grid;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &shared);
  CHECK_EQUAL(size_of(shared), ranks);
  MPI_Comm_free(&shared);
  MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, &shared);
  CHECK(shared == MPI_COMM_NULL);
  const int periods[] = {0};
  int source, destination, kind;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, periods, 0, &grid);
  MPI_Topo_test(grid, &kind);
  CHECK_EQUAL(kind, MPI_CART);
  MPI_Cart_shift(grid, 0, 1, &source, &destination);
  CHECK_EQUAL(source, me == 0 ? MPI_PROC_NULL : me - 1);
  CHECK_EQUAL(destination, me == ranks - 1 ? MPI_PROC_NULL : me + 1);
  MPI_Comm_free(&grid);
  MPI_Topo_test(MPI_COMM_WORLD, &kind);
  CHECK_EQUAL(kind, MPI_UNDEFINED);
  MPI_Group world, self;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Comm_group(MPI_COMM_SELF, &self);
  const int of_world[] = {me, MPI_PROC_NULL};
  int of_self[2] = {-77, -77};
  MPI_Group_translate_ranks(world, 2, of_world, self, of_self);
  CHECK(of_self[0] == 0 && of_self[1] == MPI_PROC_NULL);
  MPI_Group empty;
  MPI_Group_difference(self, world, &empty);
  CHECK(empty == MPI_GROUP_EMPTY);
  MPI_Group_compare(world, self, &kind);
  CHECK_EQUAL(kind, ranks == 1 ? MPI_IDENT : MPI_UNEQUAL);
  MPI_Group_free(&world);
  MPI_Group_free(&self);
  CHECK(world == MPI_GROUP_NULL);
}

static void files(void) {
  char name[] = "/tmp/sorrel-translated-XXXXXX";
  const int made = mkstemp(name);
  CHECK(made >= 0);
  MPI_File file;
  MPI_Offset place = -1;
  int mode = 0, values[] = {1, 2, 3, 4}, got[4] = {0};
  MPI_Status status;
  MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &file);
  MPI_File_get_amode(file, &mode);
  CHECK_EQUAL(mode, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  MPI_File_write(file, values, 4, MPI_INT, &status);
  MPI_Get_count(&status, MPI_INT, &mode);
  CHECK_EQUAL(mode, 4);
  MPI_File_seek(file, -8, MPI_SEEK_END);
  MPI_File_get_position(file, &place);
  CHECK_EQUAL(place, 8);
  MPI_File_seek(file, -4, MPI_SEEK_CUR);
  MPI_File_read(file, got, 2, MPI_INT, MPI_STATUS_IGNORE);
  CHECK(got[0] == 2 && got[1] == 3);
  MPI_File_seek(file, 0, MPI_SEEK_SET);
  MPI_File_read_at(file, 12, got, 1, MPI_INT, MPI_STATUS_IGNORE);
  CHECK_EQUAL(got[0], 4);
  MPI_File_close(&file);
  CHECK(file == MPI_FILE_NULL);
}

static void fortran_integers(void) {
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_SELF, &copy);
  CHECK(MPI_Comm_f2c(MPI_Comm_c2f(copy)) == copy);
  CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
  CHECK(MPI_Type_f2c(MPI_Type_c2f(MPI_DOUBLE)) == MPI_DOUBLE);
  CHECK(MPI_Op_f2c(MPI_Op_c2f(MPI_SUM)) == MPI_SUM);
  CHECK(MPI_Info_f2c(MPI_Info_c2f(MPI_INFO_NULL)) == MPI_INFO_NULL);
#ifdef COMM_WORLD_IN_FORTRAN
  CHECK_EQUAL(MPI_Comm_c2f(MPI_COMM_WORLD), COMM_WORLD_IN_FORTRAN);
  CHECK_EQUAL(MPI_Type_c2f(MPI_INTEGER), INTEGER_IN_FORTRAN);
#endif
  MPI_Comm_free(&copy);
}

int main(int argc, char** argv) {
  int provided = -1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  me = rank_in(MPI_COMM_WORLD);
  ranks = size_of(MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  levels_of_threads(provided);
  handles_in_tables();
  statuses_of_many_requests();
  statuses_that_are_not_written();
  texts_have_the_limits_of_the_interface();
  attributes_of_the_library();
  attributes_of_the_program();
  errors();
  reductions_of_the_program();
  generalized_requests();
  contents_of_datatypes();
  kinds_of_communicators();
  files();
  fortran_integers();
  MPI_Finalize();
  return 0;
}
