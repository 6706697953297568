// Attributes are copied and deleted by their callbacks as communicators are created and freed;
// error handlers are inherited and called with the communicator and the error; the predefined
// attributes have the right values.
#include "../check.h"

static int copies, deletions, handled_class, handled_count;
static MPI_Comm handled_comm;

static int copy_plus_one(
    MPI_Comm comm, int keyval, void* extra, void* value, void* copied, int* flag) {
  (void)comm;
  (void)keyval;
  CHECK(extra == &copies);
  copies++;
  *(intptr_t*)copied = (intptr_t)value + 1;
  *flag = 1;
  return MPI_SUCCESS;
}

static int count_deletion(MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm;
  (void)keyval;
  (void)value;
  (void)extra;
  deletions++;
  return MPI_SUCCESS;
}

static void note_error(MPI_Comm* comm, int* code, ...) {
  handled_comm = *comm;
  MPI_Error_class(*code, &handled_class);
  handled_count++;
}

static void attributes(void) {
  MPI_Comm copy, copy_of_copy;
  int keyval, quiet, flag;
  void* value;
  MPI_Comm_create_keyval(copy_plus_one, count_deletion, &keyval, &copies);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &quiet, NULL);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_get_attr(copy, keyval, &value, &flag);
  CHECK_EQUAL(flag, 0);
  MPI_Comm_set_attr(copy, keyval, (void*)(intptr_t)40);
  MPI_Comm_set_attr(copy, quiet, (void*)(intptr_t)1);
  MPI_Comm_dup(copy, &copy_of_copy);
  CHECK_EQUAL(copies, 1);
  MPI_Comm_get_attr(copy_of_copy, keyval, &value, &flag);
  CHECK_EQUAL(flag, 1);
  CHECK_EQUAL((intptr_t)value, 41);
  MPI_Comm_get_attr(copy_of_copy, quiet, &value, &flag);
  CHECK_EQUAL(flag, 0);
  MPI_Comm_delete_attr(copy, keyval);
  CHECK_EQUAL(deletions, 1);
  MPI_Comm_free(&copy);
  CHECK_EQUAL(deletions, 1);
  MPI_Comm_free_keyval(&keyval);
  CHECK_EQUAL(keyval, MPI_KEYVAL_INVALID);
  MPI_Comm_free(&copy_of_copy);
  CHECK_EQUAL(deletions, 2);
  MPI_Comm_free_keyval(&quiet);
}

static void predefined_attributes(void) {
  int *tag_max, *flag_value, flag;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &tag_max, &flag);
  CHECK_EQUAL(flag, 1);
  CHECK(*tag_max >= 32767);
  // The largest tag works.
  int value = 5, got = 0;
  const int me = rank_in(MPI_COMM_WORLD), partner = size_of(MPI_COMM_WORLD) - 1 - me;
  MPI_Sendrecv(&value, 1, MPI_INT, partner, *tag_max, &got, 1, MPI_INT, partner, *tag_max,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK_EQUAL(got, 5);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &flag_value, &flag);
  CHECK_EQUAL(flag, 1);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_HOST, &flag_value, &flag);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_IO, &flag_value, &flag);
}

