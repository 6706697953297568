#!/usr/bin/env python3
"""check_recipe.py RECIPE

conda's recipe, read and rendered by rattler-build: an unknown field or a wrong value is an error. Exit status 77 without py-rattler-build of PyPI.
"""
import sys

try:
    import rattler_build
except ImportError as missing:
    print(f"{missing}: skipped")
    sys.exit(77)

variants = rattler_build.Stage0Recipe.from_file(sys.argv[1]).render()
if not variants:
    sys.exit("the recipe makes no package")
print(*variants, sep="\n")
