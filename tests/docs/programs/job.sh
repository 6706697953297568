#!/bin/sh
# A script that runs the MPI program.
exec ./heat
