#!/usr/bin/env bash
# Finds a Python by running it, then hands over to start.py. It changes nothing of the caller's: no installation outside
# the runner's temporary folder, no variable for later steps.
#   start.sh find    writes the output `python`: a usable interpreter, or nothing when there is none
#   start.sh run     installs what the lock pins and runs the action
set -euo pipefail

# Starting it is the only proof: the Windows store's python is a stub, and an image with another C library starts no tool-cache binary.
PROBE='
import sys
if sys.version_info < (3, 11): sys.exit("is Python %d.%d, older than 3.11" % sys.version_info[:2])
import importlib.util
for name in ("fcntl", "ssl", "venv"):
    if importlib.util.find_spec(name) is None: sys.exit("has no module " + name)
if importlib.util.find_spec("pip") is None and importlib.util.find_spec("ensurepip") is None: sys.exit("has neither pip nor ensurepip")
sys.stdout.write("usable")
'
refused=()

usable() {
  local said
  said=$("$1" -I -X utf8 -c "$PROBE" </dev/null 2>&1) || true
  if [ "$said" = usable ]; then return 0; fi
  said=${said##*$'\n'}
  refused+=("$1 ${said:-does not start}")
  return 1
}

# Prints every interpreter to try, one a line, the best known versions first.
candidates() {
  local version place
  for version in 3.12 3.13 3.11 3.14 3; do
    for place in "${RUNNER_TOOL_CACHE:-/nonexistent}"/Python/"$version".*/*/bin/python3; do
      if [ -x "$place" ]; then printf '%s\n' "$place"; fi
    done
  done
  for version in python3.12 python3.13 python3.11 python3.14 python3 python; do
    place=$(type -P "$version") || continue
    case "$place" in /*) printf '%s\n' "$place" ;; esac # a relative entry of PATH may be the checkout
  done
}

# The sentence goes to the log, the summary and the output that later steps read; 2 is the exit code of a setting to correct.
stop() {
  local sentence="$1 ${refused[*]:+Tried:$(printf ' %s;' "${refused[@]}")}"
  sentence=${sentence:0:2000}
  sentence=${sentence//[![:print:]]/ }
  printf '::error title=evalaction cannot start::%s\n' "${sentence//'%'/%25}"
  printf 'outcome=usage\n' >>"${GITHUB_OUTPUT:-/dev/null}"
  printf '## evalaction cannot start\n\n```text\n%s\n```\n' "${sentence//'```'/}" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
  exit 2
}

case "${RUNNER_OS:-} $OSTYPE" in
  *Windows* | *msys* | *cygwin*)
    stop 'evalaction needs a Linux or macOS runner; set runs-on to an image such as ubuntu-24.04.' ;;
esac

python=''
if [ "${1:-}" = find ] && [ -n "${EVALACTION_PYTHON_PATH:-}" ]; then
  python=$EVALACTION_PYTHON_PATH # tried by `run`, whose outputs are the action's
elif [ -n "${EVALACTION_PYTHON_PATH:-}" ]; then
  usable "$EVALACTION_PYTHON_PATH" || stop 'The input python-path names no usable Python; give one of 3.11 or newer, or leave it empty.'
  python=$EVALACTION_PYTHON_PATH
elif [ -n "${EVALACTION_INTERPRETER:-}" ] && usable "$EVALACTION_INTERPRETER"; then
  python=$EVALACTION_INTERPRETER
else
  while IFS= read -r place; do
    if usable "$place"; then python=$place; break; fi
  done < <(candidates)
fi

if [ "${1:-}" = find ]; then
  case "$python" in *$'\n'*) python='' ;; esac
  printf 'python=%s\n' "$python" >>"$GITHUB_OUTPUT"
  exit 0
fi
if [ -z "$python" ]; then
  stop 'There is no Python 3.11 or newer with pip on this runner; run actions/setup-python before, or give python-path.'
fi
exec "$python" -I -X utf8 "$GITHUB_ACTION_PATH/action/start.py"
