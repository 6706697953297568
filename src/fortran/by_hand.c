/* Functions whose Fortran form has other arguments than the C form. */
#include <stdio.h>
#include <string.h>

#include "fortran/shim.h"

/* Another MPI of the standard ABI has no such function. A translation has one of its own. */
#ifdef SORREL_TRANSLATED
void sorrel_announce_fortran_of_translation(const struct sorrel_fortran_calls* calls)
    __attribute__((weak));
#define sorrel_announce_fortran sorrel_announce_fortran_of_translation
#endif
#pragma weak sorrel_announce_fortran
/* By the linker. */
extern const char __start_sorrel_fortran[] __attribute__((weak, visibility("hidden")));
extern const char __stop_sorrel_fortran[] __attribute__((weak, visibility("hidden")));
struct sorrel_fortran_calls sorrel_fortran_last;

static int announced(int error) {
  sorrel_fortran_last.begin = __start_sorrel_fortran;
  sorrel_fortran_last.end = __stop_sorrel_fortran;
  if (error == MPI_SUCCESS && sorrel_announce_fortran != NULL)
    sorrel_announce_fortran(&sorrel_fortran_last);
  return error;
}

/* libgfortran.a has this function for its own files; libgfortran.so keeps it to itself. */
extern char _gfortrani_flush_all_units[] __attribute__((weak, visibility("hidden")));
#pragma weak sorrel_announce_linked_fortran
void sorrel_announce_linked_fortran(void);

__attribute__((constructor)) static void announce_library(void) {
  if (_gfortrani_flush_all_units != NULL && sorrel_announce_linked_fortran != NULL)
    sorrel_announce_linked_fortran();
}

void pmpi_init_(int* ierror) {
  sorrel_return(ierror, announced(MPI_Init(NULL, NULL)));
}
SORREL_NAMES(init)

void pmpi_init_thread_(const int* required, int* provided, int* ierror) {
  sorrel_return(ierror, announced(MPI_Init_thread(NULL, NULL, *required, provided)));
}
SORREL_NAMES(init_thread)

void pmpi_pcontrol_(const int* level) {
  MPI_Pcontrol(*level);
}
SORREL_NAMES(pcontrol)

double pmpi_wtime_(void) {
  return MPI_Wtime();
}
SORREL_NAMES(wtime)

double pmpi_wtick_(void) {
  return MPI_Wtick();
}
SORREL_NAMES(wtick)

MPI_Aint pmpi_aint_add_(const MPI_Aint* base, const MPI_Aint* disp) {
  return MPI_Aint_add(*base, *disp);
}
SORREL_NAMES(aint_add)

MPI_Aint pmpi_aint_diff_(const MPI_Aint* addr1, const MPI_Aint* addr2) {
  return MPI_Aint_diff(*addr1, *addr2);
}
SORREL_NAMES(aint_diff)

void pmpi_info_create_env_(int* info, int* ierror) {
  MPI_Info made = MPI_INFO_NULL;
  const int error = MPI_Info_create_env(0, NULL, &made);
  if (error == MPI_SUCCESS) *info = sorrel_to_Info(made);
  sorrel_return(ierror, error);
}
SORREL_NAMES(info_create_env)

/* A string with its length, which the C form counts with the byte 0 at the end. */
struct counted_string {
  int wanted; /* the caller's length, without that byte */
  int room;   /* the C form's */
  char* text;
};

static struct counted_string counted_string(int wanted) {
  const int room = wanted > 0 ? wanted + 1 : 0;
  char* const text = sorrel_memory((MPI_Count)room + 1, 1);
  return (struct counted_string){.wanted = wanted, .room = room, .text = text};
}

/* If `is_found`, gives the length to the caller, and as much of the text as it wants; the rest of
 * the string becomes blanks. */
static void give_counted(
    struct counted_string* string, int is_found, int* length, char* result, size_t result_length) {
  if (is_found) {
    *length = string->room - 1;
    if (string->wanted > 0) sorrel_give_string(string->text, result, result_length);
  }
  free(string->text);
}

void pmpi_info_get_string_(const int* info,
                           const char* key,
                           int* buflen,
                           char* value,
                           int* flag,
                           int* ierror,
                           size_t key_length,
                           size_t value_length) {
  char* const key_c = sorrel_info_string(key, key_length);
  struct counted_string string = counted_string(*buflen);
  *flag = 0;
  const int error =
      MPI_Info_get_string(sorrel_from_Info(*info), key_c, &string.room, string.text, flag);
  *flag = *flag != 0;
  give_counted(&string, error == MPI_SUCCESS && *flag, buflen, value, value_length);
  free(key_c);
  sorrel_return(ierror, error);
}
SORREL_NAMES(info_get_string)