static void error_handlers(void) {
  MPI_Errhandler handler, got;
  MPI_Comm copy;
  MPI_Comm_create_errhandler(note_error, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  CHECK_EQUAL(MPI_Send(NULL, 0, MPI_INT, 1 << 20, 0, MPI_COMM_WORLD) != MPI_SUCCESS, 1);
  CHECK_EQUAL(handled_count, 1);
  CHECK_EQUAL(handled_class, MPI_ERR_RANK);
  CHECK(handled_comm == MPI_COMM_WORLD);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_get_errhandler(copy, &got);
  CHECK(got == handler);
  MPI_Errhandler_free(&got);
  MPI_Errhandler_free(&handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  // The duplicate keeps the handler although its handle is freed.
  CHECK(MPI_Bcast(NULL, -1, MPI_INT, 0, copy) != MPI_SUCCESS);
  CHECK_EQUAL(handled_count, 2);
  CHECK_EQUAL(handled_class, MPI_ERR_COUNT);
  CHECK(handled_comm == copy);
  MPI_Comm_call_errhandler(copy, MPI_ERR_OTHER);
  CHECK_EQUAL(handled_count, 3);
  CHECK_EQUAL(handled_class, MPI_ERR_OTHER);
  MPI_Comm_free(&copy);
}

static void error_texts(void) {
  char text[MPI_MAX_ERROR_STRING];
  int length, error_class, code, new_class;
  static const int classes[] = {MPI_SUCCESS, MPI_ERR_BUFFER,   MPI_ERR_COUNT, MPI_ERR_TYPE,
                                MPI_ERR_TAG, MPI_ERR_COMM,     MPI_ERR_RANK,  MPI_ERR_ROOT,
                                MPI_ERR_OP,  MPI_ERR_TRUNCATE, MPI_ERR_OTHER, MPI_ERR_INTERN};
  for (size_t c = 0; c < sizeof classes / sizeof classes[0]; c++) {
    length = -1;
    MPI_Error_string(classes[c], text, &length);
    CHECK_EQUAL(strlen(text), length);
    CHECK(length > 5);
    MPI_Error_class(classes[c], &error_class);
    CHECK_EQUAL(error_class, classes[c]);
  }
  MPI_Add_error_class(&new_class);
  MPI_Add_error_code(new_class, &code);
  MPI_Add_error_string(code, "the moon is in the wrong phase");
  MPI_Error_string(code, text, &length);
  CHECK_EQUAL(strcmp(text, "the moon is in the wrong phase"), 0);
  MPI_Error_class(code, &error_class);
  CHECK_EQUAL(error_class, new_class);
}

static void infos(void) {
  MPI_Info info, copy;
  char value[32];
  int flag, keys;
  MPI_Info_create(&info);
  MPI_Info_set(info, "a", "1");
  MPI_Info_set(info, "b", "2");
  MPI_Info_dup(info, &copy);
  MPI_Info_delete(info, "a");
  MPI_Info_get(info, "a", 31, value, &flag);
  CHECK_EQUAL(flag, 0);
  MPI_Info_get(copy, "a", 31, value, &flag);
  CHECK_EQUAL(flag, 1);
  CHECK_EQUAL(strcmp(value, "1"), 0);
  MPI_Info_get_nkeys(copy, &keys);
  CHECK_EQUAL(keys, 2);
  MPI_Info_free(&info);
  MPI_Info_free(&copy);
  CHECK(info == MPI_INFO_NULL);
}

static int has_key(MPI_Info info, const char* key, const char* expected) {
  char value[MPI_MAX_INFO_VAL];
  int size = sizeof value, flag;
  MPI_Info_get_string(info, key, &size, value, &flag);
  return flag && (expected == NULL || strcmp(value, expected) == 0);
}

// A hint that the library does not know is ignored, and not returned; one that it knows is.
static void hints(void) {
  MPI_Info given, used;
  MPI_Comm copies[3];
  MPI_Request request;
  MPI_Info_create(&given);
  MPI_Info_set(given, "no_such_hint", "1");
  MPI_Info_set(given, "sorrel_read_late", "true");
  MPI_Comm_dup(MPI_COMM_WORLD, &copies[0]);
  MPI_Comm_get_info(copies[0], &used);
  CHECK(!has_key(used, "no_such_hint", NULL) && !has_key(used, "sorrel_read_late", "true"));
#ifdef SORREL_MPI_H
  CHECK(has_key(used, "sorrel_read_late", "false"));
#endif
  MPI_Info_free(&used);
  MPI_Comm_set_info(copies[0], given);
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, given, &copies[1]);
  MPI_Comm_idup_with_info(MPI_COMM_WORLD, given, &copies[2], &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int i = 0; i < 3; i++) {
    MPI_Comm_get_info(copies[i], &used);
    CHECK(!has_key(used, "no_such_hint", NULL));
#ifdef SORREL_MPI_H
    CHECK(has_key(used, "sorrel_read_late", "true"));
#endif
    MPI_Info_free(&used);
    MPI_Comm_free(&copies[i]);
  }
  MPI_Info_free(&given);
}

#ifdef SORREL_MPI_H
// What has started the program: its arguments, as it got them. Other MPIs need not know them.
static void environment(int argc, char** argv) {
  char words[MPI_MAX_INFO_VAL] = "";
  for (int i = 1; i < argc; i++) {
    if (i > 1) strcat(words, " ");
    strcat(words, argv[i]);
  }
  CHECK(has_key(MPI_INFO_ENV, "command", argv[0]));
  CHECK(has_key(MPI_INFO_ENV, "argv", words));
}
#else
static void environment(int argc, char** argv) {
  (void)argc;
  (void)argv;
}
#endif

int main(int argc, char** argv) {
  environment(argc, argv);
  MPI_Init(&argc, &argv);
  attributes();
  predefined_attributes();
  error_handlers();
  error_texts();
  infos();
  hints();
  environment(argc, argv);
  MPI_Finalize();
  return 0;
}
