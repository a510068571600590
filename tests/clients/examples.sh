#!/usr/bin/env bash
# Builds and runs the programs of examples/clients/, in a copy, as docs/CLIENTS.md says to.
# Usage, with an absolute path as DIR:
#        examples.sh build DIR FOLDER… makes the copy, generates the stubs and compiles those of these folders;
#        NODE_EXAMPLES_DIR holds node_modules.
#        examples.sh run DIR LANGUAGE compares what the programs print with expected/; the server is TOOLWIRE_SERVER's.
#        examples.sh absent DIR LANGUAGE… runs the programs named retry, at the same time, where no server is.
# Needs `python` with tests/clients/python/requirements.txt, `buf`, Go, Java with Maven, and Node on PATH.
set -euo pipefail

build() {
  local language begun
  cd "$(dirname "${BASH_SOURCE[0]}")/../.."
  rm -rf "$1"
  mkdir -p "$1"
  git ls-files -z buf.yaml examples/clients proto | tar -c --null -T - | tar -x -C "$1"
  cd "$1/examples/clients"
  [ ! -d "${NODE_EXAMPLES_DIR:-}" ] || ln -s "$NODE_EXAMPLES_DIR/node_modules" typescript/node_modules
  for language in "${@:2}"; do
    begun=$SECONDS
    sh "$language/generate.sh"
    echo "$language: $((SECONDS - begun)) s"
  done
}

# The command of a program, in the folder of its language.
command_of() {
  case $1 in
    python) echo env PYTHONPATH=gen python "$2.py" ;;
    connect | grpc-js) echo node "build/$1/$2.js" ;;
    go) echo "bin/$2" ;;
    java) echo java -cp 'target/classes:target/lib/*' "example.${2^}" ;;
  esac
}

# folder_of DIR LANGUAGE
folder_of() {
  case $2 in connect | grpc-js) echo "$1/examples/clients/typescript" ;; *) echo "$1/examples/clients/$2" ;; esac
}

run() {
  local program expected printed
  expected=$1/examples/clients/expected
  cd "$(folder_of "$1" "$2")"
  for program in call stream errors retry; do
    # Split into words on purpose; no glob of these matches a file, but for Java's `*`, which Java itself expands.
    # shellcheck disable=SC2046
    printed=$(set -f; timeout 60 $(command_of "$2" "$program")) || { echo "$2 $program failed" >&2; exit 1; }
    diff "$expected/$program.txt" - <<<"$printed" || { echo "$2 $program prints something else" >&2; exit 1; }
  done
  echo "$2: 4 programs print what docs/CLIENTS.md shows"
}

absent() {
  local language waiting=()
  for language in "${@:2}"; do
    gives_up "$1" "$language" &
    waiting+=("$!")
  done
  for language in "${waiting[@]}"; do wait "$language"; done
}

# Five attempts, between which the program waits 1, 2, 4 and 8 s, and a failure that says why.
gives_up() {
  local begun=$SECONDS printed
  cd "$(folder_of "$1" "$2")"
  # shellcheck disable=SC2046
  if printed=$(set -f; TOOLWIRE_SERVER=http://127.0.0.1:1 timeout 120 $(command_of "$2" retry) 2>&1); then
    echo "$2 retry claims to have an answer" >&2
    exit 1
  fi
  if [ "$(grep -c '^attempt [1-5]: no answer$' <<<"$printed")" -ne 5 ] || ! grep -q 'given up: no answer' <<<"$printed" ||
    [ $((SECONDS - begun)) -lt 14 ]; then
    echo "$2 retry does not wait, or says something else: $printed" >&2
    exit 1
  fi
  echo "$2: retry waits between its attempts and gives up"
}

"$@"
