// State that the C library and the system keep for a program, one case for each row of
// docs/reference/saved-state.md.
//
// usage: state list
//        state kept            Each rank enters every case, and the job is saved; the restarted
//                              job compares. TZ is XST5XDT.
//        state refused FOLDER  As many ranks as there are cases: in turn, from the last rank, each
//                              enters its case, and the job, which cannot be saved, goes on.
//        state unnoticed       Rank 0 enters every case, and the job is saved all the same; the
//                              restarted job finds what the page says.
//        state ended FOLDER    One rank enters and leaves each case that can be left, and the job
//                              is saved after each.
#define _GNU_SOURCE
#include <aio.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <fmtmsg.h>
#include <iconv.h>
#include <libintl.h>
#include <linux/perf_event.h>
#include <locale.h>
#include <mpi.h>
#include <nl_types.h>
#include <pthread.h>
#include <pwd.h>
#include <regex.h>
#include <search.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include <sorrel.h>

static const char* folder;

static int must_be(int is_true, const char* what) {
  if (is_true) return 1;
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  MPI_Abort(MPI_COMM_WORLD, 2);
  return 0;
}

// What goes along. A case says whether it is right; in the first call it enters its state.

static int is_again;

static int heap_memory(void) {
  static char* block;
  if (!is_again) block = memset(aligned_alloc(64, 100000), 7, 100000);
  return block[99999] == 7;
}

static int allocated_text(void) {
  static char* text;
  static char* path;
  if (!is_again)
    must_be(asprintf(&text, "%d of %s", 4, "five") > 0, "asprintf"), path = getcwd(NULL, 0);
  return strcmp(text, "4 of five") == 0 && path[0] == '/';
}

static int compare_texts(const void* a, const void* b) {
  return strcmp(a, b);
}

static int search_tree(void) {
  static void* root;
  if (!is_again) tsearch("a", &root, compare_texts), tsearch("b", &root, compare_texts);
  return tfind("b", &root, compare_texts) != NULL && tfind("c", &root, compare_texts) == NULL;
}

static int expression(void) {
  static regex_t made;
  if (!is_again) must_be(regcomp(&made, "^(ab|c)+[[:digit:]]$", REG_EXTENDED) == 0, "regcomp");
  return regexec(&made, "abcab7", 0, NULL, 0) == 0 && regexec(&made, "abd7", 0, NULL, 0) != 0;
}

/// Texts in memory of the C library.
static int zone_names(void) {
  static struct tm winter, made, read, read_so;
  static const char* names[2];
  const time_t time = 1700000000;
  if (!is_again) {
    tzset();
    names[0] = tzname[0], names[1] = tzname[1];
    must_be(localtime_r(&time, &winter) != NULL, "localtime_r");
    made.tm_year = 120, made.tm_mon = 6, made.tm_mday = 1, made.tm_isdst = -1;
    must_be(mktime(&made) != -1, "mktime");
    must_be(strptime("1700000000", "%s", &read) != NULL, "strptime");
    const locale_t locale = newlocale(LC_ALL_MASK, "C", NULL);
    must_be(strptime_l("1700000000", "%s", &read_so, locale) != NULL, "strptime_l");
  }
  char text[32];
  return strcmp(names[0], "XST") == 0 && strcmp(names[1], "XDT") == 0 &&
         strcmp(tzname[0], "XST") == 0 && strcmp(tzname[1], "XDT") == 0 && timezone == 18000 &&
         strcmp(winter.tm_zone, "XST") == 0 && strcmp(made.tm_zone, "XDT") == 0 &&
         strcmp(read.tm_zone, "XST") == 0 && strcmp(read_so.tm_zone, "XST") == 0 &&
         strftime(text, sizeof text, "%H %Z", &made) == 6 && strcmp(text, "00 XDT") == 0;
}

/// The state that the C library begins with is kept by its address. Before the next case, which
/// goes on with the other state.
static int state_of_generator(void) {
  static char own[64];
  static char* first;
  static long expected;
  if (!is_again) {
    srandom(3), random(), expected = random();
    srandom(3), random();
    first = initstate(1, own, sizeof own);
    return first != NULL;
  }
  const char* before = setstate(first);
  const long number = random();
  return setstate(own) == first && before == own && number == expected;
}

