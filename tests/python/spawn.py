"""Work for ranks that are spawned, by mpi4py's executor."""

from mpi4py.futures import MPIPoolExecutor


def square(value):
    return value * value


if __name__ == "__main__":
    with MPIPoolExecutor(max_workers=3) as executor:
        print(sum(executor.map(square, range(4))), "by", executor.num_workers)
