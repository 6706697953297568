"""Measures Sorrel and every other MPI of the machine: `sorrel bench`.

Standard library only, Python >= 3.11. Modules:

    experiments      the runs: probe, ranks, workers, arguments
    implementations  the MPIs: how to compile and start a program with each
    runner           builds the probes, runs the experiments in turn, keeps every sample
    bars             the promised values, compared with the samples
    report           tables, progress and the result file
    partition        cuts of grids, predicted and measured
    machine          properties of a machine that are needed to read a result
"""
