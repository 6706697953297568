#include "mpi/base/error_codes.hpp"

#include <cstring>

#include "mpi/base/error_string.hpp"

namespace sorrel::mpi {

namespace {

int fail_text(ErrorDetail& detail, const char* argument, int code) {
  return detail.fail(MPI_ERR_ARG, "%s is %d; its text must be removed first", argument, code);
}

/// Frees the last numbers, if they are removed ones.
template <class List>
void drop_removed_tail(List& added) {
  while (!added.empty() && added.back().is_removed)
    added.pop_back();
}

}  // namespace

const ErrorCodes::Added* ErrorCodes::find(int code) const {
  if (code <= MPI_ERR_LASTCODE || code > last_used()) return nullptr;
  const Added& added = added_[static_cast<std::size_t>(code - MPI_ERR_LASTCODE - 1)];
  return added.is_removed ? nullptr : &added;
}

int ErrorCodes::add_class() {
  const int error_class = last_used() + 1;
  added_.push_back({.error_class = error_class, .text = {}, .is_removed = false});
  return error_class;
}

int ErrorCodes::add_code(int error_class, int* code, ErrorDetail& detail) {
  const Added* added = find(error_class);
  const bool is_class = added == nullptr ? is_error_class(error_class) && error_class != MPI_SUCCESS
                                         : added->error_class == error_class;
  if (!is_class)
    return detail.fail(
        MPI_ERR_ARG, "errorclass is %d; it must be an error class of the standard or an added one",
        error_class);
  added_.push_back({.error_class = error_class, .text = {}, .is_removed = false});
  *code = last_used();
  return MPI_SUCCESS;
}

int ErrorCodes::set_text(int code, const char* text, ErrorDetail& detail) {
  if (find(code) == nullptr)
    return detail.fail(MPI_ERR_ARG,
                       "errorcode is %d; it must be an error class or code that this rank added",
                       code);
  if (text == nullptr) text = "";
  if (::strnlen(text, MPI_MAX_ERROR_STRING) >= MPI_MAX_ERROR_STRING)
    return detail.fail(MPI_ERR_ARG, "string is too long; at most %d bytes are allowed",
                       MPI_MAX_ERROR_STRING - 1);
  added_[static_cast<std::size_t>(code - MPI_ERR_LASTCODE - 1)].text = text;
  return MPI_SUCCESS;
}

int ErrorCodes::remove_class(int error_class, ErrorDetail& detail) {
  const Added* added = find(error_class);
  if (added == nullptr || added->error_class != error_class)
    return detail.fail(MPI_ERR_ARG,
                       "errorclass is %d; it must be an error class that this rank added",
                       error_class);
  for (const Added& other : added_) {
    if (&other != added && !other.is_removed && other.error_class == error_class)
      return detail.fail(MPI_ERR_ARG, "errorclass is %d; it still has error codes", error_class);
  }
  if (!added->text.empty()) return fail_text(detail, "errorclass", error_class);
  added_[static_cast<std::size_t>(error_class - MPI_ERR_LASTCODE - 1)].is_removed = true;
  drop_removed_tail(added_);
  return MPI_SUCCESS;
}

int ErrorCodes::remove_code(int code, ErrorDetail& detail) {
  const Added* added = find(code);
  if (added == nullptr || added->error_class == code)
    return detail.fail(MPI_ERR_ARG,
                       "errorcode is %d; it must be an error code that this rank added", code);
  if (!added->text.empty()) return fail_text(detail, "errorcode", code);
  added_[static_cast<std::size_t>(code - MPI_ERR_LASTCODE - 1)].is_removed = true;
  drop_removed_tail(added_);
  return MPI_SUCCESS;
}

int ErrorCodes::remove_text(int code, ErrorDetail& detail) {
  const Added* added = find(code);
  if (added == nullptr || added->text.empty())
    return detail.fail(MPI_ERR_ARG, "errorcode is %d; it must have a text that this rank added",
                       code);
  added_[static_cast<std::size_t>(code - MPI_ERR_LASTCODE - 1)].text.clear();
  return MPI_SUCCESS;
}

int ErrorCodes::class_of(int code, int* error_class, ErrorDetail& detail) const {
  if (const Added* added = find(code)) {
    *error_class = added->error_class;
  } else if (is_error_class(code)) {
    *error_class = code;
  } else {
    return detail.fail(MPI_ERR_ARG,
                       "errorcode is %d; it must be an error code of the standard or an added one",
                       code);
  }
  return MPI_SUCCESS;
}

const char* ErrorCodes::text_of(int code) const {
  if (const Added* added = find(code)) return added->text.c_str();
  return is_error_class(code) ? error_string(code) : nullptr;
}

}  // namespace sorrel::mpi
