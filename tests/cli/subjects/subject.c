/* The program that the command runs or rejects. Prints that it was started, its arguments and
 * variables. */
#include <stdio.h>
#include <stdlib.h>

#ifdef USES_MPI
int MPI_Init(int* argc, char*** argv);
int MPI_Finalize(void);
#endif
#ifdef USES_MISSING
int MPI_Imaginary(void);
int PMPI_Imaginary_too(void);
#endif
#ifdef USES_SPAWN
int MPI_Comm_spawn(void);
#endif
#ifdef USES_LIBRARY
int library_function(void);
#endif
#ifdef OWN_NEW
__attribute__((visibility("default"))) void* _Znwm(size_t size) {
  return malloc(size);
}
#endif
#ifdef USES_SYNTAX
extern unsigned long re_syntax_options;
#endif
#ifdef USES_TLS
_Thread_local int own_counter = 3;
#endif

int initialised_global = 17;
char zeroed_global[100000];

static void print_variable(const char* name) {
  const char* value = getenv(name);
  printf("%s=%s\n", name, value == NULL ? "(unset)" : value);
}

int main(int argc, char** argv) {
  printf("STARTED\n");
#ifdef USES_MPI
  MPI_Init(&argc, &argv);
#endif
#ifdef USES_MISSING
  MPI_Imaginary();
  PMPI_Imaginary_too();
#endif
#ifdef USES_SPAWN
  MPI_Comm_spawn();
#endif
#ifdef USES_LIBRARY
  library_function();
#endif
#ifdef USES_TLS
  own_counter += argc;
#endif
#ifdef USES_SYNTAX
  re_syntax_options = 0;
#endif
  for (int index = 1; index < argc; ++index)
    printf("argument [%s]\n", argv[index]);
  const char* names[] = {"SORREL_JOB", "LD_BIND_NOW", "LD_LIBRARY_PATH",
                         "LD_PRELOAD", "COLOUR",      "SHAPE"};
  for (size_t index = 0; index < sizeof names / sizeof names[0]; ++index)
    print_variable(names[index]);
#ifdef USES_MPI
  MPI_Finalize();
#endif
  return initialised_global + zeroed_global[0] - 10;
}
