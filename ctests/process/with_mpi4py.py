"""mpi4py, whose wheel loads the MPI library by dlopen and calls the large-count functions where there are any:
collectives of buffers and of pickled objects, on the world and on halves of it, and who carried them out; nonblocking
and persistent ones, which the MPI library carries out. As rondo_test.h has it: EXPECT_RONDO names an algorithm, or is
not there in a bare run, and the last line is "PASS with_mpi4py"."""

import array
import ctypes
import os
import sys

from mpi4py import MPI

world = MPI.COMM_WORLD
vendor, version = MPI.get_vendor()
failures = []
process = ctypes.CDLL(None)
expect = os.environ.get("EXPECT_RONDO")
if expect is None:
    assert not hasattr(process, "rondo_calls"), "Rondo is loaded in a bare run"
else:
    process.rondo_calls.restype = ctypes.c_ulonglong


def check(holds, what):
    if not holds:
        failures.append(what)
        print(f"rank {world.rank}: failed: {what}", file=sys.stderr, flush=True)


def calls(collective):
    expected = os.environ.get("EXPECT_RONDO_" + collective.upper(), expect)
    name = None if expected == "any" else expected.encode()
    return process.rondo_calls(collective.encode(), name)


def counted(collective, comm, call):
    """Makes a call and checks that Rondo carried it out, if there are ranks enough."""
    before = calls(collective) if expect else 0
    result = call()
    if expect not in (None, "any") and comm.size >= 3:
        moved = calls(collective) - before
        check(moved >= 1, f"{collective} on {comm.size} ranks moved Rondo's counter by {moved}")
    return result


def blocks(comm, scale):
    counts = [(7 * rank + 3) % 11 * scale for rank in range(comm.size)]
    displs = [sum(counts[:rank]) for rank in range(comm.size)]
    return counts, displs


def data(rank, count):
    return array.array("i", ((31 * rank + i) % 1009 for i in range(count)))


def all_blocks(blocks):
    """One behind the other, each of so many elements from a rank to another."""
    return sum((data(31 * source + target, count) for source, target, count in blocks), array.array("i"))


