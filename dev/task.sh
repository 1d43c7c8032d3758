#!/bin/sh
# Runs the Makefile's targets, also on machines without make:  sh dev/task.sh check
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
    # Runs flush their records and databases to disk, which is faster in memory: /dev/shm is used if
    # it has enough space (in kB). Mode 711 lets the Postgres user reach its own folder.
    free=$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $4 }')
    if [ "${free:-0}" -gt 4000000 ]; then
      TMPDIR=$(mktemp -d /dev/shm/urchin.XXXXXX)
      export TMPDIR
      chmod 711 "$TMPDIR"
      trap 'rm -rf "$TMPDIR"' EXIT
      trap 'exit 130' INT TERM
    fi
    # Four processes on two processors, because tests often wait for browsers and servers. Bytecode is
    # always cached: otherwise, rewriting assertions would take half of the time that each process
    # needs before its first test.
    PYTHONDONTWRITEBYTECODE= "$bin/python" -m pytest -n 4 --dist loadfile --no-loadscope-reorder ;;
  litellm)
    # litellm requires older versions of openai and filelock than the other tests. It is installed
    # with them in an environment of its own, on top of the existing one.
    over=$venv/litellm
    packages='import sysconfig; print(sysconfig.get_path("purelib"))'
    [ -d "$over" ] || "$bin/python" -m venv --without-pip "$over"
    "$bin/python" -c "$packages" >"$("$over/bin/python" -c "$packages")/under.pth"
    "$bin/python" -m pip --python "$over/bin/python" install --quiet --editable '.[litellm]'
    exec "$over/bin/python" -m pytest tests/agent/models/test_litellm.py ;;
  check)
    # All checks run even if one fails, so that you see every problem at once.
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