void pmpi_info_get_(const int* info,
                    const char* key,
                    const int* valuelen,
                    char* value,
                    int* flag,
                    int* ierror,
                    size_t key_length,
                    size_t value_length) {
  char* const key_c = sorrel_info_string(key, key_length);
  char* const value_c = sorrel_memory(*valuelen > 0 ? (MPI_Count)*valuelen + 1 : 1, 1);
  *flag = 0;
  const int error = MPI_Info_get(sorrel_from_Info(*info), key_c, *valuelen, value_c, flag);
  *flag = *flag != 0;
  if (error == MPI_SUCCESS && *flag) sorrel_give_string(value_c, value, value_length);
  free(value_c);
  free(key_c);
  sorrel_return(ierror, error);
}
SORREL_NAMES(info_get)

void pmpi_session_get_nth_pset_(const int* session,
                                const int* info,
                                const int* n,
                                int* pset_len,
                                char* pset_name,
                                int* ierror,
                                size_t pset_name_length) {
  struct counted_string string = counted_string(*pset_len);
  const int error = MPI_Session_get_nth_pset(sorrel_from_Session(*session), sorrel_from_Info(*info),
                                             *n, &string.room, string.text);
  give_counted(&string, error == MPI_SUCCESS, pset_len, pset_name, pset_name_length);
  sorrel_return(ierror, error);
}
SORREL_NAMES(session_get_nth_pset)

/* MPI_Buffer_detach of mpif.h and the module mpi gets any variable in the place of the address, and
 * leaves it alone; mpi_f08 gets a TYPE(C_PTR). */
#define SORREL_DETACH_NAMES(name)                   \
  SORREL_WEAK_ALIAS(mpi_##name##_, pmpi_##name##_); \
  SORREL_WEAK_ALIAS(mpi_##name##_f08_, pmpi_##name##_f08_);

/* OBJECT and HANDLE: the parameter and argument before the address, each with its comma, or
 * nothing. */
#define SORREL_DETACH(name, detach, OBJECT, HANDLE)                        \
  void pmpi_##name##_(OBJECT void* address, int* size, int* ierror) {      \
    void* ignored = NULL;                                                  \
    (void)address;                                                         \
    sorrel_return(ierror, detach(HANDLE& ignored, size));                  \
  }                                                                        \
  void pmpi_##name##_f08_(OBJECT void** address, int* size, int* ierror) { \
    sorrel_return(ierror, detach(HANDLE address, size));                   \
  }                                                                        \
  SORREL_DETACH_NAMES(name)
#define SORREL_DETACH_LARGE(name, detach, OBJECT, HANDLE)                          \
  void pmpi_##name##_c_f08_(OBJECT void** address, MPI_Count* size, int* ierror) { \
    sorrel_return(ierror, detach##_c(HANDLE address, size));                       \
  }                                                                                \
  SORREL_WEAK_ALIAS(mpi_##name##_c_f08_, pmpi_##name##_c_f08_);
#define SORREL_COMMA ,
SORREL_DETACH(buffer_detach, MPI_Buffer_detach, , )
SORREL_DETACH(comm_detach_buffer,
              MPI_Comm_detach_buffer,
              const int* comm SORREL_COMMA,
              sorrel_from_Comm(*comm) SORREL_COMMA)
SORREL_DETACH(session_detach_buffer,
              MPI_Session_detach_buffer,
              const int* session SORREL_COMMA,
              sorrel_from_Session(*session) SORREL_COMMA)
#ifndef SORREL_WITHOUT_LARGE_COUNTS
SORREL_DETACH_LARGE(buffer_detach, MPI_Buffer_detach, , )
SORREL_DETACH_LARGE(comm_detach_buffer,
                    MPI_Comm_detach_buffer,
                    const int* comm SORREL_COMMA,
                    sorrel_from_Comm(*comm) SORREL_COMMA)
SORREL_DETACH_LARGE(session_detach_buffer,
                    MPI_Session_detach_buffer,
                    const int* session SORREL_COMMA,
                    sorrel_from_Session(*session) SORREL_COMMA)
#endif
