#include "check/checked_call.hpp"

namespace sorrel::check {

int CheckedCall::index_of(std::string_view argument) const {
  for (int i = 0; i < argument_count(); ++i) {
    if (argument == call_.function->arguments[i].name) return i;
  }
  return -1;
}

}  // namespace sorrel::check
