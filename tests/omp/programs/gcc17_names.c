// The functions of libgomp 17 that gcc17.c calls, without code: programs are linked with this
// library, and run with another one.
#define NAME(name) \
  void name(void); \
  __attribute__((visibility("default"))) void name(void) {}

NAME(GOMP_barrier_cancel_ext)
NAME(GOMP_barrier_ext)
NAME(GOMP_distribute_static_worksharing)
NAME(GOMP_distribute_static_worksharing_dispatch)
NAME(GOMP_distribute_static_worksharing_end)
NAME(GOMP_distribute_static_worksharing_start)
NAME(GOMP_has_masked_thread_num)
NAME(GOMP_has_masked_thread_num_with_end)
NAME(GOMP_loop_static_worksharing)
NAME(GOMP_loop_static_worksharing_dispatch)
NAME(GOMP_loop_static_worksharing_end)
NAME(GOMP_loop_static_worksharing_start)
NAME(GOMP_masked_end)
NAME(GOMP_reduction_end)
NAME(GOMP_reduction_start)
NAME(GOMP_scope_end)
NAME(GOMP_scope_start_with_end)
NAME(GOMP_single_end)
NAME(GOMP_single_start_with_end)
// Older ones, which the compiler calls.
NAME(GOMP_cancel)
NAME(GOMP_parallel)
NAME(GOMP_teams_reg)
NAME(omp_get_num_teams)
NAME(omp_get_num_threads)
NAME(omp_get_team_num)
NAME(omp_get_thread_num)
