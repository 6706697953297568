/* A plug-in without data that uses the exports of its program. */
extern int exported_rank;
void exported_note(int value);

void library_add(int value) {
  exported_note(value);
}

int library_get(void) {
  return exported_rank;
}