static int seeds_before(void) {
  static const unsigned short* before;
  if (!is_again) {
    unsigned short seed[3] = {1, 2, 3};
    seed48(seed), before = seed48(seed);
  }
  return before[0] == 1 && before[1] == 2 && before[2] == 3;
}

static int random_numbers(void) {
  static long expected[3];
  if (!is_again) {
    for (int i = 0; i < 2; ++i) {
      srand(5), srand48(6);
      if (i == 0) rand(), expected[0] = rand(), lrand48(), expected[1] = lrand48();
      if (i == 1) rand(), lrand48();
    }
    return 1;
  }
  return rand() == expected[0] && lrand48() == expected[1];
}

static int place_in_text(void) {
  static char text[] = "one two three";
  if (!is_again) return strcmp(strtok(text, " "), "one") == 0;
  return strcmp(strtok(NULL, " "), "two") == 0;
}

static int begun_character(void) {
  wchar_t wide = 0;
  must_be(setlocale(LC_ALL, "C.UTF-8") != NULL, "setlocale");
  const int is_right = is_again ? mbtowc(&wide, "\xa9", 1) == 1 && wide == 0xe9 &&
                                      mbrtowc(&wide, "\xac", 1, NULL) == 1 && wide == 0x20ac
                                : mbtowc(&wide, "\xc3", 1) == -1 &&
                                      mbrtowc(&wide, "\xe2\x82", 2, NULL) == (size_t)-2;
  setlocale(LC_ALL, "C");
  return is_right;
}

static int options(void) {
  static char* words[] = {"state", "-a", "-b", "-c", NULL};
  if (!is_again) return optind = 1, getopt(3, words, "abc") == 'a';
  return getopt(3, words, "abc") == 'b';
}

static void on_exit_of_rank(void) {
  printf("handler of atexit\n");
}

static int end_handler(void) {
  if (!is_again) must_be(atexit(on_exit_of_rank) == 0, "atexit");
  return 1;
}

static int thread_value(void) {
  static pthread_key_t key;
  static int value;
  if (!is_again) pthread_key_create(&key, NULL), pthread_setspecific(key, &value);
  return pthread_getspecific(key) == &value;
}

static int free_locks(void) {
  static pthread_mutex_t* mutex;
  static sem_t* counter;
  int value = 0;
  if (!is_again) {
    mutex = malloc(sizeof *mutex), counter = malloc(sizeof *counter);
    pthread_mutex_init(mutex, NULL), sem_init(counter, 0, 3), sem_wait(counter);
  }
  sem_getvalue(counter, &value);
  return pthread_mutex_lock(mutex) == 0 && pthread_mutex_unlock(mutex) == 0 && value == 2;
}

static volatile sig_atomic_t usr1_count;

static void count_usr1(int number) {
  usr1_count += number == SIGUSR1;
}

static int signals(void) {
  sigset_t one;
  sigset_t now;
  sigemptyset(&one), sigaddset(&one, SIGUSR1);
  if (!is_again) {
    struct sigaction action = {.sa_handler = count_usr1};
    sigaction(SIGUSR1, &action, NULL), sigprocmask(SIG_BLOCK, &one, NULL), raise(SIGUSR1);
    return usr1_count == 0;
  }
  sigpending(&now);
  if (!sigismember(&now, SIGUSR1)) return 0;
  sigprocmask(SIG_UNBLOCK, &one, NULL);
  return usr1_count == 1;
}

static int alarm_time(void) {
  if (!is_again) alarm(1000);
  const unsigned left = alarm(is_again ? 0 : 1000);
  return left > 900 && left <= 1000;
}

static int rounding(void) {
  volatile double one = 1;
  if (!is_again) fesetround(FE_UPWARD);
  const int is_right = fegetround() == FE_UPWARD && one + 1e-30 > 1;
  if (is_again) fesetround(FE_TONEAREST);
  return is_right;
}

static int jump(void) {
  static jmp_buf place;
  return setjmp(place) == 0 ? longjmp(place, 1), 0 : 1;
}

static int open_file(void) {
  static FILE* stream;
  char word[8] = "";
  if (!is_again) must_be((stream = fopen("/etc/passwd", "r")) != NULL, "fopen"), fgetc(stream);
  return fgets(word, 4, stream) != NULL && ftell(stream) == (is_again ? 7 : 4);
}

