"""Work for ranks that are spawned, by mpi4py's executor."""

import sys

from mpi4py.futures import MPIPoolExecutor


def square(value):
    return value * value


if __name__ == "__main__":
    workers = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    with MPIPoolExecutor(max_workers=workers) as executor:
        print(sum(executor.map(square, range(workers + 1))), "by", executor.num_workers)
