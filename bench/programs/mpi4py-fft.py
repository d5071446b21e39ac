import time
import numpy as np
from mpi4py import MPI
from mpi4py_fft import PFFT, newDistArray
comm = MPI.COMM_WORLD
fft = PFFT(comm, (64, 64, 64), axes=(0, 1, 2), dtype=float)
u = newDistArray(fft, False)
u[:] = np.random.default_rng(comm.rank).random(u.shape)
comm.Barrier()
start = time.perf_counter()
for _ in range(12):
    h = fft.forward(u)
    u = fft.backward(h)
total = comm.allreduce(float((u ** 2).sum()))
if comm.rank == 0:
    print('seconds', time.perf_counter() - start)
    print('sum %.10e' % total)
