/* Replaces libexec/sorrel/measure: fake_measure NAME PROCESSORS FILE copies the file that
 * MEASURED names to FILE, after MEASURE_SECONDS. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int MPI_Init(int* argc, char*** argv);
int MPI_Finalize(void);

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 4) return 2;
  const double seconds = atof(getenv("MEASURE_SECONDS"));
  const struct timespec pause = {(time_t)seconds,
                                 (long)(1e9 * (seconds - (double)(time_t)seconds))};
  nanosleep(&pause, NULL);
  FILE* from = fopen(getenv("MEASURED"), "r");
  FILE* to = fopen(argv[3], "w");
  if (from == NULL || to == NULL) return 3;
  for (int letter = fgetc(from); letter != EOF; letter = fgetc(from))
    fputc(letter, to);
  fclose(from);
  fclose(to);
  MPI_Finalize();
  return 0;
}
