// A chain of libraries: the program uses the C++ library, which uses the C library.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif
extern int chain_exported;
extern int* const chain_table[2];
int chain_count(void);
int chain_resolved(void);
int chain_constructed(void);
int chain_hook(void);
int chain_calls_hook(void);
int* chain_thread_local(void);
int** chain_thread_local_pointer(void);
int chain_key_works(void);
int chain_started_thread_agrees(void);
int chain_runs_own_fork_handlers(void);
void chain_at_exit(void (*handler)(void));
#ifdef __cplusplus
}
#endif