def exchange(comm, scale):
    """Blocks of one size, of any sizes, and subarrays: columns of a matrix become rows, as in a parallel FFT."""
    me, ranks = comm.rank, comm.size
    sent = all_blocks((me, rank, scale) for rank in range(ranks))
    want = all_blocks((rank, me, scale) for rank in range(ranks))
    got = array.array("i", bytes(4 * scale * ranks))
    counted("alltoall", comm, lambda: comm.Alltoall([sent, MPI.INT], [got, MPI.INT]))
    check(got == want, "Alltoall")

    # Every third block is empty.
    counts = [(me + rank) % 3 * scale for rank in range(ranks)]
    displs = [sum(counts[:rank]) for rank in range(ranks)]
    sent = all_blocks((me, rank, counts[rank]) for rank in range(ranks))
    want = all_blocks((rank, me, counts[rank]) for rank in range(ranks))
    got = array.array("i", bytes(4 * len(want)))
    spec = [counts, displs, MPI.INT]
    counted("alltoallv", comm, lambda: comm.Alltoallv([sent, *spec], [got, *spec]))
    check(got == want, "Alltoallv")

    def parts(total):
        sizes = [total // ranks + (rank < total % ranks) for rank in range(ranks)]
        return [(sum(sizes[:rank]), size) for rank, size in enumerate(sizes)]

    rows, columns = parts(2 * ranks * scale + 1), parts(3 * ranks + 2)
    height, width = sum(size for _, size in rows), sum(size for _, size in columns)
    (top, own_rows), (left, own_columns) = rows[me], columns[me]
    sent = array.array("i", (1000 * i + left + j for i in range(height) for j in range(own_columns)))
    got = array.array("i", bytes(4 * own_rows * width))
    out = [MPI.INT.Create_subarray([height, own_columns], [size, own_columns], [at, 0]).Commit() for at, size in rows]
    into = [MPI.INT.Create_subarray([own_rows, width], [own_rows, size], [0, at]).Commit() for at, size in columns]
    ones = ([1] * ranks, [0] * ranks)
    counted("alltoallw", comm, lambda: comm.Alltoallw([sent, ones, out], [got, ones, into]))
    check(got == array.array("i", (1000 * (top + i) + j for i in range(own_rows) for j in range(width))), "Alltoallw")
    for datatype in out + into:
        datatype.Free()


def started(collective, call):
    """Starts a nonblocking call and waits for it. Open MPI 4 and 5 have no names with large counts. So mpi4py calls the
    functions with int there, which Rondo counts. It would not if the library for every MPI had some of those names."""
    before = hosts(collective)
    call().Wait()
    moved = hosts(collective) - before
    check(moved <= 1, f"nonblocking {collective} moved the MPI library's counter by {moved}")
    if expect and vendor == "Open MPI":
        check(moved == 1, f"nonblocking {collective} did not come to Rondo")


def hosts(collective):
    return process.rondo_calls(collective.encode(), b"host") if expect else 0


def repeated(call, each):
    """Makes a persistent call and has it carried out three times, each of which is to pass a check. Open MPI 4 has none
    by the names of the standard: then mpi4py says so."""
    try:
        request = call()
    except NotImplementedError:
        check(vendor == "Open MPI" and version < (5,), "a persistent call is not there")
        return
    for _ in range(3):
        each(lambda: request.Start() or request.Wait())
    request.Free()


def later(comm, scale):
    """Collectives that are started, and waited for afterwards."""
    me, ranks = comm.rank, comm.size
    root = ranks - 1

    def zeros(like):
        return array.array("i", bytes(4 * len(like)))

    message = data(root, 10 * scale)
    buffer = message[:] if me == root else zeros(message)
    counts, displs = blocks(comm, scale)
    own = data(me, counts[me])
    whole = sum((data(rank, counts[rank]) for rank in range(ranks)), array.array("i"))
    everywhere = zeros(whole)
    # A type for each rank, by which there is one element.
    sizes = [1 + (me + rank) % 3 * scale for rank in range(ranks)]
    types = [MPI.INT.Create_contiguous(size).Commit() for size in sizes]
    spec = [([1] * ranks, [4 * sum(sizes[:rank]) for rank in range(ranks)]), types]
    sent = all_blocks((me, rank, sizes[rank]) for rank in range(ranks))
    mine = all_blocks((rank, me, sizes[rank]) for rank in range(ranks))
    got = zeros(mine)
    for name, into, want, arguments in (
        ("Bcast", buffer, message, ([buffer, MPI.INT], root)),
        ("Allgatherv", everywhere, whole, ([own, MPI.INT], [everywhere, counts, displs, MPI.INT])),
        ("Alltoallw", got, mine, ([sent, *spec], [got, *spec])),
    ):
        before = into[:]

        def each(carry_out):
            into[:] = before
            carry_out()
            check(into == want, f"{name}, nonblocking or persistent")

        each(lambda: started(name.lower(), lambda: getattr(comm, "I" + name.lower())(*arguments)))
        repeated(lambda: getattr(comm, name + "_init")(*arguments), each)
    for datatype in types:
        datatype.Free()


def exercise(comm, scale):
    counts, displs = blocks(comm, scale)
    whole = array.array("i")
    for rank in range(comm.size):
        whole += data(rank, counts[rank])
    total = len(whole)
    own = data(comm.rank, counts[comm.rank])
    empty = array.array("i", bytes(4 * total))
    for root in (0, comm.size - 1):
        at_root = comm.rank == root
        buffer = data(root, total) if at_root else empty[:]
        counted("bcast", comm, lambda: comm.Bcast([buffer, MPI.INT], root))
        check(buffer == data(root, total), f"Bcast from {root}")
        gathered = empty[:] if at_root else None
        into = [gathered, counts, displs, MPI.INT] if at_root else None
        counted("gatherv", comm, lambda: comm.Gatherv([own, MPI.INT], into, root))
        check(not at_root or gathered == whole, f"Gatherv to {root}")
        part = array.array("i", bytes(4 * len(own)))
        outof = [whole, counts, displs, MPI.INT] if at_root else None
        counted("scatterv", comm, lambda: comm.Scatterv(outof, [part, MPI.INT], root))
        check(part == own, f"Scatterv from {root}")
        value = {"root": root, "list": list(range(scale))}
        got = counted("bcast", comm, lambda: comm.bcast(value if at_root else None, root))
        check(got == value, f"bcast of an object from {root}")
    everywhere = empty[:]
    counted("allgatherv", comm, lambda: comm.Allgatherv([own, MPI.INT], [everywhere, counts, displs, MPI.INT]))
    check(everywhere == whole, "Allgatherv")
    got = counted("allgather", comm, lambda: comm.allgather(comm.rank * scale))
    check(got == [rank * scale for rank in range(comm.size)], "allgather of objects")
    exchange(comm, scale)
    later(comm, scale)


for scale in (1, 50, 3000):
    exercise(world, scale)
halves = world.Split(world.rank % 2, world.rank)
exercise(halves, 20)
halves.Free()

failed = world.allreduce(len(failures))
if world.rank == 0 and not failed:
    print("PASS with_mpi4py")
sys.exit(failed != 0)
