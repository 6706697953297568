/* A plug-in that keeps nothing and uses what its program exports. */
extern int exported_rank;
void exported_note(int value);

void library_add(int value) {
  exported_note(value);
}

int library_get(void) {
  return exported_rank;
}
