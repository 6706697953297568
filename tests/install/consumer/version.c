// The interface beside MPI is found, and it belongs to the installed library.
#include <string.h>

#include <sorrel.h>

int main(void) {
  sorrel_yield();
  return strlen(sorrel_version()) == 0;
}
