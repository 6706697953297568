/* MPI_Comm_spawn and MPI_Comm_spawn_multiple, in an object of their own: only programs that call
 * them refer to the C functions, for which a job needs places. */
#include "fortran/shim.h"

/* Arguments of a program: an array of strings of one length, ended by a blank one. `step` strings
 * are between two. */
static char** arguments_of(const char* argv, size_t length, size_t step) {
  size_t count = 0;
  for (;; ++count) {
    const char* const word = argv + count * step * length;
    size_t blanks = 0;
    while (blanks < length && word[blanks] == ' ')
      ++blanks;
    if (blanks == length) break;
  }
  char** const words = sorrel_memory((MPI_Count)count + 1, sizeof *words);
  for (size_t i = 0; i < count; ++i)
    words[i] = sorrel_string(argv + i * step * length, length);
  return words;
}

static void free_arguments(char** words) {
  if (words == NULL) return;
  for (char** word = words; *word != NULL; ++word)
    free(*word);
  free(words);
}

void pmpi_comm_spawn_(const char* command,
                      const char* argv,
                      const int* maxprocs,
                      const int* info,
                      const int* root,
                      const int* comm,
                      int* intercomm,
                      int* errcodes,
                      int* ierror,
                      size_t command_length,
                      size_t argv_length) {
  char* const command_c = sorrel_string(command, command_length);
  char** const argv_c =
      sorrel_is_argv_null(argv) ? MPI_ARGV_NULL : arguments_of(argv, argv_length, 1);
  MPI_Comm made = MPI_COMM_NULL;
  const int error = MPI_Comm_spawn(command_c, argv_c, *maxprocs, sorrel_from_Info(*info), *root,
                                   sorrel_from_Comm(*comm), &made, sorrel_errcodes(errcodes));
  if (error == MPI_SUCCESS) *intercomm = sorrel_to_Comm(made);
  free_arguments(argv_c);
  free(command_c);
  sorrel_return(ierror, error);
}
SORREL_NAMES(comm_spawn)

void pmpi_comm_spawn_multiple_(const int* count,
                               const char* commands,
                               const char* argv,
                               const int* maxprocs,
                               const int* info,
                               const int* root,
                               const int* comm,
                               int* intercomm,
                               int* errcodes,
                               int* ierror,
                               size_t command_length,
                               size_t argv_length) {
  const size_t n = *count > 0 ? (size_t)*count : 0;
  char** const commands_c = sorrel_memory((MPI_Count)n + 1, sizeof *commands_c);
  char*** const argv_c = sorrel_memory((MPI_Count)n + 1, sizeof *argv_c);
  MPI_Info* const info_c = sorrel_memory((MPI_Count)n, sizeof *info_c);
  const int has_arguments = !sorrel_is_argvs_null(argv);
  for (size_t i = 0; i < n; ++i) {
    commands_c[i] = sorrel_string(commands + i * command_length, command_length);
    if (has_arguments) argv_c[i] = arguments_of(argv + i * argv_length, argv_length, n);
    info_c[i] = sorrel_from_Info(info[i]);
  }
  MPI_Comm made = MPI_COMM_NULL;
  const int error = MPI_Comm_spawn_multiple(
      *count, commands_c, has_arguments ? argv_c : MPI_ARGVS_NULL, maxprocs, info_c, *root,
      sorrel_from_Comm(*comm), &made, sorrel_errcodes(errcodes));
  if (error == MPI_SUCCESS) *intercomm = sorrel_to_Comm(made);
  for (size_t i = 0; i < n; ++i) {
    free_arguments(argv_c[i]);
    free(commands_c[i]);
  }
  free(info_c);
  free(argv_c);
  free(commands_c);
  sorrel_return(ierror, error);
}
SORREL_NAMES(comm_spawn_multiple)