static int error_number(void) {
  // Calls between the cases may change it.
  return errno = EXDEV, errno == EXDEV;
}

/// The names are right if their texts are those of the start.
static int program_name(void) {
  static char names[2][4096];
  if (!is_again) {
    snprintf(names[0], sizeof names[0], "%s", program_invocation_name);
    snprintf(names[1], sizeof names[1], "%s", program_invocation_short_name);
  }
  return strcmp(names[0], program_invocation_name) == 0 &&
         strcmp(names[1], program_invocation_short_name) == 0 && strcmp(names[1], "state") == 0;
}

static const struct kept {
  const char* name;
  int (*is_right)(void);
} kept[] = {
    {"malloc", heap_memory},
    {"asprintf", allocated_text},
    {"tsearch", search_tree},
    {"regcomp", expression},
    {"tzset", zone_names},
    {"initstate", state_of_generator},
    {"seed48", seeds_before},
    {"rand", random_numbers},
    {"strtok", place_in_text},
    {"mbtowc", begun_character},
    {"getopt", options},
    {"atexit", end_handler},
    {"pthread_key_create", thread_value},
    {"sem_init", free_locks},
    {"sigaction", signals},
    {"alarm", alarm_time},
    {"fesetround", rounding},
    {"setjmp", jump},
    {"fopen", open_file},
    {"errno", error_number},
    {"program_invocation_name", program_name},
};

// What keeps the job from being saved. A rank of a case that ends it can be saved afterwards.

static void* made;
static int descriptor;
/// The system of this machine has no such thing, or does not permit it.
static int is_impossible;
static pid_t child;
static timer_t timer;

static void open_conversion(void) {
  made = iconv_open("UTF-16", "ISO-8859-1");
  must_be(made != (void*)-1, "iconv_open");
}

static void close_conversion(void) {
  iconv_close(made);
}

static void make_locale(void) {
  // That of "C" goes along.
  must_be(duplocale(newlocale(LC_NUMERIC_MASK, "C", NULL)) != NULL, "newlocale");
  must_be((made = newlocale(LC_ALL_MASK, "C.UTF-8", NULL)) != NULL, "newlocale");
}

static void free_locale(void) {
  freelocale(made);
}

static void set_locale(void) {
  must_be(setlocale(LC_CTYPE, "C.UTF-8") != NULL, "setlocale");
}

static void reset_locale(void) {
  setlocale(LC_CTYPE, "C");
}

static locale_t used;

static void use_locale(void) {
  used = newlocale(LC_ALL_MASK, "C.UTF-8", NULL);
  must_be(used != NULL, "newlocale");
  made = uselocale(used);
}

static void stop_locale(void) {
  uselocale(made);
  freelocale(used);
}

static void change_directory(void) {
  must_be(chdir("/") == 0, "chdir");
}

static void change_mask(void) {
  umask(0123);
}

static void open_semaphore(void) {
  char name[64];
  snprintf(name, sizeof name, "/sorrel-state-%d", (int)getpid());
  must_be((made = sem_open(name, O_CREAT, 0600, 1)) != SEM_FAILED, "sem_open");
  sem_unlink(name);
}

static void close_semaphore(void) {
  sem_close(made);
}

static void open_catalog(void) {
  char name[4096];
  snprintf(name, sizeof name, "%s/state.cat", folder);
  must_be((made = catopen(name, 0)) != (void*)-1, "catopen");
}

static void close_catalog(void) {
  catclose(made);
}

static void make_timer(void) {
  struct sigevent none = {.sigev_notify = SIGEV_NONE};
  must_be(timer_create(CLOCK_MONOTONIC, &none, &timer) == 0, "timer_create");
}

static void delete_timer(void) {
  timer_delete(timer);
}

static void set_processor_timer(void) {
  setitimer(ITIMER_PROF, &(struct itimerval){.it_value = {.tv_sec = 1000}}, NULL);
}

static void stop_processor_timer(void) {
  setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);
}

static void open_log(void) {
  openlog("state", LOG_PID, LOG_USER);
}

