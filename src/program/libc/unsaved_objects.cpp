//! iconv_open, sem_open, catopen, timer_create, openlog, aio_read and similar functions: recorded
//! for the rank, in a job that may be saved. What they make refers to memory, threads or variables
//! of the C library, or to the system, which no checkpoint holds.

#include <aio.h>
#include <cstdarg>
#include <ctime>
#include <fcntl.h>
#include <fmtmsg.h>
#include <iconv.h>
#include <mqueue.h>
#include <netdb.h>
#include <nl_types.h>
#include <semaphore.h>
#include <syslog.h>

#include "program/base/libc.hpp"
#include "program/rank/rank_process.hpp"
#include "program/rank/starter_of_thread.hpp"

using namespace sorrel::program;

namespace {

constexpr const char* asynchronous = "it has started asynchronous operations (aio_read, ...)";

/// Stands for the log, of which a rank has one.
const char the_log = 0;

void note(const void* caller, const void* object, const char* reason) {
  if (RankProcess* process = saved_process_of_caller(caller); process != nullptr)
    process->unsaved().add(object, reason);
}

void note_end(const void* caller, const void* object) {
  if (RankProcess* process = saved_process_of_caller(caller); process != nullptr)
    process->unsaved().remove(object);
}

/// `result` of a call that returns to `caller`; what it has done stays, if it is 0.
int noted_for_good(const void* caller, int result, const char* reason) {
  if (result != 0) return result;
  if (RankProcess* process = saved_process_of_caller(caller); process != nullptr)
    process->unsaved().add_for_good(reason);
  return result;
}

}  // namespace

SORREL_INTERPOSED iconv_t iconv_open(const char* to, const char* from) {
  static auto* const real = next_definition<decltype(::iconv_open)>("iconv_open");
  const iconv_t made = real(to, from);
  if (made != reinterpret_cast<iconv_t>(-1))
    note(__builtin_return_address(0), made, "it converts character sets (iconv_open)");
  return made;
}

SORREL_INTERPOSED int iconv_close(iconv_t made) {
  static auto* const real = next_definition<decltype(::iconv_close)>("iconv_close");
  note_end(__builtin_return_address(0), made);
  return real(made);
}

SORREL_INTERPOSED sem_t* sem_open(const char* name, int flags, ...) noexcept {
  static auto* const real = next_definition<sem_t*(const char*, int, ...)>("sem_open");
  mode_t mode = 0;
  unsigned value = 0;
  if ((flags & O_CREAT) != 0) {
    va_list rest;
    va_start(rest, flags);
    mode = va_arg(rest, mode_t);
    value = va_arg(rest, unsigned);
    va_end(rest);
  }
  sem_t* made = real(name, flags, mode, value);
  if (made != SEM_FAILED)
    note(__builtin_return_address(0), made, "it has opened a semaphore (sem_open)");
  return made;
}

SORREL_INTERPOSED int sem_close(sem_t* made) noexcept {
  static auto* const real = next_definition<decltype(::sem_close)>("sem_close");
  const int result = real(made);
  if (result == 0) note_end(__builtin_return_address(0), made);
  return result;
}

SORREL_INTERPOSED nl_catd catopen(const char* name, int flags) {
  static auto* const real = next_definition<decltype(::catopen)>("catopen");
  const nl_catd made = real(name, flags);
  if (made != reinterpret_cast<nl_catd>(-1))
    note(__builtin_return_address(0), made, "it has opened a catalog of messages (catopen)");
  return made;
}

SORREL_INTERPOSED int catclose(nl_catd made) noexcept {
  static auto* const real = next_definition<decltype(::catclose)>("catclose");
  note_end(__builtin_return_address(0), made);
  return real(made);
}

