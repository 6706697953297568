// Static results of functions of the C library belong to a rank, while other ranks call them.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <grp.h>
#include <locale.h>
#include <mntent.h>
#include <mpi.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <pwd.h>
#include <sched.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uchar.h>
#include <wchar.h>

static int rank, faults;

static void check(int is_right, const char* what) {
  if (is_right) return;
  printf("rank %d: wrong: %s\n", rank, what);
  ++faults;
}

// Whether `text` stays what it is while other ranks make the same call.
static void check_text(const char* text, const char* what) {
  char before[6000];
  check(text != NULL, what);
  if (text == NULL) text = "";
  snprintf(before, sizeof before, "%s", text);
  MPI_Barrier(MPI_COMM_WORLD);
  check(strcmp(text, before) == 0, what);
  MPI_Barrier(MPI_COMM_WORLD);
}

static const char* address_name(void) {
  char name[32];
  snprintf(name, sizeof name, "127.0.0.%d", rank + 1);
  const struct hostent* host = gethostbyname(name);
  return host == NULL ? NULL : host->h_name;
}

static const char* service_name(void) {
  const struct servent* service = getservbyname(rank % 2 == 0 ? "ssh" : "http", "tcp");
  return service == NULL ? "no such service" : service->s_name;
}

static const char* protocol_name(void) {
  const struct protoent* protocol = getprotobynumber(rank % 2 == 0 ? 6 : 17);
  return protocol == NULL ? "no such protocol" : protocol->p_name;
}

static const char* mount_name(FILE* mounts) {
  const struct mntent* mount = NULL;
  for (int i = 0; i <= rank % 3; ++i)
    mount = getmntent(mounts);
  return mount == NULL ? "no such mount" : mount->mnt_dir;
}

// Ranks read the same list, each at its own pace: in the end each has the same sum.
static void check_lists(void) {
  unsigned long sum = 0;
  unsigned long sums[2];
  setpwent();
  for (const struct passwd* user; (user = getpwent()) != NULL;) {
    sum = 31 * sum + user->pw_uid;
    if (sum % 3 == (unsigned long)rank % 3) sched_yield();
  }
  endpwent();
  setgrent();
  for (const struct group* users; (users = getgrent()) != NULL;) {
    sum = 31 * sum + users->gr_gid;
    if (sum % 3 == (unsigned long)rank % 3) sched_yield();
  }
  endgrent();
  // The re-entrant forms have the same lists.
  const unsigned long listed = sum;
  struct passwd user;
  struct group users;
  struct passwd* next_user = NULL;
  struct group* next_users = NULL;
  char text[4096];
  char short_text[2];
  sum = 0;
  check(getpwent_r(&user, short_text, sizeof short_text, &next_user) == ERANGE, "getpwent_r");
  while (getpwent_r(&user, text, sizeof text, &next_user) == 0) {
    sum = 31 * sum + next_user->pw_uid;
    if (sum % 3 == (unsigned long)rank % 3) sched_yield();
  }
  endpwent();
  while (getgrent_r(&users, text, sizeof text, &next_users) == 0) {
    sum = 31 * sum + next_users->gr_gid;
    if (sum % 3 == (unsigned long)rank % 3) sched_yield();
  }
  endgrent();
  check(sum == listed && next_user == NULL && next_users == NULL, "getpwent_r and getgrent_r");
  MPI_Allreduce(&sum, &sums[0], 1, MPI_UNSIGNED_LONG, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&sum, &sums[1], 1, MPI_UNSIGNED_LONG, MPI_MAX, MPI_COMM_WORLD);
  check(sum != 0 && sums[0] == sums[1], "getpwent and getgrent");
  check(getpwent() != NULL && getpwent() != NULL, "getpwent again");
}

