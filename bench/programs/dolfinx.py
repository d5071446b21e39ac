import time
import numpy as np
import ufl
from dolfinx import fem, mesh
from dolfinx.fem.petsc import LinearProblem
from mpi4py import MPI
from petsc4py.PETSc import ScalarType
comm = MPI.COMM_WORLD
comm.Barrier()
start = time.perf_counter()
m = mesh.create_unit_cube(comm, 24, 24, 24)
V = fem.FunctionSpace(m, ('Lagrange', 2))
facets = mesh.locate_entities_boundary(m, 2, lambda x: np.isclose(x[0], 0) | np.isclose(x[0], 1))
bc = fem.dirichletbc(ScalarType(0), fem.locate_dofs_topological(V, 2, facets), V)
u, v, x = ufl.TrialFunction(V), ufl.TestFunction(V), ufl.SpatialCoordinate(m)
f = 10 * ufl.exp(-((x[0] - 0.5) ** 2 + (x[1] - 0.5) ** 2) / 0.02)
problem = LinearProblem(ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx, f * v * ufl.dx, bcs=[bc],
                        petsc_options={'ksp_type': 'cg', 'pc_type': 'jacobi', 'ksp_rtol': 1e-8})
uh = problem.solve()
norm = comm.allreduce(fem.assemble_scalar(fem.form(uh ** 2 * ufl.dx)))
if comm.rank == 0:
    print('seconds', time.perf_counter() - start)
    print('norm %.8e iterations %d' % (norm, problem.solver.getIterationNumber()))