static void read_asynchronously(void) {
  static char byte;
  static struct aiocb block;
  const struct aiocb* const blocks[] = {&block};
  block.aio_fildes = open("/etc/passwd", O_RDONLY);
  block.aio_buf = &byte;
  block.aio_nbytes = 1;
  must_be(aio_read(&block) == 0, "aio_read");
  while (aio_error(&block) == EINPROGRESS)
    aio_suspend(blocks, 1, NULL);
  close(block.aio_fildes);
}

static void add_severity(void) {
  must_be(addseverity(9, "LATE") == MM_OK, "addseverity");
}

static void make_table(void) {
  hcreate(10);
}

static void break_time_down(void) {
  const time_t now = 0;
  localtime(&now);
}

static void read_user(void) {
  getpwnam("root");
}

static void change_environment(void) {
  setenv("STATE", "1", 1);
}

static void map_memory(void) {
  made = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  // What is unmapped has no protection.
  must_be(mprotect(made, 4096, PROT_READ) == 0, "mprotect");
}

static void unmap_memory(void) {
  munmap(made, 4096);
}

static void protect_memory(void) {
  mprotect(aligned_alloc(4096, 4096), 4096, PROT_READ);
}

static void keep_from_children(void) {
  made = memset(aligned_alloc(4096, 8192), 1, 8192);
  must_be(madvise(made, 8192, MADV_WIPEONFORK) == 0, "madvise");
}

static void give_to_children(void) {
  madvise(made, 4096, MADV_KEEPONFORK);
  madvise((char*)made + 4096, 4096, MADV_KEEPONFORK);
}

static void* wait_for_ever(void* unused) {
  pause();
  return unused;
}

static void start_thread(void) {
  pthread_t thread;
  must_be(pthread_create(&thread, NULL, wait_for_ever, NULL) == 0, "pthread_create");
}

static void start_child(void) {
  child = fork();
  if (child == 0) prctl(PR_SET_PDEATHSIG, SIGKILL), pause(), _exit(0);
}

static void end_child(void) {
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
}

static void open_stream(void) {
  static char bytes[8];
  made = fmemopen(bytes, sizeof bytes, "w");
}

static void close_stream(void) {
  fclose(made);
}

static void open_library(void) {
  must_be(dlopen("libresolv.so.2", RTLD_NOW) != NULL, "dlopen");
}

#define DESCRIPTOR(name, call)                       \
  static void open_##name(void) {                    \
    must_be((descriptor = (int)(call)) >= 0, #name); \
  }
DESCRIPTOR(socket, socket(AF_UNIX, SOCK_STREAM, 0))
DESCRIPTOR(netlink, socket(AF_NETLINK, SOCK_RAW, 0))
DESCRIPTOR(eventfd, eventfd(0, 0))
DESCRIPTOR(signalfd, signalfd(-1, &(sigset_t){0}, 0))
DESCRIPTOR(timerfd, timerfd_create(CLOCK_MONOTONIC, 0))
DESCRIPTOR(epoll, epoll_create1(0))
DESCRIPTOR(inotify, inotify_init())
DESCRIPTOR(memfd, memfd_create("state", MFD_ALLOW_SEALING))
DESCRIPTOR(pidfd, syscall(SYS_pidfd_open, getpid(), 0))
DESCRIPTOR(dup, dup(2))
#undef DESCRIPTOR

/// Descriptors that a kernel may lack, or permit to some users only.
#define OPTIONAL_DESCRIPTOR(name, call) \
  static void open_##name(void) {       \
    descriptor = (int)(call);           \
    is_impossible = descriptor < 0;     \
  }
static char parameters[512];
OPTIONAL_DESCRIPTOR(io_uring, syscall(SYS_io_uring_setup, 1, memset(parameters, 0, 512)))
OPTIONAL_DESCRIPTOR(userfaultfd, syscall(SYS_userfaultfd, 1))
OPTIONAL_DESCRIPTOR(fanotify, syscall(SYS_fanotify_init, 0, 0))
OPTIONAL_DESCRIPTOR(ruleset, syscall(SYS_landlock_create_ruleset, &(uint64_t){1}, 8, 0))
OPTIONAL_DESCRIPTOR(event,
                    syscall(SYS_perf_event_open,
                            &(struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,
                                                      .size = sizeof(struct perf_event_attr),
                                                      .config = PERF_COUNT_SW_DUMMY},
                            0,
                            -1,
                            -1,
                            0))
