/* A library without data that reads a variable of the program. */
extern int of_program;

int library_read(void) {
  return of_program;
}
