"""Measures Sorrel beside every other MPI of the machine: `sorrel bench`.

Standard library only, Python >= 3.11. What each module holds:

    experiments      what is run: probe, ranks, workers, arguments
    implementations  the MPIs: how to compile and start a program with each
    runner           builds the probes and runs the experiments in turn, keeps every sample
    bars             the promises, held against the samples
    report           tables, progress and the result file
    partition        cuts of grids, predicted and measured
    machine          what must be known about a machine to read a number
"""
