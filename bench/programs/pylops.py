# Least-squares imaging: shots are spread over the ranks, and each has the whole image, as in the
# library's tutorials. CGLS sums the image over all ranks in every step.
import time
import numpy as np
import pylops
import pylops_mpi
from mpi4py import MPI

comm = MPI.COMM_WORLD
nz, nx, nr = 200, 250, 48
rng = np.random.default_rng(comm.rank)
image = np.zeros((nz, nx))
for z, v in ((40, 1.0), (90, -0.7), (150, 0.5)):
    image[z:z + 3] = v
model = pylops_mpi.DistributedArray(nz * nx, partition=pylops_mpi.Partition.BROADCAST)
model[:] = image.ravel()
comm.Barrier()
start = time.perf_counter()
# A shot sees the image blurred in its own way, at some of its points.
blur = pylops.signalprocessing.Convolve1D((nz, nx), h=np.exp(-np.linspace(-2, 2, 21 + 2 * (comm.rank % 3)) ** 2),
                                          axis=0, offset=10)
pick = pylops.Restriction((nz, nx), np.sort(rng.permutation(nx)[:nr]), axis=1)
op = pylops_mpi.MPIVStack([pick @ blur])
data = op @ model
first = pylops_mpi.DistributedArray(nz * nx, partition=pylops_mpi.Partition.BROADCAST)
first[:] = 0
found, _, iiter, r1, r2, cost = pylops_mpi.cgls(op, data, x0=first, niter=40, tol=0)
comm.Barrier()
if comm.rank == 0:
    print('seconds', time.perf_counter() - start)
    print('residual %.10e image %.10e' % (cost[-1], np.linalg.norm(found.local_array)))
