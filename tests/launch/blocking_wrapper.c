// A wrapper that blocks all signals before it starts its program, as shells do for a moment:
// blocking_wrapper PROGRAM [WORDS...]. It starts the program when the file STDERR_FILE, the
// standard error of the job, has a line, or after half a minute. Then it waits for the program.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int has_line(const char* file) {
  struct stat status;
  return file != NULL && stat(file, &status) == 0 && status.st_size > 0;
}

int main(int argc, char** argv) {
  (void)argc;
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);
  puts("blocked");
  fflush(stdout);
  for (int i = 0; i < 300 && !has_line(getenv("STDERR_FILE")); ++i)
    usleep(100000);
  sigprocmask(SIG_SETMASK, &before, NULL);
  const pid_t child = fork();
  if (child == 0) {
    execv(argv[1], argv + 1);
    _exit(127);
  }
  int status = 1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
