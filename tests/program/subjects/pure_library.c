/* A library without state: tables and pointers that only the loader writes. */
static int twice(int value) {
  return 2 * value;
}

static int thrice(int value) {
  return 3 * value;
}

static int (*const functions[])(int) = {twice, thrice};

int library_apply(int which, int value) {
  return functions[which](value);
}
