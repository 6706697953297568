/* Uses what another plug-in provides, if there is one. Has no data of its own. */
extern int provided(void) __attribute__((weak));
extern int provided_count __attribute__((weak));

int user_value(void) {
  return provided != 0 ? provided() + 10 * provided_count : -5;
}
