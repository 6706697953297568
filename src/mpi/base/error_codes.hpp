//! Error codes - the classes, codes and texts that a program adds to the standard's.
//!
//! One object for each rank, accessed by its worker only: a rank sees only its own additions.
//! Classes and codes share one sequence of numbers that begins after MPI_ERR_LASTCODE.
#pragma once

#include <mpi.h>
#include <string>
#include <utility>
#include <vector>

#include "mpi/base/error_detail.hpp"

namespace sorrel::mpi {

class ErrorCodes {
 public:
  /// The value of MPI_LASTUSEDCODE.
  [[nodiscard]] int last_used() const { return MPI_ERR_LASTCODE + static_cast<int>(added_.size()); }

  /// A new class, which is also a code.
  int add_class();

  /// A new code of `error_class`, one of the standard's or an added one; else MPI_ERR_ARG.
  [[nodiscard]] int add_code(int error_class, int* code, ErrorDetail& detail);

  /// Gives an added class or code a text; MPI_ERR_ARG for the standard's. `text` may be null, and
  /// at most MPI_MAX_ERROR_STRING - 1 bytes.
  [[nodiscard]] int set_text(int code, const char* text, ErrorDetail& detail);

  /// Removes an added class that has no codes, or an added code; the last numbers are used again.
  /// MPI_ERR_ARG for others, and for those that have a text.
  [[nodiscard]] int remove_class(int error_class, ErrorDetail& detail);
  [[nodiscard]] int remove_code(int code, ErrorDetail& detail);

  /// Removes the text of an added class or code; MPI_ERR_ARG: it has none.
  [[nodiscard]] int remove_text(int code, ErrorDetail& detail);

  /// The class of a code; 0 (MPI_SUCCESS) only for MPI_SUCCESS. MPI_ERR_ARG: no such code.
  [[nodiscard]] int class_of(int code, int* error_class, ErrorDetail& detail) const;

  /// The text of a code; an added one without a text has an empty one. Null: no such code. Valid
  /// until the next change.
  [[nodiscard]] const char* text_of(int code) const;

  struct Added {
    int error_class;
    std::string text;
    bool is_removed = false;
  };

  /// By number, from MPI_ERR_LASTCODE + 1 on.
  [[nodiscard]] const std::vector<Added>& all() const { return added_; }

  void set_all(std::vector<Added> added) { added_ = std::move(added); }

 private:
  /// The added class or code, or null.
  [[nodiscard]] const Added* find(int code) const;

  /// Entry 0 has the number MPI_ERR_LASTCODE + 1.
  std::vector<Added> added_;
};

}  // namespace sorrel::mpi
