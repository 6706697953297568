/* A library that keeps nothing and reads a variable of the program. */
extern int of_program;

int library_read(void) {
  return of_program;
}
