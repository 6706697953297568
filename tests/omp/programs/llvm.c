// A program that clang -fopenmp compiles for LLVM's library; with LIBRARY, a substitute for that
// library.
void __kmpc_fork_call(void* location, int count, void* body, ...);

#ifdef LIBRARY
__attribute__((visibility("default"))) void __kmpc_fork_call(void* location,
                                                             int count,
                                                             void* body,
                                                             ...) {
  (void)location;
  (void)count;
  (void)body;
}
#else
int main(void) {
#ifndef WITHOUT_OPENMP
  __kmpc_fork_call(0, 0, 0);
#endif
  return 0;
}
#endif
