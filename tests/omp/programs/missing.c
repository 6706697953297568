// Calls a function of OpenACC, which this OpenMP library does not support.
void GOACC_wait(int async, int count, ...);

int main(int count, char** arguments) {
  (void)arguments;
  if (count > 100) GOACC_wait(0, 0);
  return 0;
}
