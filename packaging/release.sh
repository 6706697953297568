#!/usr/bin/env bash
# release.sh BUILD PYTHON FOLDER
#
# Packs the artefacts of a release from BUILD, a build of the preset `distribution`, and the commit that is checked out (./dev release does both):
#
#   sorrel-VERSION-linux-x86_64.tar.gz   an installation, to unpack anywhere
#   sorrel_mpi-VERSION-py3-none-TAG.whl  the same for pip; auditwheel finds the TAG, from what the files need
#   sorrel_VERSION_amd64.deb
#   sorrel-VERSION-1.x86_64.rpm          if rpmbuild is installed
#   sorrel-VERSION-source.tar.gz         the sources, with the recipes of conda and Spack and the container file
#   sorrel-VERSION.cdx.json              the parts, with versions and licenses
#   SHA256SUMS                           of all of these
#
# PYTHON has scikit-build-core, wheel and auditwheel.
set -euo pipefail
build=$1 python=$2 out=$3
version=$(sed -n 's/^project(Sorrel VERSION \([0-9.]*\) .*/\1/p' CMakeLists.txt)
machine=$(uname -m)
# The time of all files in the archives: the same commit gives the same bytes.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH LC_ALL=C

# quietly COMMAND...: shows its output if it fails
quietly() { "$@" >"$build/release.log" 2>&1 || { cat "$build/release.log" && echo "release: failed: $*" && exit 1; } >&2; }

# lay_out LIBDIR MPIDIR: where the installation has libraries and the names of other MPIs; one source is compiled again
lay_out() {
  quietly cmake "$build" -DCMAKE_INSTALL_LIBDIR="$1" -DSORREL_INSTALL_MPIDIR="$2"
  quietly cmake --build "$build"
}

mkdir -p "$out"
# Packages have the folders of their distributions.
lay_out "lib/$machine-linux-gnu" lib/sorrel/bin
quietly cpack -G DEB --config "$build/CPackConfig.cmake" -B "$build/packages"
mv "$build"/packages/*.deb "$out"
if command -v rpmbuild >/dev/null; then
  lay_out lib64 lib64/sorrel/bin
  quietly cpack -G RPM --config "$build/CPackConfig.cmake" -B "$build/packages"
  mv "$build"/packages/*.rpm "$out"
else
  echo "release: no rpmbuild (Debian: rpm): no RPM"
fi

lay_out lib bin/mpi
tree=$build/tree wheel=$build/wheel
rm -rf "$tree" "$wheel"
quietly cmake --install "$build" --strip --prefix "$tree"
tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --transform "s,^[.],sorrel-$version,S" -C "$tree" -c . |
  gzip -9n >"$out/sorrel-$version-linux-$machine.tar.gz"
cp "$tree/share/sorrel/sorrel.cdx.json" "$out/sorrel-$version.cdx.json"

# In a wheel, the tree has no symbolic links, and is in the place that pyproject.toml names.
mkdir "$wheel"
quietly "$python" -c 'import sys, scikit_build_core.build as build; build.prepare_metadata_for_build_wheel(sys.argv[1])' "$wheel"
data=$wheel/sorrel_mpi-$version.data
mkdir -p "$data/data/lib" "$data/scripts"
mv "$tree" "$data/data/lib/sorrel-mpi"
quietly cmake -D CMAKE_INSTALL_PREFIX="$(realpath "$data/data/lib/sorrel-mpi")" -P cmake/ReplaceLinks.cmake
cp packaging/wheel/sorrel "$data/scripts/"
quietly "$python" -m wheel pack --dest-dir "$build" "$wheel"
quietly "$python" -m auditwheel show "$build"/sorrel_mpi-*.whl
tag=$(grep -o "manylinux_[0-9_]*_$machine" "$build/release.log" | head -n 1) ||
  { cat "$build/release.log" && echo "release: auditwheel finds no tag for the wheel" && exit 1; } >&2
quietly "$python" -m wheel tags --remove --platform-tag "$tag" "$build"/sorrel_mpi-*.whl
mv "$build"/sorrel_mpi-*.whl "$out"

git archive --format=tar --prefix="sorrel-$version/" HEAD | gzip -9n >"$out/sorrel-$version-source.tar.gz"
(cd "$out" && sha256sum -- * >SHA256SUMS && cat SHA256SUMS)
