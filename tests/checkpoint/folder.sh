# Sourced by the tests of this folder: a temporary folder, and fail TEXT, which shows the outputs of the last command there and ends the test.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() {
  echo "$*"
  tail -n 20 "$folder"/out "$folder"/err
  exit 1
}
