//! Handles - the opaque pointers of the C interface, and the check that they point to an object.
//!
//! The standard ABI fixes predefined handles as constants below 0x400; every other handle is a
//! pointer to an object that begins with an ObjectHeader. The header identifies a stale or foreign
//! pointer as long as it is readable.
#pragma once

#include <cstdint>

namespace sorrel::mpi {

enum class ObjectKind : std::uint32_t {
  freed = 0,
  comm = 0x636f6d6d,        // "comm"
  group = 0x67727570,       // "grup"
  request = 0x72657175,     // "requ"
  message = 0x6d657373,     // "mess"
  errhandler = 0x65727268,  // "errh"
  info = 0x696e666f,        // "info"
  session = 0x73657373,     // "sess"
  win = 0x77696e64,         // "wind"
  file = 0x66696c65,        // "file"
};

/// First member of every object that a handle points to.
struct ObjectHeader {
  ObjectKind kind;
};

/// One past the largest constant that the ABI reserves for predefined handles.
inline constexpr std::uintptr_t first_dynamic_handle = 0x1000;

/// The object behind a dynamic handle, or null if it is not of this kind. T has a static
/// `object_kind` and a `header`.
template <class T, class H>
T* object_of(H handle) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  if (value < first_dynamic_handle || value % alignof(void*) != 0) return nullptr;
  auto* object = reinterpret_cast<T*>(value);
  return object->header.kind == T::object_kind ? object : nullptr;
}

}  // namespace sorrel::mpi
