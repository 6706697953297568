#include "program/base/stream_list.hpp"

#include "program/base/libc.hpp"

namespace sorrel::program {

namespace {

/// In FILE::_flags: the stream is in the list.
constexpr int linked = 0x0080;

struct Functions {
  void (*add)(FILE* stream);
  void (*remove)(FILE* stream);
  void (*lock)();
  void (*unlock)();
  FILE** head;
  const void* of_files;
};

template <class Function>
void find(const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(libc_function(name));
}

const Functions& functions() {
  static const Functions found = [] {
    Functions all{};
    find("_IO_link_in", all.add);
    find("_IO_un_link", all.remove);
    find("_IO_list_lock", all.lock);
    find("_IO_list_unlock", all.unlock);
    all.head = static_cast<FILE**>(libc_function("_IO_list_all"));
    all.of_files = libc_function("_IO_file_jumps");
    return all;
  }();
  return found;
}

/// A stream as the C library has it.
struct Stream {
  FILE file;
  const void* functions;
};

}  // namespace

bool StreamList::can_change() {
  const Functions& all = functions();
  return all.add != nullptr && all.remove != nullptr && all.lock != nullptr &&
         all.unlock != nullptr && all.head != nullptr && all.of_files != nullptr;
}

const void* StreamList::head() {
  return functions().head;
}

FILE* StreamList::first() {
  FILE* const* const head = functions().head;
  return head == nullptr ? nullptr : *head;
}

void StreamList::add(FILE& stream) {
  stream._flags &= ~linked;
  functions().add(&stream);
}

void StreamList::remove(FILE& stream) {
  functions().remove(&stream);
}

bool StreamList::is_plain(const FILE& stream) {
  // Wide characters are converted by tables in the C library's heap.
  return reinterpret_cast<const Stream*>(&stream)->functions == functions().of_files &&
         stream._mode <= 0;
}

StreamList::Lock::Lock() {
  if (functions().lock != nullptr) functions().lock();
}

StreamList::Lock::~Lock() {
  if (functions().unlock != nullptr) functions().unlock();
}

}  // namespace sorrel::program
