/* Opened with RTLD_GLOBAL: later plug-ins use it without naming it. */
int provided_count = 1;
_Thread_local int provided_of_thread = 2;

int provided(void) {
  return provided_count++;
}

int* provided_address(void) {
  return &provided_count;
}
