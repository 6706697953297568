// Attributes of windows and their keys. MPI 5.0, 7.7.3, 12.2.7.
#include "abi/attribute_calls.hpp"
#include "abi/body.hpp"

namespace sorrel::abi {
namespace {

using mpi::AttributeMap;
using mpi::AttributeOwner;
using mpi::Keyval;
using mpi::Win;

bool is_predefined(int number) {
  return number >= MPI_WIN_BASE && number <= MPI_WIN_MODEL;
}

// The keyval of a number that the program may change, or MPI_ERR_KEYVAL.
int find_win_keyval(RankState& self, int number, Keyval** keyval) {
  *keyval = self.services().keyvals.find(number, AttributeOwner::win);
  if (*keyval != nullptr) return MPI_SUCCESS;
  if (number == MPI_KEYVAL_INVALID)
    return self.fail(MPI_ERR_KEYVAL, "invalid keyval: MPI_KEYVAL_INVALID");
  if (is_predefined(number))
    return self.fail(MPI_ERR_KEYVAL, "keyval %d is predefined and cannot be changed", number);
  return self.fail(MPI_ERR_KEYVAL, "invalid keyval %d; it must be one for windows", number);
}

// The value of MPI_WIN_BASE and its like.
void* predefined_value(Win& win, int number) {
  switch (number) {
    case MPI_WIN_BASE:
      return win.base;
    case MPI_WIN_SIZE:
      return &win.attribute_size;
    case MPI_WIN_DISP_UNIT:
      return &win.attribute_displacement_unit;
    case MPI_WIN_CREATE_FLAVOR:
      return &win.attribute_flavor;
    default:
      return &win.attribute_model;
  }
}

// The callbacks take the handle by the type of communicators' handles.
MPI_Comm callback_handle(Win& win) {
  return reinterpret_cast<MPI_Comm>(handle_of(win));
}

}  // namespace

namespace body {

int Win_create_keyval(RankState& self,
                      MPI_Win_copy_attr_function* /*win_copy_attr_fn*/,
                      MPI_Win_delete_attr_function* win_delete_attr_fn,
                      int* win_keyval,
                      void* extra_state) {
  *win_keyval = self.services().keyvals.create_for_windows(win_delete_attr_fn, extra_state).number;
  return MPI_SUCCESS;
}

int Win_free_keyval(RankState& self, int* win_keyval) {
  return free_keyval(self, AttributeOwner::win, win_keyval);
}

int Win_set_attr(RankState& self, Win& win, int win_keyval, void* attribute_val) {
  Keyval* keyval = nullptr;
  if (const int error = find_win_keyval(self, win_keyval, &keyval); error != MPI_SUCCESS)
    return error;
  if (win.attributes == nullptr) win.attributes = std::make_unique<AttributeMap>();
  return set_attribute(self, *win.attributes, callback_handle(win), *keyval, attribute_val);
}

int Win_get_attr(RankState& self, Win& win, int win_keyval, void* attribute_val, int* flag) {
  auto* result = static_cast<void**>(attribute_val);
  if (is_predefined(win_keyval)) {
    *result = predefined_value(win, win_keyval);
    *flag = 1;
    return MPI_SUCCESS;
  }
  Keyval* keyval = nullptr;
  if (const int error = find_win_keyval(self, win_keyval, &keyval); error != MPI_SUCCESS)
    return error;
  *flag = win.attributes != nullptr && win.attributes->get(*keyval, result) ? 1 : 0;
  return MPI_SUCCESS;
}

int Win_delete_attr(RankState& self, Win& win, int win_keyval) {
  Keyval* keyval = nullptr;
  if (const int error = find_win_keyval(self, win_keyval, &keyval); error != MPI_SUCCESS)
    return error;
  return delete_attribute(self, win.attributes.get(), callback_handle(win), *keyval);
}

}  // namespace body

}  // namespace sorrel::abi
