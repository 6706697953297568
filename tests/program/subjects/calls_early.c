// A library whose constructor calls every function that Sorrel's library interposes
// (interposed_names.h, made from that library), each in a child process of its own and with several
// kinds of arguments, and writes how the call ended: a line "NAME KIND END". Where Sorrel's library
// is preloaded, this constructor precedes those of Sorrel's library. Only system calls are used
// around a call, because the functions of the C library are under test. A function that expects an
// int takes the lower half of an address: KIND says which sign that has, as some crash for one
// only.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NAME(symbol) extern void early_##symbol(void) __asm__(#symbol) __attribute__((weak));
#include "interposed_names.h"
#undef NAME

typedef long function(intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t);

static const struct {
  const char* name;
  function* called;
} interposed[] = {

#define NAME(symbol) {#symbol, (function*)early_##symbol},
#include "interposed_names.h"
};

enum { name_count = sizeof interposed / sizeof *interposed, argument_count = 6, page_bytes = 4096 };

// Where the pages are, whatever the kernel chooses for others: a negative int.
static const intptr_t pages = 0x200080000000;

// z: zero, p: a page that begins with the name of a folder, s: a stream, o: one.
static const char* const kinds[] = {"zzzzzz", "ppzzzz", "spzzzz", "pszzzz",
                                    "poospp", "pospzz", "oozzzz", "zspzzz"};

static intptr_t argument(char kind, int index) {
  if (kind == 'p') return pages + (intptr_t)index * page_bytes;
  if (kind == 's') return (intptr_t)stdin;
  return kind == 'o';
}

// A call that computes without an end is ended after so much time on a processor, by a signal that
// no mask holds back. A limit of the clock would end calls that have had no processor.
static void limit_processor_time(void) {
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
  const struct itimerspec limit = {.it_value = {.tv_nsec = 100000000}};
  int timer = 0;
  syscall(SYS_timer_create, CLOCK_PROCESS_CPUTIME_ID, &event, &timer);
  syscall(SYS_timer_settime, timer, 0, &limit, NULL);
}

static void call(function* called, const char* kind) {
  limit_processor_time();
  for (int stream = 0; stream < 3; ++stream)
    syscall(SYS_close, stream);
  syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR, 0);
  for (int stream = 1; stream < 3; ++stream)
    syscall(SYS_dup3, 0, stream, 0);
  called(argument(kind[0], 0), argument(kind[1], 1), argument(kind[2], 2), argument(kind[3], 3),
         argument(kind[4], 4), argument(kind[5], 5));
  syscall(SYS_exit_group, 0);
}

static void write_text(const char* text) {
  syscall(SYS_write, 1, text, strlen(text));
}

// S: the address of the stream is a negative int.
static void write_kind(const char* kind) {
  char letters[argument_count + 1] = {0};
  for (int i = 0; i < argument_count; ++i)
    letters[i] = (char)(kind[i] == 's' && (int32_t)(intptr_t)stdin < 0 ? 'S' : kind[i]);
  write_text(letters);
}

static void write_end(const char* name, const char* kind, int status) {
  char number[2] = {(char)('0' + WTERMSIG(status) % 10), 0};
  char tens[2] = {(char)('0' + WTERMSIG(status) / 10), 0};
  write_text(name);
  write_text(" ");
  write_kind(kind);
  write_text(WIFSIGNALED(status) ? " signal " : " returned");
  if (WIFSIGNALED(status)) write_text(tens);
  if (WIFSIGNALED(status)) write_text(number);
  write_text("\n");
}

// Whether the process waits in the kernel, for what may never come.
static int is_waiting(int process) {
  char path[32] = "/proc/", text[400] = {0};
  char* end = path + strlen(path);
  for (int power = 1000000000; power > 0; power /= 10) {
    if (process >= power) *end++ = (char)('0' + process / power % 10);
  }
  strcpy(end, "/stat");
  const int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY, 0);
  if (file < 0) return 0;
  syscall(SYS_read, file, text, sizeof text - 1);
  syscall(SYS_close, file);
  // The name of a process may contain anything.
  const char* name_end = strrchr(text, ')');
  return name_end != NULL && (name_end[2] == 'S' || name_end[2] == 'T');
}

// Whether the child has ended, after its line. A call that has been waiting for `looks_max` looks
// is ended.
static int has_ended(int child, const char* name, const char* kind, int* looks) {
  enum { looks_max = 5 };

  int status = 0;
  if (syscall(SYS_wait4, child, &status, WNOHANG, NULL) == child) {
    write_end(name, kind, status);
    return 1;
  }
  *looks = is_waiting(child) ? *looks + 1 : 0;
  if (*looks == looks_max) syscall(SYS_kill, child, SIGKILL);
  return 0;
}

static void call_all(const char* kind) {
  static int children[name_count], looks[name_count];
  int running = 0;
  for (int i = 0; i < name_count; ++i) {
    // One argument might be another process.
    const int is_left_out =
        interposed[i].called == NULL || (strcmp(interposed[i].name, "kill") == 0 && kind[0] != 'z');
    looks[i] = 0;
    children[i] = is_left_out ? 0 : (int)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (!is_left_out && children[i] == 0) call(interposed[i].called, kind);
    running += children[i] > 0;
  }
  while (running > 0) {
    const struct timespec pause = {.tv_nsec = 20000000};
    syscall(SYS_nanosleep, &pause, NULL);
    for (int i = 0; i < name_count; ++i) {
      if (children[i] <= 0 || !has_ended(children[i], interposed[i].name, kind, &looks[i]))
        continue;
      children[i] = 0;
      --running;
    }
  }
}

__attribute__((constructor)) static void call_early(void) {
  const size_t bytes = (size_t)argument_count * page_bytes;
  if (syscall(SYS_mmap, pages, bytes, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != pages)
    syscall(SYS_exit_group, 2);
  for (int i = 0; i < argument_count; ++i)
    strcpy((char*)argument('p', i), ".");
  for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; ++i)
    call_all(kinds[i]);
}

int has_called_early(void) {
  return 1;
}
