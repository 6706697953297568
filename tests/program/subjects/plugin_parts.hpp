// One variable for a process, in whichever file it is defined first.
#pragma once

inline int& shared_by_plugins() {
  static int value = 0;
  return value;
}