SORREL_INTERPOSED int timer_create(clockid_t clock, sigevent* event, timer_t* made) noexcept {
  static auto* const real = next_definition<decltype(::timer_create)>("timer_create");
  const int result = real(clock, event, made);
  if (result == 0) note(__builtin_return_address(0), *made, "it has a timer (timer_create)");
  return result;
}

SORREL_INTERPOSED int timer_delete(timer_t made) noexcept {
  static auto* const real = next_definition<decltype(::timer_delete)>("timer_delete");
  const int result = real(made);
  if (result == 0) note_end(__builtin_return_address(0), made);
  return result;
}

SORREL_INTERPOSED void openlog(const char* name, int options, int facility) {
  static auto* const real = next_definition<decltype(::openlog)>("openlog");
  real(name, options, facility);
  note_end(__builtin_return_address(0), &the_log);
  note(__builtin_return_address(0), &the_log, "it has named itself for the log (openlog)");
}

SORREL_INTERPOSED void closelog() {
  static auto* const real = next_definition<decltype(::closelog)>("closelog");
  real();
  note_end(__builtin_return_address(0), &the_log);
}

#define SORREL_STARTED(name)                                                       \
  SORREL_INTERPOSED int name(struct aiocb* block) noexcept {                       \
    static auto* const real = next_definition<int(struct aiocb*)>(#name);          \
    return noted_for_good(__builtin_return_address(0), real(block), asynchronous); \
  }                                                                                \
  SORREL_INTERPOSED int name##64(struct aiocb64 * block) noexcept {                \
    static auto* const real = next_definition<int(struct aiocb64*)>(#name "64");   \
    return noted_for_good(__builtin_return_address(0), real(block), asynchronous); \
  }

SORREL_STARTED(aio_read)
SORREL_STARTED(aio_write)

SORREL_INTERPOSED int aio_fsync(int operation, struct aiocb* block) noexcept {
  static auto* const real = next_definition<decltype(::aio_fsync)>("aio_fsync");
  return noted_for_good(__builtin_return_address(0), real(operation, block), asynchronous);
}

SORREL_INTERPOSED int aio_fsync64(int operation, struct aiocb64* block) noexcept {
  static auto* const real = next_definition<decltype(::aio_fsync64)>("aio_fsync64");
  return noted_for_good(__builtin_return_address(0), real(operation, block), asynchronous);
}

SORREL_INTERPOSED int lio_listio(int mode,
                                 struct aiocb* const* blocks,
                                 int count,
                                 sigevent* event) noexcept {
  static auto* const real = next_definition<decltype(::lio_listio)>("lio_listio");
  return noted_for_good(__builtin_return_address(0), real(mode, blocks, count, event),
                        asynchronous);
}

SORREL_INTERPOSED int lio_listio64(int mode,
                                   struct aiocb64* const* blocks,
                                   int count,
                                   sigevent* event) noexcept {
  static auto* const real = next_definition<decltype(::lio_listio64)>("lio_listio64");
  return noted_for_good(__builtin_return_address(0), real(mode, blocks, count, event),
                        asynchronous);
}

SORREL_INTERPOSED int getaddrinfo_a(int mode, gaicb** requests, int count, sigevent* event) {
  static auto* const real = next_definition<decltype(::getaddrinfo_a)>("getaddrinfo_a");
  return noted_for_good(__builtin_return_address(0), real(mode, requests, count, event),
                        asynchronous);
}

SORREL_INTERPOSED int mq_notify(mqd_t queue, const sigevent* event) noexcept {
  static auto* const real = next_definition<decltype(::mq_notify)>("mq_notify");
  return noted_for_good(__builtin_return_address(0), real(queue, event), asynchronous);
}

SORREL_INTERPOSED int addseverity(int severity, const char* text) noexcept {
  static auto* const real = next_definition<decltype(::addseverity)>("addseverity");
  const int result = real(severity, text);
  if (result == MM_OK)
    noted_for_good(__builtin_return_address(0), 0, "it has a severity of its own (addseverity)");
  return result;
}
