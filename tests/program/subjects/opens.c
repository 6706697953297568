/* Opens the named library. Libraries that the system's libraries open must still work. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <iconv.h>
#include <mpi.h>
#include <netdb.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>

int exported_rank = -1;
int noted = -1;

void exported_note(int value) {
  noted = value;
}

static void require(int condition, const char* what) {
  if (condition) return;
  printf("%s\n", what);
  exit(1);
}

static void open_of_system(void) {
  void* mathematics = dlopen("libm.so.6", RTLD_NOW);
  require(mathematics != NULL && dlsym(mathematics, "cos") != NULL, "libm.so.6 is not opened");
  require(dlopen(NULL, RTLD_NOW) != NULL, "the program is not opened");
  require(dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD) != NULL, "libc.so.6 is not loaded");
  require(dlopen("libnothing.so", RTLD_NOW | RTLD_NOLOAD) == NULL, "libnothing.so is loaded");
  require(dlopen("libnothing.so", RTLD_NOW) == NULL && dlerror() != NULL && dlerror() == NULL,
          "there is no message for what is not there");
  /* The C library opens modules for these. */
  iconv_t converter = iconv_open("ISO-8859-2", "UTF-8");
  require(converter != (iconv_t)-1, "iconv has no module");
  iconv_close(converter);
  getpwuid(0);
  getservbyname("http", "tcp");
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  exported_rank = rank;
  open_of_system();
  void* library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
  if (library == NULL) {
    const char* message = dlerror();
    printf("rank %d may not: %s\n", rank, message != NULL ? message : "no message");
    require(dlerror() == NULL, "an error is reported twice");
  } else if (dlsym(library, "library_add") != NULL) {
    void (*add)(int) = (void (*)(int))dlsym(library, "library_add");
    int (*get)(void) = (int (*)(void))dlsym(library, "library_get");
    int before = get();
    add(rank);
    MPI_Barrier(MPI_COMM_WORLD);
    int is_own = get() == rank && (noted == -1 ? before == 0 : noted == rank);
    printf("rank %d opens it, %s\n", rank, is_own ? "its own" : "of all");
  } else {
    int (*apply)(int, int) = (int (*)(int, int))dlsym(library, "library_apply");
    printf("rank %d opens it, %s\n", rank, apply(1, rank) == 3 * rank ? "its own" : "wrong");
  }
  MPI_Finalize();
  return 0;
}
