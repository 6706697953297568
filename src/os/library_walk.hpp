//! LibraryWalk - visits the libraries that a file needs, and in turn theirs, in the order in which
//! files name them, each once.
//!
//! Reads files only; loads nothing. What a walk seeks and reads is its subclass's choice.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "os/elf_file.hpp"
#include "os/library_search.hpp"

namespace sorrel::os {

class LibraryWalk {
 public:
  explicit LibraryWalk(LibrarySearch search) : search_(std::move(search)) {}

  virtual ~LibraryWalk() = default;
  LibraryWalk(const LibraryWalk&) = delete;
  LibraryWalk& operator=(const LibraryWalk&) = delete;

  /// Visits what `needer`, the file at `needer_path`, needs.
  void walk(const ElfFile& needer, const std::string& needer_path);
  /// Visits one library and what it needs.
  void walk_to(std::string_view soname, const ElfFile& needer, const std::string& needer_path);

  [[nodiscard]] const LibrarySearch& search() const { return search_; }

 protected:
  /// A library that a file needs.
  struct Need {
    const std::string& soname;
    const std::string& path;  ///< "" if the search found none
    const ElfFile& needer;
    const std::string& needer_path;
  };

  /// Whether a library of this name is visited; called at each mention of it.
  [[nodiscard]] virtual bool is_sought(std::string_view /*soname*/) { return true; }

  /// Whether to read it, if it has a file, and to walk on to what it needs.
  [[nodiscard]] virtual bool is_read(const Need& /*need*/) { return true; }

  virtual void read(const Need& need, const ElfFile& library) = 0;

  /// A library that is read, but whose file has this error.
  virtual void report(const Need& /*need*/, const ElfError& /*error*/) {}

  /// The file of a library; "" if there is none.
  [[nodiscard]] virtual std::string find(std::string_view soname,
                                         const ElfFile& needer,
                                         const std::string& needer_path);

 private:
  LibrarySearch search_;
  std::set<std::string, std::less<>> seen_;
};

}  // namespace sorrel::os
