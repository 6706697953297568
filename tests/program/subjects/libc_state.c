/* State that the C library keeps per process: options, random numbers, tokens, exit handlers. */
#define _GNU_SOURCE
#include <getopt.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank = -1;
static int handlers_run;

static void require(int condition, const char* what) {
  if (condition) return;
  fprintf(stderr, "rank %d: %s\n", rank, what);
  exit(1);
}

static void last_handler(void) {
  require(++handlers_run == 2, "handlers ran out of order");
  printf("handlers of rank %d ran\n", rank);
}

static void first_handler(void) {
  require(++handlers_run == 1, "handlers ran out of order");
}

static void check_options(int argc, char** argv) {
  static const struct option longs[] = {{"name", required_argument, NULL, 'n'},
                                        {"verbose", no_argument, NULL, 'v'},
                                        {NULL, 0, NULL, 0}};
  int seen_a = 0, seen_v = 0, option;
  const char *value_b = "", *name = "";
  while ((option = getopt_long(argc, argv, "ab:v", longs, NULL)) != -1) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (option == 'a') seen_a++;
    if (option == 'b') value_b = optarg;
    if (option == 'v') seen_v++;
    if (option == 'n') name = optarg;
  }
  require(seen_a == 1 && seen_v == 2, "flags were lost");
  require(strcmp(value_b, "7") == 0 && strcmp(name, "x=y") == 0, "an option's argument was lost");
  require(optind == argc - 1 && strcmp(argv[optind], "file") == 0, "arguments were not permuted");
}

static void check_random_numbers(void) {
  int expected[100];
  double expected_double[100];
  srand(1234 + rank);
  srand48(rank);
  for (int i = 0; i < 100; ++i) {
    expected[i] = rand();
    expected_double[i] = drand48();
  }
  srand(1234 + rank);
  srand48(rank);
  for (int i = 0; i < 100; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    require(rand() == expected[i], "rand was shared");
    require(drand48() == expected_double[i], "drand48 was shared");
  }
}

static void check_tokens(void) {
  char text[64];
  int count = 0;
  snprintf(text, sizeof text, "%d,%d,%d", rank, rank + 1, rank + 2);
  for (char* token = strtok(text, ","); token != NULL; token = strtok(NULL, ",")) {
    require(atoi(token) == rank + count, "strtok was shared");
    ++count;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  require(count == 3, "strtok lost a token");
}

static void check_time(void) {
  time_t then = 86400L * 365 * (rank + 1);
  struct tm* broken_down = gmtime(&then);
  MPI_Barrier(MPI_COMM_WORLD);
  struct tm again;
  gmtime_r(&then, &again);
  require(again.tm_year == broken_down->tm_year && again.tm_yday == broken_down->tm_yday,
          "gmtime was shared");
}

int main(int argc, char** argv) {
  char* options[] = {argv[0], "-a", "file", "-vb7", "--name", "x=y", "--verb", NULL};
  /* The first number of an unseeded sequence is the C library's own. */
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  require(rand() == 1804289383, "the unseeded sequence is not the C library's");
  atexit(last_handler);
  atexit(first_handler);
  check_options(7, options);
  check_random_numbers();
  check_tokens();
  check_time();
  MPI_Finalize();
  if (rank % 2) exit(0);
  return 0;
}
