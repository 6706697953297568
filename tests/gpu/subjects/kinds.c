// The info keys about kinds of memory of sessions, communicators, windows and files. The argument:
// whether kinds of CUDA are supported, "with" or "without".
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int has_cuda;

static void require(int condition, int line) {
  if (condition) return;
  fprintf(stderr, "line %d\n", line);
  exit(1);
}

#define REQUIRE(condition) require(condition, __LINE__)

/* Whether the list has the kind. */
static int has_kind(const char* list, const char* kind) {
  const size_t length = strlen(kind);
  for (const char* at = strstr(list, kind); at != NULL; at = strstr(at + 1, kind)) {
    const int begins = at == list || at[-1] == ',', ends = at[length] == ',' || at[length] == '\0';
    if (begins && ends) return 1;
  }
  return 0;
}

/* What is supported, and what was asserted; NULL: nothing. */
static void check(MPI_Info info, const char* asserted) {
  static char first[MPI_MAX_INFO_VAL];
  char value[MPI_MAX_INFO_VAL];
  int length = sizeof value, flag;
  MPI_Info_get_string(info, "mpi_memory_alloc_kinds", &length, value, &flag);
  REQUIRE(flag != 0 && length <= (int)sizeof value);
  REQUIRE(has_kind(value, "system") && has_kind(value, "mpi") && has_kind(value, "mpi:alloc_mem"));
  REQUIRE(has_kind(value, "cuda:device") == has_cuda && has_kind(value, "cuda") == has_cuda);
  REQUIRE(has_kind(value, "cuda:managed") == has_cuda && !has_kind(value, "rocm:device"));
  // All objects have one value.
  if (first[0] == '\0') strcpy(first, value);
  REQUIRE(strcmp(first, value) == 0);
  length = sizeof value;
  MPI_Info_get_string(info, "mpi_assert_memory_alloc_kinds", &length, value, &flag);
  REQUIRE(flag == (asserted != NULL) && (flag == 0 || strcmp(value, asserted) == 0));
  MPI_Info_free(&info);
}

int main(int argc, char** argv) {
  static const char key[] = "mpi_assert_memory_alloc_kinds";
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm, copy;
  MPI_Win window;
  MPI_File file;
  MPI_Info hints, used;
  void* base;
  has_cuda = argc > 1 && strcmp(argv[1], "with") == 0;
  const char* const device = has_cuda ? "cuda:device" : NULL;
  MPI_Info_create(&hints);
  MPI_Info_set(hints, "mpi_memory_alloc_kinds", "system,cuda:device,rocm:device");
  MPI_Session_init(hints, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Session_get_info(session, &used);
  check(used, NULL);
  MPI_Info_free(&hints);
  MPI_Info_create(&hints);
  MPI_Info_set(hints, key, "cuda:device");
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "kinds", hints, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Comm_get_info(comm, &used);
  check(used, device);
  MPI_Comm_dup(comm, &copy);
  MPI_Comm_get_info(copy, &used);
  check(used, NULL);
  // Kinds of which one is not supported are no assertion; what was asserted before stays.
  MPI_Info_set(hints, key, "system,rocm");
  MPI_Comm_set_info(comm, hints);
  MPI_Comm_get_info(comm, &used);
  check(used, device);
  MPI_Info_set(hints, key, "");
  MPI_Comm_set_info(copy, hints);
  MPI_Comm_get_info(copy, &used);
  check(used, "");
  MPI_Info_set(hints, key, "system,mpi:alloc_mem");
  MPI_Win_allocate(8, 1, hints, comm, &base, &window);
  MPI_Win_get_info(window, &used);
  check(used, "system,mpi:alloc_mem");
  MPI_Win_free(&window);
  MPI_File_open(comm, "gpu_kinds.bin", MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                hints, &file);
  MPI_File_get_info(file, &used);
  check(used, "system,mpi:alloc_mem");
  MPI_File_close(&file);
  MPI_Info_free(&hints);
  int rank;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
  MPI_Init(&argc, &argv);
  MPI_Comm_get_info(MPI_COMM_WORLD, &used);
  check(used, NULL);
  printf("kinds of rank %d are right\n", rank);
  MPI_Finalize();
  return 0;
}
