/* refine, balance and partition a quadtree; global counts are the same for any number of ranks
 * (p4est) */
#include <p4est_bits.h>
#include <p4est_extended.h>
#include <p4est_ghost.h>

static int ref(p4est_t* p, p4est_topidx_t t, p4est_quadrant_t* q) {
  return q->level < 7 && p4est_quadrant_child_id(q) % 3 == 0;
}

int main(int argc, char** argv) {
  sc_MPI_Init(&argc, &argv);
  sc_init(sc_MPI_COMM_WORLD, 1, 1, NULL, SC_LP_ERROR);
  p4est_init(NULL, SC_LP_ERROR);
  p4est_connectivity_t* c = p4est_connectivity_new_moebius();
  p4est_t* p = p4est_new_ext(sc_MPI_COMM_WORLD, c, 0, 2, 1, 0, NULL, NULL);
  p4est_refine(p, 1, ref, NULL);
  long long a = p->global_num_quadrants;
  p4est_partition(p, 0, NULL);
  p4est_balance(p, P4EST_CONNECT_FULL, NULL);
  p4est_partition(p, 0, NULL);
  p4est_ghost_t* g = p4est_ghost_new(p, P4EST_CONNECT_FULL);
  p4est_ghost_destroy(g);
  unsigned k = p4est_checksum(p);
  if (p->mpirank == 0)
    printf("refined %lld balanced %lld checksum %08x\n", a, (long long)p->global_num_quadrants, k);
  p4est_destroy(p);
  p4est_connectivity_destroy(c);
  sc_finalize();
  sc_MPI_Finalize();
}
