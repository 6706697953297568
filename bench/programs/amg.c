/* 1-D Laplace of 4000 unknowns, CG with BoomerAMG (hypre) */
#include <HYPRE.h>
#include <HYPRE_krylov.h>
#include <HYPRE_parcsr_ls.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  HYPRE_Init();
  int me, np;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &np);
  HYPRE_Int N = 4000, lo = (long)N * me / np, hi = (long)N * (me + 1) / np - 1, it;
  double s = 0, t, r;
  HYPRE_IJMatrix A;
  HYPRE_IJVector b, x;
  HYPRE_ParCSRMatrix pa;
  HYPRE_ParVector pb, px;
  HYPRE_Solver cg, amg;
  HYPRE_IJMatrixCreate(MPI_COMM_WORLD, lo, hi, lo, hi, &A);
  HYPRE_IJMatrixSetObjectType(A, HYPRE_PARCSR);
  HYPRE_IJMatrixInitialize(A);
  HYPRE_IJVectorCreate(MPI_COMM_WORLD, lo, hi, &b);
  HYPRE_IJVectorSetObjectType(b, HYPRE_PARCSR);
  HYPRE_IJVectorInitialize(b);
  HYPRE_IJVectorCreate(MPI_COMM_WORLD, lo, hi, &x);
  HYPRE_IJVectorSetObjectType(x, HYPRE_PARCSR);
  HYPRE_IJVectorInitialize(x);
  for (HYPRE_Int i = lo; i <= hi; i++) {
    HYPRE_Int c[3], n = 0;
    double v[3], one = 1, zero = 0;
    if (i) c[n] = i - 1, v[n++] = -1;
    c[n] = i, v[n++] = 2.001;
    if (i < N - 1) c[n] = i + 1, v[n++] = -1;
    HYPRE_IJMatrixSetValues(A, 1, &n, &i, c, v);
    HYPRE_IJVectorSetValues(b, 1, &i, &one);
    HYPRE_IJVectorSetValues(x, 1, &i, &zero);
  }
  HYPRE_IJMatrixAssemble(A);
  HYPRE_IJMatrixGetObject(A, (void**)&pa);
  HYPRE_IJVectorAssemble(b);
  HYPRE_IJVectorGetObject(b, (void**)&pb);
  HYPRE_IJVectorAssemble(x);
  HYPRE_IJVectorGetObject(x, (void**)&px);
  HYPRE_ParCSRPCGCreate(MPI_COMM_WORLD, &cg);
  HYPRE_PCGSetTol(cg, 1e-12);
  HYPRE_PCGSetMaxIter(cg, 200);
  HYPRE_BoomerAMGCreate(&amg);
  HYPRE_BoomerAMGSetTol(amg, 0);
  HYPRE_BoomerAMGSetMaxIter(amg, 1);
  HYPRE_BoomerAMGSetPrintLevel(amg, 0);
  HYPRE_PCGSetPrecond(cg, (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSolve,
                      (HYPRE_PtrToSolverFcn)HYPRE_BoomerAMGSetup, amg);
  HYPRE_ParCSRPCGSetup(cg, pa, pb, px);
  HYPRE_ParCSRPCGSolve(cg, pa, pb, px);
  HYPRE_PCGGetNumIterations(cg, &it);
  for (HYPRE_Int i = lo; i <= hi; i++)
    HYPRE_IJVectorGetValues(x, 1, &i, &r), s += r;
  MPI_Allreduce(&s, &t, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  if (!me) printf("sum %.6f converged %d\n", t, it < 200);
  HYPRE_ParCSRPCGDestroy(cg);
  HYPRE_BoomerAMGDestroy(amg);
  HYPRE_IJMatrixDestroy(A);
  HYPRE_IJVectorDestroy(b);
  HYPRE_IJVectorDestroy(x);
  HYPRE_Finalize();
  MPI_Finalize();
}
