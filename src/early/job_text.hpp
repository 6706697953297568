//! JobText - fields of the text in which `sorrel run` passes a job on (launch/job_spec.hpp), read
//! without allocation and without functions of the C library: a sanitizer's stand in front of them,
//! and are not ready.
//!
//! A value begins behind the field's name and '=', and goes to the next ':' or the text's end. It
//! is a list a,b with all but harmless characters as %XX.
#pragma once

#include <cstddef>

namespace sorrel::early {

[[nodiscard]] bool begins_with(const char* text, const char* prefix);

/// The job's text in an environment, or null.
[[nodiscard]] const char* job_text(char** environment);

/// The value of the field `name` ("private="), or null. `text` may be null.
[[nodiscard]] const char* field_of(const char* text, const char* name);

/// Whether `name` is in the list.
[[nodiscard]] bool contains(const char* list, const char* name);

/// The decoded value, ended by a zero byte; false if it does not fit.
[[nodiscard]] bool decode(const char* value, char* text, std::size_t bytes);

}  // namespace sorrel::early