#undef OPTIONAL_DESCRIPTOR

static int inner_epoll;

static void open_epoll_of_epoll(void) {
  descriptor = epoll_create1(0);
  inner_epoll = epoll_create1(0);
  must_be(epoll_ctl(descriptor, EPOLL_CTL_ADD, inner_epoll, &(struct epoll_event){0}) == 0,
          "epoll_ctl");
}

static void close_epoll_of_epoll(void) {
  close(descriptor);
  close(inner_epoll);
}

/// A sealed file in memory of which only the mapping is left.
static void map_sealed_memory(void) {
  const int file = memfd_create("state", MFD_ALLOW_SEALING);
  must_be(ftruncate(file, 4096) == 0, "ftruncate");
  must_be(fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0, "F_ADD_SEALS");
  made = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
}

static void change_user(void) {
  // The user of this thread: the C library cannot change all of them where ranks have control
  // blocks.
  is_impossible = syscall(SYS_setresuid, -1, -1, 65534) != 0;
}

static void change_user_back(void) {
  must_be(syscall(SYS_setresuid, -1, -1, getuid()) == 0, "setresuid");
}

static int personality_before;

static void change_personality(void) {
  personality_before = personality(0xffffffff);
  is_impossible = personality((unsigned)personality_before | ADDR_COMPAT_LAYOUT) < 0;
}

static void change_personality_back(void) {
  personality((unsigned)personality_before);
}

static void use_gpu(void) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  is_impossible = driver == NULL;
  if (driver == NULL) return;
  int (*initialize)(unsigned) = (int (*)(unsigned))dlsym(driver, "cuInit");
  int (*retain)(void**, int) = (int (*)(void**, int))dlsym(driver, "cuDevicePrimaryCtxRetain");
  int (*set)(void*) = (int (*)(void*))dlsym(driver, "cuCtxSetCurrent");
  void* context = NULL;
  is_impossible = initialize(0) != 0 || retain(&context, 0) != 0 || set(context) != 0;
}

static void give_up_rights(void) {
  must_be(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "PR_SET_NO_NEW_PRIVS");
}

static void close_descriptor(void) {
  close(descriptor);
}

static void open_folder_stream(void) {
  made = opendir(folder);
}

static void close_folder_stream(void) {
  closedir(made);
}

static const struct refused {
  const char* name;
  void (*enter)(void);
  /// Null: it stays.
  void (*leave)(void);
} refused[] = {
    // The last ones in turn: the library holds the directory open.
    {"chdir", change_directory, NULL},
    {"umask", change_mask, NULL},
    // No process gets these rights back.
    {"PR_SET_NO_NEW_PRIVS", give_up_rights, NULL},
    {"setresuid", change_user, change_user_back},
    {"a call of CUDA's driver or runtime", use_gpu, NULL},
    {"personality", change_personality, change_personality_back},
    {"iconv_open", open_conversion, close_conversion},
    {"newlocale", make_locale, free_locale},
    {"setlocale", set_locale, reset_locale},
    {"uselocale", use_locale, stop_locale},
    {"sem_open", open_semaphore, close_semaphore},
    {"catopen", open_catalog, close_catalog},
    {"timer_create", make_timer, delete_timer},
    {"setitimer", set_processor_timer, stop_processor_timer},
    {"openlog", open_log, closelog},
    {"aio_read", read_asynchronously, NULL},
    {"addseverity", add_severity, NULL},
    {"hcreate", make_table, NULL},
    {"localtime", break_time_down, NULL},
    {"getpwnam", read_user, NULL},
    {"setenv", change_environment, NULL},
    {"mmap", map_memory, unmap_memory},
    {"mprotect", protect_memory, NULL},
    {"MADV_WIPEONFORK", keep_from_children, give_to_children},
    {"pthread_create", start_thread, NULL},
    {"fork", start_child, end_child},
    {"fmemopen", open_stream, close_stream},
    {"dlopen", open_library, NULL},
    {"socket", open_socket, close_descriptor},
    {"sockets of netlink", open_netlink, close_descriptor},
    {"eventfd", open_eventfd, close_descriptor},
    {"signalfd", open_signalfd, close_descriptor},
    {"timerfd_create", open_timerfd, close_descriptor},
    {"epoll_create1", open_epoll, close_descriptor},
    {"inotify_init", open_inotify, close_descriptor},
    {"memfd_create", open_memfd, close_descriptor},
    {"pidfd_open", open_pidfd, close_descriptor},
    {"dup", open_dup, close_descriptor},
    {"io_uring_setup", open_io_uring, close_descriptor},
    {"userfaultfd", open_userfaultfd, close_descriptor},
    {"fanotify_init", open_fanotify, close_descriptor},
    {"landlock_create_ruleset", open_ruleset, close_descriptor},
    {"perf_event_open", open_event, close_descriptor},
    {"epoll_ctl", open_epoll_of_epoll, close_epoll_of_epoll},
    {"F_ADD_SEALS", map_sealed_memory, unmap_memory},
    {"opendir", open_folder_stream, close_folder_stream},
};

