"""Stands for a program in Python whose modules use OpenMP: calls libgomp, by the name that they use."""
import ctypes

assert ctypes.CDLL("libgomp.so.1").omp_get_max_threads() > 0
