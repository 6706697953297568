// The locale: setlocale, uselocale and what depends on them are a rank's own.
#define _GNU_SOURCE
#include <langinfo.h>
#include <locale.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#ifndef OWN
#define OWN
#endif

static OWN int faults;
static int rank;

static void check(int is_right, const char* what) {
  if (is_right) return;
  printf("rank %d: wrong: %s\n", rank, what);
  ++faults;
}

static void switch_ranks(void) {
  for (int i = 0; i < 3; ++i)
    MPI_Barrier(MPI_COMM_WORLD);
}

static int is_utf8(void) {
  return strcmp(nl_langinfo(CODESET), "UTF-8") == 0 && MB_CUR_MAX > 1;
}

static int is_number(const char* expected) {
  char text[16];
  snprintf(text, sizeof text, "%.1f", 1.5);
  return strcmp(text, expected) == 0 && strtod(expected, NULL) == 1.5;
}

static void* see_locale(void* result) {
  *(int*)result = is_utf8();
  return NULL;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int is_odd = rank % 2;
  check(strcmp(setlocale(LC_ALL, NULL), "C") == 0 && !is_utf8(), "locale at start");
  switch_ranks();
  if (is_odd) check(setlocale(LC_ALL, "C.UTF-8") != NULL, "setlocale");
  switch_ranks();
  check(is_utf8() == is_odd, "code set");
  check(strcmp(setlocale(LC_ALL, NULL), is_odd ? "C.UTF-8" : "C") == 0, "name");
  wchar_t wide = 0;
  check((mbtowc(&wide, "\xc3\xa9", 2) == 2 && wide == 0xe9) == is_odd, "mbtowc");
  mbtowc(NULL, NULL, 0);

  int of_thread = -1;
  pthread_t thread;
  pthread_create(&thread, NULL, see_locale, &of_thread);
  pthread_join(thread, NULL);
  check(of_thread == is_odd, "locale of a thread");

  // One category only.
  check(setlocale(LC_CTYPE, is_odd ? "C" : "C.UTF-8") != NULL, "setlocale of a category");
  switch_ranks();
  check(is_utf8() == !is_odd, "code set of a category");
  check(strcmp(setlocale(LC_CTYPE, NULL), is_odd ? "C" : "C.UTF-8") == 0, "name of a category");
  check(strstr(setlocale(LC_ALL, NULL), is_odd ? "LC_CTYPE=C;" : "LC_CTYPE=C.UTF-8;") != NULL,
        "names of all categories");
  check(setlocale(LC_ALL, "no such locale") == NULL && setlocale(1000, "C") == NULL, "failures");

  // A saved name restores.
  char* saved = strdup(setlocale(LC_ALL, NULL));
  check(setlocale(LC_ALL, "C") != NULL && !is_utf8(), "locale C");
  switch_ranks();
  check(setlocale(LC_ALL, saved) != NULL && is_utf8() == !is_odd, "saved locale");
  free(saved);

  // From the environment, which is the rank's.
  setenv("LC_ALL", is_odd ? "C.UTF-8" : "C", 1);
  switch_ranks();
  check(setlocale(LC_ALL, "") != NULL, "setlocale from the environment");
  switch_ranks();
  check(is_utf8() == is_odd, "locale from the environment");

  // A locale of the thread's own, over that of setlocale().
  check(uselocale((locale_t)0) == LC_GLOBAL_LOCALE, "uselocale at start");
  locale_t utf8 = newlocale(LC_ALL_MASK, "C.UTF-8", (locale_t)0);
  locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  check(uselocale(is_odd ? plain : utf8) == LC_GLOBAL_LOCALE, "uselocale");
  switch_ranks();
  check(is_utf8() == !is_odd, "used locale");
  check(uselocale((locale_t)0) == (is_odd ? plain : utf8), "answer of uselocale");
  check(setlocale(LC_ALL, NULL) != NULL && setlocale(LC_ALL, "C.UTF-8") != NULL, "both");
  check(is_utf8() == !is_odd, "used locale after setlocale");
  switch_ranks();
  locale_t copy = duplocale(LC_GLOBAL_LOCALE);
  check(strcmp(nl_langinfo_l(CODESET, copy), "UTF-8") == 0, "duplocale");
  freelocale(copy);
  check(uselocale(LC_GLOBAL_LOCALE) == (is_odd ? plain : utf8) && is_utf8(), "global locale");
  freelocale(utf8);
  freelocale(plain);
  switch_ranks();
  setlocale(LC_ALL, "C");
  switch_ranks();

  // A decimal comma, if the system can make such a locale.
  check(is_number("1.5"), "decimal point");
  if (argc > 1) {
    if (is_odd) check(setlocale(LC_NUMERIC, argv[1]) != NULL, "setlocale of numbers");
    switch_ranks();
    const struct lconv* format = localeconv();
    switch_ranks();
    check(is_number(is_odd ? "1,5" : "1.5"), "number");
    check(strcmp(format->decimal_point, is_odd ? "," : ".") == 0, "localeconv");
  }
  MPI_Finalize();
  if (faults == 0) printf("locale of rank %d is its own\n", rank);
  return faults;
}
