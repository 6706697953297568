/* Variables of the system's libraries that a program names: only the rank that has called the
 * library's function reads what it has written. */
#define _GNU_SOURCE
#include <errno.h>
#include <error.h>
#include <math.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank = -1;

static void require(int condition, const char* what) {
  if (condition) return;
  printf("rank %d: %s\n", rank, what);
  exit(1);
}

/* Lets every other rank do the same before this rank reads its own values. */
static void let_others_run(void) {
  MPI_Barrier(MPI_COMM_WORLD);
}

static const char* in_environ(const char* name) {
  size_t length = strlen(name);
  for (char** variable = environ; variable != NULL && *variable != NULL; ++variable) {
    if (strncmp(*variable, name, length) == 0 && (*variable)[length] == '=')
      return *variable + length + 1;
  }
  return "(unset)";
}

extern void* __libc_stack_end;

/* Where the rank's stack is. */
static void check_stack(void) {
  pthread_attr_t attributes;
  void* bottom = NULL;
  size_t bytes = 0;
  require(pthread_getattr_np(pthread_self(), &attributes) == 0, "pthread_getattr_np");
  pthread_attr_getstack(&attributes, &bottom, &bytes);
  pthread_attr_destroy(&attributes);
  const char *here = (const char*)&bottom, *low = bottom;
  require(here >= low && here < low + bytes, "the stack is not where pthread_getattr_np says");
  require(here < (const char*)__libc_stack_end && (const char*)__libc_stack_end <= low + bytes,
          "the stack does not end at __libc_stack_end");
}

static void check_sign(void) {
  volatile double negative = -0.5, positive = 2.5;
  volatile float negative_float = -0.5F;
  double all = rank % 2 == 0 ? lgamma(negative) : lgamma(positive);
  let_others_run();
  require(signgam == (rank % 2 == 0 ? -1 : 1), "signgam is not this rank's");
  signgam = 7;
  all += (double)lgammaf(negative_float);
  require(signgam == -1 && all == all, "signgam is not lgammaf's");
}

static void check_environment(void) {
  static char text[32];
  char number[16], command[64], line[16] = "";
  snprintf(number, sizeof number, "%d", rank);
  require(strcmp(in_environ("PATH"), getenv("PATH")) == 0, "environ and getenv differ at first");
  setenv("OF_RANK", number, 1);
  snprintf(text, sizeof text, "PUT=%d", rank);
  putenv(text);
  let_others_run();
  require(strcmp(in_environ("OF_RANK"), number) == 0, "environ does not show setenv");
  require(strcmp(getenv("OF_RANK"), number) == 0, "getenv is another rank's");
  require(strcmp(in_environ("PUT"), number) == 0, "environ does not show putenv");
  setenv("OF_RANK", "no", 0);
  require(strcmp(getenv("OF_RANK"), number) == 0, "setenv overwrites though it must not");
  require(setenv("A=B", "", 1) == -1 && errno == EINVAL, "setenv takes a name with =");
  snprintf(command, sizeof command, "test \"$OF_RANK\" = %d", rank);
  require(system(command) == 0, "a child has another rank's environment");
  FILE* pipe = popen("echo $PUT", "r");
  require(fscanf(pipe, "%15s", line) == 1 && strcmp(line, number) == 0,
          "a child behind a pipe has another rank's environment");
  pclose(pipe);
  let_others_run();
  if (rank % 2 == 0) unsetenv("OF_RANK");
  let_others_run();
  require((getenv("OF_RANK") == NULL) == (rank % 2 == 0), "unsetenv is another rank's");
  require((strcmp(in_environ("OF_RANK"), "(unset)") == 0) == (rank % 2 == 0),
          "environ does not show unsetenv");
  char* mine[] = {"ONLY=this", NULL};
  char** before = environ;
  environ = mine;
  require(strcmp(getenv("ONLY"), "this") == 0 && getenv("PATH") == NULL,
          "getenv does not look at the program's environ");
  setenv("MORE", "that", 1);
  require(strcmp(in_environ("ONLY"), "this") == 0 && strcmp(in_environ("MORE"), "that") == 0,
          "setenv does not keep what the program has put there");
  environ = before;
}

static void check_time_zone(void) {
  const int is_east = rank % 2 == 0;
  const time_t noon = 43200;
  struct tm parts, native;
  char name[16];
  setenv("TZ", is_east ? "EAST-3" : "WEST5SUM", 1);
  tzset();
  let_others_run();
  require(timezone == (is_east ? -10800 : 18000), "timezone is not this rank's");
  require(daylight == !is_east, "daylight is not this rank's");
  require(strcmp(tzname[0], is_east ? "EAST" : "WEST") == 0, "tzname is not this rank's");
  let_others_run();
  require(localtime_r(&noon, &parts)->tm_hour == (is_east ? 15 : 7), "the hour is not this rank's");
  let_others_run();
  native = *localtime(&noon);
  require(native.tm_hour == parts.tm_hour, "localtime is not this rank's");
  let_others_run();
  require(mktime(&parts) == noon, "mktime is not this rank's");
  let_others_run();
  require(strftime(name, sizeof name, "%Z", &native) > 0 && strcmp(name, tzname[0]) == 0,
          "strftime is not this rank's");
}

static void check_messages(void) {
  char* text = NULL;
  size_t size = 0;
  char expected[64];
  FILE* error_before = stderr;
  FILE* output_before = stdout;
  FILE* into = open_memstream(&text, &size);
  stderr = into;
  stdout = into;
  snprintf(expected, sizeof expected, "name%d", rank);
  program_invocation_name = expected;
  let_others_run();
  printf("printed %d\n", rank);
  error(0, 0, "told %d", rank);
  error_one_per_line = 1;
  for (int i = 0; i < 3; ++i)
    error_at_line(0, 0, "file", 12, "once %d", rank);
  let_others_run();
  stderr = error_before;
  stdout = output_before;
  fclose(into);
  char all[256];
  snprintf(all, sizeof all, "printed %d\nname%d: told %d\nname%d:file:12: once %d\n", rank, rank,
           rank, rank, rank);
  require(strcmp(text, all) == 0, text);
  require(error_message_count == 2, "messages of other ranks are counted");
  free(text);
}

static void check_date(void) {
  unsetenv("DATEMSK");
  getdate_err = 0;
  require(getdate("today") == NULL && getdate_err == 1, "getdate_err is not set");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  check_stack();
  check_sign();
  check_environment();
  check_time_zone();
  check_messages();
  check_date();
  clearenv();
  require(environ == NULL && getenv("HOME") == NULL, "clearenv leaves something");
  setenv("LAST", "one", 1);
  require(strcmp(in_environ("LAST"), "one") == 0, "nothing can be set after clearenv");
  let_others_run();
  printf("variables of rank %d are its own\n", rank);
  MPI_Finalize();
  return 0;
}
