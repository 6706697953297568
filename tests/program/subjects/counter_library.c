/* A library with a variable that programs name. */
int counter = 0;

void library_add(int value) {
  counter += value;
}

int library_get(void) {
  return counter;
}
