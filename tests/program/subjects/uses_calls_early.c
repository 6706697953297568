// A program without MPI that needs the library calls_early.c.
int has_called_early(void);

int main(void) {
  return has_called_early() ? 0 : 1;
}
