// The functions that the standard allows before MPI_Init and after MPI_Finalize (MPI 5.0, 11.4.1)
// work there, on other threads, too. Additions made before MPI_Init exist after it.
#include <pthread.h>

#include "../check.h"

/// Without check.h, whose reports need MPI.
#define NEED(condition)                                                           \
  do {                                                                            \
    if (!(condition)) {                                                           \
      fprintf(stderr, "%s:%d: %s is not true\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                    \
    }                                                                             \
  } while (0)

static void a_version_is_known(void) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int version, subversion, length;
  NEED(MPI_Get_version(&version, &subversion) == MPI_SUCCESS && version >= 4);
  NEED(MPI_Get_library_version(text, &length) == MPI_SUCCESS && length == (int)strlen(text));
}

static void the_booleans_of_fortran_are_known(void) {
  // The values of gfortran. The bytes behind a literal stay as they are.
  for (int size = 1; size <= 16; size *= 2) {
    unsigned char true_literal[17], false_literal[17];
    int is_set = 0;
    memset(true_literal, 7, sizeof true_literal);
    memset(false_literal, 7, sizeof false_literal);
    NEED(MPI_Abi_get_fortran_booleans(size, true_literal, false_literal, &is_set) == MPI_SUCCESS);
    NEED(is_set == 1 && true_literal[0] == 1 && false_literal[0] == 0);
    for (int i = 1; i < size; i++)
      NEED(true_literal[i] == 0 && false_literal[i] == 0);
    NEED(true_literal[size] == 7 && false_literal[size] == 7);
  }
}

static void info_objects_are_made_read_and_freed(void) {
  MPI_Info info, copy;
  char value[16], key[MPI_MAX_INFO_KEY + 1];
  int flag = 0, count = 0, length = (int)sizeof value;
  NEED(MPI_Info_create(&info) == MPI_SUCCESS);
  NEED(MPI_Info_set(info, "key", "value") == MPI_SUCCESS);
  NEED(MPI_Info_set(info, "other", "one") == MPI_SUCCESS);
  NEED(MPI_Info_delete(info, "other") == MPI_SUCCESS);
  int length_alone = 0;
  NEED(MPI_Info_get_string(info, "key", &length_alone, NULL, &flag) == MPI_SUCCESS && flag);
  NEED(MPI_Info_get_string(info, "key", &length, value, &flag) == MPI_SUCCESS);
  NEED(length_alone == length);
  NEED(flag == 1 && strcmp(value, "value") == 0);
  NEED(MPI_Info_dup(info, &copy) == MPI_SUCCESS);
  NEED(MPI_Info_get_nkeys(copy, &count) == MPI_SUCCESS && count == 1);
  NEED(MPI_Info_get_nthkey(copy, 0, key) == MPI_SUCCESS && strcmp(key, "key") == 0);
  NEED(MPI_Info_free(&info) == MPI_SUCCESS && info == MPI_INFO_NULL);
  NEED(MPI_Info_free(&copy) == MPI_SUCCESS);
}

/// As the launcher has been asked for.
static int number_of_ranks(void) {
  MPI_Info environment;
  char value[16];
  int flag = 0, length = (int)sizeof value;
  NEED(MPI_Info_create_env(0, NULL, &environment) == MPI_SUCCESS);
  NEED(MPI_Info_get_string(environment, "maxprocs", &length, value, &flag) == MPI_SUCCESS);
  NEED(flag == 1 && atoi(value) > 0);
  NEED(MPI_Info_free(&environment) == MPI_SUCCESS);
  return atoi(value);
}

static void errors_have_classes_and_texts(void) {
  char text[MPI_MAX_ERROR_STRING];
  int error_class, length;
  NEED(MPI_Error_class(MPI_ERR_TAG, &error_class) == MPI_SUCCESS && error_class == MPI_ERR_TAG);
  NEED(MPI_Error_string(MPI_ERR_TAG, text, &length) == MPI_SUCCESS && length > 0);
}

static void phases_are(int initialized, int finalized) {
  int flag = -1;
  NEED(MPI_Initialized(&flag) == MPI_SUCCESS && flag == initialized);
  NEED(MPI_Finalized(&flag) == MPI_SUCCESS && flag == finalized);
}

static void add_error(int* error_class, int* code) {
  NEED(MPI_Add_error_class(error_class) == MPI_SUCCESS);
  NEED(MPI_Add_error_code(*error_class, code) == MPI_SUCCESS);
  NEED(MPI_Add_error_string(*code, "of the program's own") == MPI_SUCCESS);
}

static void the_added_error_is_known(int error_class, int code) {
  char text[MPI_MAX_ERROR_STRING];
  int found, length;
  NEED(MPI_Error_class(code, &found) == MPI_SUCCESS && found == error_class);
  NEED(MPI_Error_string(code, text, &length) == MPI_SUCCESS);
  NEED(strcmp(text, "of the program's own") == 0);
}

/// MPI_Info_create_env said so before MPI_Init.
static int ranks_launched;

static void* on_a_thread(void* argument) {
  a_version_is_known();
  the_booleans_of_fortran_are_known();
  for (int i = 0; i < 100; i++) {
    info_objects_are_made_read_and_freed();
    errors_have_classes_and_texts();
    NEED(number_of_ranks() == ranks_launched);
  }
  return argument;
}

static void on_threads(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++)
    NEED(pthread_create(&threads[i], NULL, on_a_thread, NULL) == 0);
  on_a_thread(NULL);
  for (int i = 0; i < 2; i++)
    NEED(pthread_join(threads[i], NULL) == 0);
}

static void ignore_error(MPI_Comm* comm, int* error, ...) {
  (void)comm;
  (void)error;
}

int main(int argc, char** argv) {
  MPI_Errhandler handler;
  MPI_Info info;
  int error_class, code, flag = 0, length = 8;
  char value[8];
  phases_are(0, 0);
  ranks_launched = number_of_ranks();
  on_threads();
  add_error(&error_class, &code);
  the_added_error_is_known(error_class, code);
  NEED(MPI_Comm_create_errhandler(ignore_error, &handler) == MPI_SUCCESS);
  NEED(MPI_Info_create(&info) == MPI_SUCCESS && MPI_Info_set(info, "a", "b") == MPI_SUCCESS);
  MPI_Init(&argc, &argv);
  phases_are(1, 0);
  CHECK_EQUAL(ranks_launched, size_of(MPI_COMM_WORLD));
  on_threads();
  the_added_error_is_known(error_class, code);
  CHECK_EQUAL(MPI_Comm_set_errhandler(MPI_COMM_SELF, handler), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Errhandler_free(&handler), MPI_SUCCESS);
  CHECK_EQUAL(MPI_Info_get_string(info, "a", &length, value, &flag), MPI_SUCCESS);
  CHECK(flag == 1 && strcmp(value, "b") == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  phases_are(1, 1);
  on_threads();
  the_added_error_is_known(error_class, code);
  NEED(MPI_Info_free(&info) == MPI_SUCCESS);
  return 0;
}
