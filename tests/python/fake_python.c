/* Stands for Python's library, or with INTERPRETER for an interpreter that contains it: writes its
 * arguments by write(), in parts of a line. */
#include <string.h>
#include <unistd.h>

__attribute__((visibility("default"))) const unsigned long Py_Version = FAKE_VERSION;

#ifdef WITHOUT_LOCK
/* Each build without a lock exports this. */
__attribute__((visibility("default"))) void _Py_DecRefShared(void* object) {
  (void)object;
}
#endif

static char calls = '0';

static void put(const char* text) {
  if (write(1, text, strlen(text)) < 0) _exit(9);
}

__attribute__((visibility("default"))) int Py_BytesMain(int argc, char** argv) {
  char text[2] = {++calls, '\0'};
#ifdef INTERPRETER
  put("interpreter");
#else
#ifdef WITHOUT_LOCK
  put("lockless ");
#endif
  put("library");
#endif
  usleep(1000);
  put(" call ");
  put(text);
  for (int i = 0; i < argc; ++i) {
    put(" ");
    put(argv[i]);
  }
  put("\n");
  return 0;
}

#ifdef INTERPRETER
int main(int argc, char** argv) {
  return Py_BytesMain(argc, argv);
}
#endif
