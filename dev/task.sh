#!/bin/sh
# What the Makefile's targets do, for machines without make:  sh dev/task.sh check
set -eu
cd "$(dirname "$0")/.."
case "${1:-}" in demo | research) needs=core ;; *) needs= ;; esac
sh dev/setup.sh $needs
venv=.venv
[ -d $venv/Scripts ] && bin=$venv/Scripts || bin=$venv/bin

case "${1:-}" in
  demo) exec "$bin/python" -m fixtures.demo ;;
  research)
    [ -n "${Q:-}" ] || { echo 'usage: make research Q="your question"' >&2; exit 2; }
    exec "$bin/research" ask -- "$Q" ;;
  test)
    # Runs write their records and databases through to the disk; where memory has room (kB), they
    # do so there. Others may pass through the folder: the user as whom a database runs.
    free=$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }')
    if [ "${free:-0}" -gt 4000000 ]; then
      TMPDIR=$(mktemp -d /dev/shm/urchin.XXXXXX)
      export TMPDIR
      chmod 711 "$TMPDIR"
      trap 'rm -rf "$TMPDIR"' EXIT
      trap 'exit 130' INT TERM
    fi
    # On two processors four processes use the time in which others wait for browsers and servers.
    # What asserts are rewritten to is kept, whatever this shell says of byte code: writing them anew
    # is half of what each process does before its first test.
    PYTHONDONTWRITEBYTECODE= "$bin/python" -m pytest -n 4 --dist loadfile --no-loadscope-reorder ;;
  litellm)
    # It holds openai and filelock below what everything else is tested with: these and itself are
    # laid over the environment, in one of its own.
    over=$venv/litellm
    packages='import sysconfig; print(sysconfig.get_path("purelib"))'
    [ -d "$over" ] || "$bin/python" -m venv --without-pip "$over"
    "$bin/python" -c "$packages" >"$("$over/bin/python" -c "$packages")/under.pth"
    "$bin/python" -m pip --python "$over/bin/python" install --quiet --editable '.[litellm]'
    exec "$over/bin/python" -m pytest tests/agent/models/test_litellm.py ;;
  check)
    # All speak, so that one round of mending is enough.
    status=0
    "$bin/ruff" format --check . || status=1
    "$bin/ruff" check . || status=1
    for system in linux darwin win32; do
      "$bin/mypy" --platform "$system" || status=1
    done
    "$bin/lint-imports" || status=1
    "$bin/python" dev/javascript/check.py || status=1
    "$bin/python" dev/audit.py || status=1
    NO_MKDOCS_2_WARNING=1 "$bin/mkdocs" build --quiet --site-dir "$venv/site" || status=1
    exit "$status" ;;
  soak)
    status=0
    "$bin/python" -m pytest -n 4 --dist loadfile --every-case || status=$?
    "$bin/python" -m tests.scorecard --soak || status=$?
    "$bin/python" -m bench.scale || status=$?
    exit "$status" ;;
  scorecard) exec "$bin/python" -m tests.scorecard ;;
  bench) exec "$bin/python" -m bench "${DATA:-}" ;;
  *) echo "usage: sh dev/task.sh demo|research|test|litellm|check|bench|soak|scorecard" >&2; exit 2 ;;
esac
