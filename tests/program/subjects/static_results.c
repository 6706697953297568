// Static results of functions of the C library belong to a rank, while other ranks call them.
#include <arpa/inet.h>
#include <grp.h>
#include <mpi.h>
#include <pwd.h>
#include <search.h>
#include <stdio.h>
#include <string.h>

static int rank, faults;

static void check(int is_right, const char* what) {
  if (is_right) return;
  printf("rank %d: wrong: %s\n", rank, what);
  ++faults;
}

int main(int argc, char** argv) {
  char address[INET_ADDRSTRLEN], name[L_tmpnam], key[] = "key";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const struct in_addr number = {.s_addr = htonl(0x0a000000U + (unsigned)rank)};
  const char* account = rank % 2 == 0 ? "root" : "daemon";
  const char* shown = inet_ntoa(number);
  const struct passwd* user = getpwnam(account);
  const struct group* users = getgrnam(account);
  const char* temporary = tmpnam(NULL);
  check(user != NULL && users != NULL && temporary != NULL && getpwnam("no such account") == NULL,
        "results");
  user = getpwuid(rank % 2 == 0 ? 0 : 1);
  users = getgrgid(rank % 2 == 0 ? 0 : 1);
  snprintf(address, sizeof address, "10.0.0.%d", rank);
  snprintf(name, sizeof name, "%s", temporary);
  check(hcreate(10) != 0, "hcreate");
  check(hsearch((ENTRY){.key = key, .data = &rank}, ENTER) != NULL, "ENTER");
  MPI_Barrier(MPI_COMM_WORLD);
  check(strcmp(shown, address) == 0, "inet_ntoa");
  check(user != NULL && strcmp(user->pw_name, account) == 0, "getpwuid");
  check(users != NULL && strcmp(users->gr_name, account) == 0, "getgrgid");
  check(strcmp(temporary, name) == 0, "tmpnam");
  const ENTRY* found = hsearch((ENTRY){.key = key}, FIND);
  check(found != NULL && found->data == &rank, "hsearch");
  MPI_Barrier(MPI_COMM_WORLD);
  hdestroy();
  MPI_Finalize();
  if (faults == 0) printf("results of rank %d are its own\n", rank);
  return faults;
}
