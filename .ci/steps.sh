# shellcheck shell=bash
# shellcheck disable=SC2034  # $server_pid belongs to .ci/server.sh
# Runs a script as steps: each prints its seconds, the first failure ends the script, and a summary comes last. Sourced by
# .ci/run and .ci/long; sets $work, a directory that goes at the end, and needs .ci/server.sh.

work=$(mktemp -d)
server_pid='' current='set-up' passed=() seconds=()
declare -A beside

# step HEADING FUNCTION: runs one step and keeps the seconds it took.
step() {
  current=$1
  printf '\n=== %s\n' "$current"
  local start=$SECONDS
  "$2"
  passed+=("$current") seconds+=($((SECONDS - start)))
  printf -- '--- %s: %d s\n' "$current" "${seconds[-1]}"
  current='between steps'
}

# begin NAME FUNCTION: runs a function beside the steps that follow, until `joined NAME` waits for it. With job control,
# without which bash has its programs ignore SIGINT, and which gives it a process group to end.
begin() {
  set -m
  (
    trap - EXIT
    start=$SECONDS
    "$2"
    echo "$1 took $((SECONDS - start)) s"
  ) >"$work/$1.log" 2>&1 &
  set +m
  beside[$1]=$!
}

# joined NAME: waits until it has ended, and shows what it printed.
joined() {
  local status=0
  wait "${beside[$1]}" || status=$?
  unset "beside[$1]"
  cat "$work/$1.log"
  return "$status"
}

# Runs however the script ends: stops what was started, then tells what was done.
finish() {
  local status=$?
  trap - EXIT
  kill_server
  # What a function beside the steps has started goes with it.
  for group in "${beside[@]}"; do kill -- "-$group" 2>/dev/null || true; done
  rm -rf "$work"
  printf '\n=== Summary\n'
  for i in "${!passed[@]}"; do printf '%6d s  %s\n' "${seconds[i]}" "${passed[i]}"; done
  [ "$status" -eq 0 ] || printf '  FAILED  %s (exit code %d); the steps after it did not run\n' "$current" "$status"
  printf '%d passed, %d failed\n' "${#passed[@]}" "$((status != 0))"
  exit "$status"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
