"""A 2-D Laplace matrix of 40 x 40 cells: one solution by conjugate gradients, and the four largest eigenvalues (petsc4py, slepc4py)."""

import sys

import petsc4py

petsc4py.init(sys.argv)

from petsc4py import PETSc  # noqa: E402
from slepc4py import SLEPc  # noqa: E402

CELLS = 40


def laplace():
    matrix = PETSc.Mat().createAIJ([CELLS * CELLS, CELLS * CELLS], nnz=5)
    matrix.setUp()
    for row in range(*matrix.getOwnershipRange()):
        i, j = divmod(row, CELLS)
        matrix[row, row] = 4.0
        for k, m in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)):
            if 0 <= k < CELLS and 0 <= m < CELLS:
                matrix[row, k * CELLS + m] = -1.0
    matrix.assemble()
    return matrix


matrix = laplace()
x, b = matrix.createVecs()
b.set(1.0)
solver = PETSc.KSP().create()
solver.setOperators(matrix)
solver.setType("cg")
solver.setTolerances(rtol=1e-10)
solver.setFromOptions()
solver.solve(b, x)
PETSc.Sys.Print(f"norm {x.norm():.10g} largest {x.max()[1]:.7g}")

problem = SLEPc.EPS().create()
problem.setOperators(matrix)
problem.setProblemType(SLEPc.EPS.ProblemType.HEP)
problem.setDimensions(4)
problem.setWhichEigenpairs(SLEPc.EPS.Which.LARGEST_REAL)
problem.setTolerances(1e-9, 500)
problem.solve()
PETSc.Sys.Print("eigenvalues " + " ".join(f"{problem.getEigenvalue(i).real:.8f}" for i in range(4)))
