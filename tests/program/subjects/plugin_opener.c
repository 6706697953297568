/* A plug-in that opens another one beside it, by its own search path. */
#include <dlfcn.h>

static void* opened;

int opener_value(void) {
  if (!opened) opened = dlopen("libsubject_plugin_provider.so", RTLD_NOW);
  int (*found)(void) = opened ? (int (*)(void))dlsym(opened, "provided") : 0;
  return found ? found() : -1;
}
