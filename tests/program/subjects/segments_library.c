/* A table of 480 KiB in .data, which split_segment.py lays out in several segments. */
enum { count = 480 << 8 };

static int table[count] __attribute__((aligned(4096))) = {[0 ... count - 1] = 7};

int* middle_of_table(void) {
  return table + count / 2;
}
