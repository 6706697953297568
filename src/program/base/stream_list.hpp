//! StreamList - the C library's list of all open streams of stdio.
//!
//! A stream that lies in the memory of a rank goes with the rank from one process to another: it
//! leaves the list of one and enters that of the other. Relied on, of glibc: the list begins at
//! `_IO_list_all` and goes on by `_chain`; `_IO_link_in` and `_IO_un_link` change it, under its
//! lock, and keep the flag `linked` in the stream; a stream of a file has the functions
//! `_IO_file_jumps` behind its FILE. Where one of these is missing, can_change() is false.
#pragma once

#include <cstdio>

namespace sorrel::program {

class StreamList {
 public:
  [[nodiscard]] static bool can_change();

  /// Calls visit(FILE&) for each stream, while no other thread changes the list.
  template <class Visit>
  static void for_each(Visit&& visit) {
    const Lock lock;
    for (FILE* stream = first(); stream != nullptr; stream = stream->_chain)
      visit(*stream);
  }

  /// The variable in which the list begins; null: there is none.
  [[nodiscard]] static const void* head();

  // Where can_change().
  /// The stream is as it was in the list of another process.
  static void add(FILE& stream);
  static void remove(FILE& stream);

  /// Whether it reads or writes bytes of a descriptor in the usual way: all of it is the FILE, its
  /// buffers, and the descriptor.
  [[nodiscard]] static bool is_plain(const FILE& stream);

 private:
  class Lock {
   public:
    Lock();
    ~Lock();
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;
  };

  [[nodiscard]] static FILE* first();
};

}  // namespace sorrel::program
