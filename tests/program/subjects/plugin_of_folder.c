/* Built once for each folder, with and without data. */
int plugin_folder(void) {
  return FOLDER;
}

int plugin_count(void) {
#ifdef WITH_DATA
  static int count;
  return ++count;
#else
  return 1;
#endif
}
