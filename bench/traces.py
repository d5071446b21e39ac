#!/usr/bin/env python3
"""Reads what bench/trace.c has written, and says what collectives cost beyond waiting.

    bench/traces.py PREFIX...            by collective, ranks and bytes, for the traces PREFIX.RANK of each run
    bench/traces.py --total PREFIX...    the seconds of all of them

A call costs what passes between the entry of its last rank and the exit of its last rank. On full cores, the time of a
program says little about its collectives; this does."""

import collections
import glob
import sys


class Call:
    """A collective call: what its ranks say of it, in the order of the communicator."""

    def __init__(self, comm, members, lines):
        self.comm, self.members, self.name = comm, members, lines[0][0]
        if any(line[0] != self.name for line in lines):
            sys.exit("traces: ranks call " + ", ".join(sorted({line[0] for line in lines})) + " at the same time")
        self.root = int(lines[0][2])
        one = lines[self.root if self.name.startswith(("gather", "scatter")) else 0]
        self.operator, self.type, self.size = one[3], one[4], int(one[5])
        self.entered = [float(line[6]) for line in lines]
        self.left = [float(line[7]) for line in lines]
        self.computed = [float(line[8]) for line in lines]
        rows = lines if self.name in ("alltoallv", "alltoallw") else [one]
        self.bytes = [int(count) for row in rows for count in row[9:]]

    def cost(self):
        return max(0, max(self.left) - max(self.entered))

    def mean_bytes(self):
        return sum(self.bytes) / len(self.bytes) if self.bytes else 0


def merge(prefix):
    """The calls of all ranks in an order that is each rank's. ("comm", number, members) is before the first call on a
    communicator but MPI_COMM_WORLD, which has number 0, and ("free", number) where its last rank has freed it.

    A communicator is known by its members: of several with the same, all ranks use a first one first."""
    paths = glob.glob(glob.escape(prefix) + ".*")
    traces = {int(path.rpartition(".")[2]): open(path) for path in paths}
    if not traces:
        sys.exit(f"traces: there is no {prefix}.RANK")
    numbers, local, made = {}, {}, collections.Counter()
    members, begun, freed = {}, set(), collections.Counter()
    # The calls that ranks have come to, and how many of these wait for other ranks.
    calling = collections.defaultdict(lambda: collections.defaultdict(collections.deque))
    waiting = collections.Counter()
    ready, unread = list(traces), set(traces)
    while unread:
        # Threads of two ranks may have called in opposite orders: then both are read on.
        ready = ready or sorted(unread)
        rank = ready.pop()
        line = next(traces[rank], None)
        if line is None:
            unread.discard(rank)
            continue
        word = line.split()
        if word[0] in ("world", "comm"):
            ranks = tuple(map(int, word[2:]))
            key = "world" if word[0] == "world" else (ranks, made[rank, ranks])
            made[rank, ranks] += word[0] == "comm"
            number = local[rank, word[1]] = numbers.setdefault(key, 0 if key == "world" else len(numbers) + 1)
            members[number] = ranks
        elif word[0] == "free":
            number = local[rank, word[1]]
            freed[number] += 1
            if freed[number] == len(members[number]) and number in begun:
                yield "free", number
        else:
            number = local[rank, word[1]]
            calling[number][rank].append(word)
            waiting[rank] += 1
            if sum(map(bool, calling[number].values())) < len(members[number]):
                continue
            if number and number not in begun:
                begun.add(number)
                yield "comm", number, members[number]
            yield Call(number, members[number], [calling[number][member].popleft() for member in members[number]])
            for member in members[number]:
                waiting[member] -= 1
                if member != rank and not waiting[member]:
                    ready.append(member)
        if not waiting[rank]:
            ready.append(rank)
    left = sum(waiting.values())
    if left:
        print(f"traces: {prefix}: {left} calls of ranks have no counterpart", file=sys.stderr)


def bytes_class(count):
    """A bound of bytes: 0, 16, 256, 4096 and so on."""
    bound = 16 if count else 0
    while bound < count:
        bound *= 16
    return bound


def costs(calls):
    """(collective, ranks, class of bytes): calls, seconds."""
    table = collections.defaultdict(lambda: [0, 0.0])
    for call in calls:
        if isinstance(call, Call):
            row = table[call.name, len(call.members), bytes_class(call.mean_bytes())]
            row[0] += 1
            row[1] += call.cost()
    return table


def main():
    only_total = sys.argv[1:2] == ["--total"]
    prefixes = sys.argv[1 + only_total:]
    if not prefixes:
        sys.exit(__doc__)
    tables = [costs(merge(prefix)) for prefix in prefixes]
    totals = [f"{sum(seconds for _, seconds in table.values()):.3f}" for table in tables]
    if only_total:
        print(*totals, sep="\n")
        return
    print("| collective | ranks | up to bytes | " + "".join(f"calls | {prefix}, s |" for prefix in prefixes))
    print("|---|---:|---:|" + "---:|---:|" * len(tables))
    for key in sorted(set().union(*tables), key=lambda key: -max(table[key][1] for table in tables)):
        print("| {} | {} | {} |".format(*key) + "".join(" {} | {:.4f} |".format(*table[key]) for table in tables))
    print("| all | | |" + "".join(f" | {total} |" for total in totals))


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        pass