static void check_texts(void) {
  int point = 0;
  int sign = 0;
  const struct ether_addr card = {{2, 0, 0, 0, 0, (unsigned char)rank}};
  FILE* mounts = setmntent("/proc/self/mounts", "r");
  check_text(strerror(1000 + rank), "strerror");
  check(strcmp(strerror(2), "No such file or directory") == 0, "strerror of a known error");
  check_text(strsignal(1000 + rank), "strsignal");
  check_text(l64a(1000 + rank), "l64a");
  check(a64l(l64a(123456 + rank)) == 123456 + rank && *l64a(0) == 0, "l64a and a64l");
  check_text(ecvt(1.5 + rank, 5, &point, &sign), "ecvt");
  check_text(fcvt(1.5 + rank, 5, &point, &sign), "fcvt");
  check(strcmp(fcvt(1e300, 0, &point, &sign), "") != 0 && point == 301, "fcvt of a large number");
  check_text(qecvt(1.5L + rank, 5, &point, &sign), "qecvt");
  check_text(qfcvt(1e4000L * (1.5L + 0.1L * rank), 0, &point, &sign), "qfcvt");
  check(point == 4001, "qfcvt of a large number");
  check_text(ether_ntoa(&card), "ether_ntoa");
  char card_name[32];
  snprintf(card_name, sizeof card_name, "2:0:0:0:0:%x", rank);
  const struct ether_addr* read = ether_aton(card_name);
  MPI_Barrier(MPI_COMM_WORLD);
  check(read != NULL && memcmp(read, &card, sizeof card) == 0, "ether_aton");
  check_text(address_name(), "gethostbyname");
  check_text(service_name(), "getservbyname");
  check_text(protocol_name(), "getprotobynumber");
  if (mounts != NULL) {
    check_text(mount_name(mounts), "getmntent");
    endmntent(mounts);
  }
}

// A character in two parts, while other ranks convert.
static void check_characters(void) {
  wchar_t wide = 0;
  setlocale(LC_ALL, "C.UTF-8");
  mbtowc(NULL, NULL, 0);
  if (rank == 1) check(mbtowc(&wide, "\xc3", 1) == -1, "mbtowc of a part");
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    check(mbtowc(&wide, "\xa9", 1) == 1 && wide == 0xe9, "mbtowc of the rest");
  } else {
    check(mbtowc(&wide, "a", 1) == 1 && wide == L'a', "mbtowc");
  }
  check(mbtowc(&wide, "", 1) == 0 && mbtowc(NULL, "a", 1) == 1, "mbtowc of an end");
  // The euro sign, where the caller keeps no state.
  const size_t is_part = (size_t)-2;
  const char *part = "\xe2\x82", *rest = "\xac";
  wchar_t wides[2] = {0};
  char16_t short_units[2] = {0};
  char32_t unit = 0;
  char text[8];
  const char* begin = part;
  if (rank == 1) {
    check(mblen(part, 2) == -1 && mbrtowc(&wide, part, 2, NULL) == is_part &&
              mbrlen(part, 2, NULL) == is_part && mbrtoc32(&unit, part, 2, NULL) == is_part &&
              mbsnrtowcs(wides, &begin, 2, 2, NULL) == 0 && c16rtomb(text, 0xd83d, NULL) == 0 &&
              mbrtoc16(&short_units[0], "\xf0\x9f\x98\x80", 4, NULL) == 4,
          "parts of characters");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    begin = rest;
    check(mblen(rest, 1) == 1, "mblen of the rest");
    check(mbrtowc(&wide, rest, 1, NULL) == 1 && wide == 0x20ac, "mbrtowc of the rest");
    check(mbrlen(rest, 1, NULL) == 1, "mbrlen of the rest");
    check(mbrtoc32(&unit, rest, 1, NULL) == 1 && unit == 0x20ac, "mbrtoc32 of the rest");
    check(mbsnrtowcs(wides, &begin, 1, 2, NULL) == 1 && wides[0] == 0x20ac,
          "mbsnrtowcs of the rest");
    check(c16rtomb(text, 0xde00, NULL) == 4 && memcmp(text, "\xf0\x9f\x98\x80", 4) == 0,
          "c16rtomb of the rest");
    check(mbrtoc16(&short_units[1], "a", 1, NULL) == (size_t)-3 && short_units[1] == 0xde00,
          "mbrtoc16 of the rest");
  } else {
    begin = "a";
    check(mblen("a", 1) == 1, "mblen");
    check(mbrtowc(&wide, "a", 1, NULL) == 1 && wide == L'a', "mbrtowc");
    check(mbrlen("a", 1, NULL) == 1, "mbrlen");
    check(mbrtoc32(&unit, "a", 1, NULL) == 1 && unit == 'a', "mbrtoc32");
    check(mbsnrtowcs(wides, &begin, 1, 2, NULL) == 1 && wides[0] == L'a', "mbsnrtowcs");
    check(c16rtomb(text, 'a', NULL) == 1 && text[0] == 'a', "c16rtomb");
    check(mbrtoc16(&short_units[1], "a", 1, NULL) == 1 && short_units[1] == 'a', "mbrtoc16");
  }
  setlocale(LC_ALL, "C");
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
  check_texts();
  check_lists();
  check_characters();
  MPI_Finalize();
  if (faults == 0) printf("results of rank %d are its own\n", rank);
  return faults;
}