// What is not noticed. A case says whether it is as the page says; in the first call it enters its
// state.

static int raw_memory(void) {
  static void* mapped;
  unsigned char residence = 0;
  if (!is_again)
    mapped = (void*)syscall(SYS_mmap, NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return is_again == (mincore(mapped, 4096, &residence) != 0);
}

static int locked_mutex(void) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  if (!is_again) pthread_mutex_lock(&mutex);
  return pthread_mutex_trylock(&mutex) == EBUSY;
}

static int process_number(void) {
  static pid_t number;
  if (!is_again) number = getpid();
  return is_again == (number != getpid());
}

static int priority(void) {
  static int before;
  if (!is_again) before = getpriority(PRIO_PROCESS, 0), setpriority(PRIO_PROCESS, 0, before + 1);
  return is_again == (getpriority(PRIO_PROCESS, 0) == before);
}

static int limits(void) {
  static struct rlimit before;
  struct rlimit now;
  if (!is_again) {
    getrlimit(RLIMIT_FSIZE, &before);
    now = before, now.rlim_cur = 1 << 30, setrlimit(RLIMIT_FSIZE, &now);
  }
  getrlimit(RLIMIT_FSIZE, &now);
  return is_again == (now.rlim_cur == before.rlim_cur);
}

static int process_group(void) {
  if (!is_again) setpgid(0, 0);
  return is_again == (getpgrp() != getpid());
}

static int timer_slack(void) {
  if (!is_again) prctl(PR_SET_TIMERSLACK, 123456, 0, 0, 0);
  return is_again == (prctl(PR_GET_TIMERSLACK, 0, 0, 0, 0) != 123456);
}

/// The contents are right, whatever the advice was.
static int advice(void) {
  static const int kinds[] = {MADV_NORMAL,    MADV_RANDOM,      MADV_SEQUENTIAL, MADV_WILLNEED,
                              MADV_MERGEABLE, MADV_UNMERGEABLE, MADV_HUGEPAGE,   MADV_NOHUGEPAGE,
                              MADV_DONTDUMP,  MADV_DODUMP,      MADV_COLD,       MADV_PAGEOUT};

  enum { count = sizeof kinds / sizeof *kinds, page = 4096 };

  static unsigned char* block;
  if (!is_again) {
    block = memset(aligned_alloc(page, (count + 1) * page), 7, (count + 1) * page);
    for (int i = 0; i < count; ++i)
      madvise(block + i * page, page, kinds[i]);
    must_be(madvise(block + count * page, page, MADV_DONTNEED) == 0, "MADV_DONTNEED");
  }
  for (int i = 0; i < count * page; ++i) {
    if (block[i] != 7) return 0;
  }
  return block[count * page] == 0;
}

static int thread_name(void) {
  char name[16];
  if (!is_again) pthread_setname_np(pthread_self(), "state of page");
  pthread_getname_np(pthread_self(), name, sizeof name);
  return is_again == (strcmp(name, "state of page") != 0);
}

static int domain(void) {
  if (!is_again) textdomain("state");
  return is_again == (strcmp(textdomain(NULL), "messages") == 0);
}

static int log_mask(void) {
  if (!is_again) setlogmask(LOG_MASK(LOG_ERR));
  return is_again == (setlogmask(0) != LOG_MASK(LOG_ERR));
}

