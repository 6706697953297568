// A wrapper that blocks all signals for a second before it starts its program, as shells do for a
// moment: blocking_wrapper PROGRAM [WORDS...]. Then it waits for the program.
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  (void)argc;
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, &before);
  puts("blocked");
  fflush(stdout);
  sleep(1);
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
