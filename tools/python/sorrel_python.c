/* sorrel-python: runs a shared library of Python as its interpreter does. `sorrel run` preloads the
 * library and sets argv[0] to the interpreter's path, by which Python finds its modules and its
 * virtual environment. It is position-independent, so each rank of a process has its own. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int (*run)(int, char**) = (int (*)(int, char**))dlsym(RTLD_DEFAULT, "Py_BytesMain");
  if (run != NULL) return run(argc, argv);
  fprintf(stderr, "sorrel: sorrel-python is for the use of `sorrel run python3`\n");
  return 127;
}