static int list_of_shells(void) {
  static char first[64];
  const char* shell = getusershell();
  if (!is_again) snprintf(first, sizeof first, "%s", shell == NULL ? "" : shell), shell = first;
  return strcmp(shell == NULL ? "" : shell, first) == 0;
}

static int static_result(void) {
  static const struct passwd* result;
  if (!is_again) {
    FILE* file = fopen("/etc/passwd", "r");
    must_be(file != NULL && (result = fgetpwent(file)) != NULL, "fgetpwent");
    fclose(file);
  }
  return is_again == (result->pw_name == NULL);
}

static int named_object(void) {
  static int semaphores;
  if (!is_again) {
    semaphores = semget(IPC_PRIVATE, 1, 0600);
    return semctl(semaphores, 0, SETVAL, 3) == 0;
  }
  const int value = semctl(semaphores, 0, GETVAL);
  return semctl(semaphores, 0, IPC_RMID) == 0 && value == 3;
}

static const struct kept unnoticed[] = {
    {"SYS_mmap", raw_memory},
    {"pthread_mutex_lock", locked_mutex},
    {"getpid", process_number},
    {"setpriority", priority},
    {"setrlimit", limits},
    {"setpgid", process_group},
    {"prctl", timer_slack},
    {"madvise", advice},
    {"pthread_setname_np", thread_name},
    {"textdomain", domain},
    {"setlogmask", log_mask},
    {"getusershell", list_of_shells},
    {"fgetpwent", static_result},
    {"semget", named_object},
};

enum { unnoticed_count = sizeof unnoticed / sizeof *unnoticed };

enum { kept_count = sizeof kept / sizeof *kept, refused_count = sizeof refused / sizeof *refused };

static void save(int expected, const char* what) {
  if (sorrel_checkpoint() == expected) return;
  fprintf(stderr, "%s: the call does not return %d\n", what, expected);
  MPI_Abort(MPI_COMM_WORLD, 2);
}

/// In the ranks that have the cases.
static void try_kept(const struct kept* cases, int count, int has_cases) {
  for (int i = 0; i < count && has_cases; ++i)
    must_be(cases[i].is_right(), cases[i].name);
  const int outcome = sorrel_checkpoint();
  is_again = 1;
  for (int i = 0; i < count && has_cases && outcome == 1; ++i)
    printf("%s: %s\n", cases[i].name, cases[i].is_right() ? "right" : "WRONG");
  must_be(outcome >= 0, "saved");
}

/// From the last rank, so that the line is about the rank whose turn it is.
static void try_refused(int rank) {
  for (int turn = refused_count - 1; turn >= 0; --turn) {
    const struct refused* one = &refused[turn];
    if (rank == turn) one->enter();
    MPI_Bcast(&is_impossible, 1, MPI_INT, turn, MPI_COMM_WORLD);
    if (!is_impossible) {
      save(-1, one->name);
      if (rank == turn && one->leave != NULL) one->leave();
    } else if (rank == turn) {
      printf("impossible here: %s\n", one->name);
    }
    is_impossible = 0;
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void try_ended(void) {
  for (int i = 0; i < refused_count; ++i) {
    if (refused[i].leave == NULL) continue;
    refused[i].enter();
    refused[i].leave();
    save(0, refused[i].name);
  }
}

int main(int argc, char** argv) {
  int rank = 0;
  int size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  folder = argc > 2 ? argv[2] : "";
  const char* what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "kept") == 0) try_kept(kept, kept_count, 1);
  if (strcmp(what, "unnoticed") == 0) try_kept(unnoticed, unnoticed_count, rank == 0);
  if (strcmp(what, "refused") == 0) must_be(size == refused_count, "ranks"), try_refused(rank);
  if (strcmp(what, "ended") == 0) try_ended();
  if (strcmp(what, "list") == 0 && rank == 0) {
    for (int i = 0; i < kept_count; ++i)
      printf("kept %s\n", kept[i].name);
    for (int i = 0; i < refused_count; ++i)
      printf("refused %s\n", refused[i].name);
    for (int i = 0; i < unnoticed_count; ++i)
      printf("unnoticed %s\n", unnoticed[i].name);
  }
  MPI_Finalize();
  return 0;
}
