#!/bin/sh
# What the Makefile's targets do, for machines without make:  sh dev/task.sh check
set -eu
cd "$(dirname "$0")/.."
sh dev/setup.sh
[ -d .venv/Scripts ] && bin=.venv/Scripts || bin=.venv/bin

case "${1:-}" in
  demo) exec "$bin/python" -m fixtures.demo ;;
  research)
    [ -n "${Q:-}" ] || { echo 'usage: make research Q="your question"' >&2; exit 2; }
    exec "$bin/research" ask -- "$Q" ;;
  test) exec "$bin/python" -m pytest -n 2 --dist loadfile ;;
  check)
    "$bin/ruff" format --check .
    "$bin/ruff" check .
    "$bin/mypy"
    exec "$bin/lint-imports" ;;
  bench) exec "$bin/python" -m tests.bench "${DATA:-}" ;;
  *) echo "usage: sh dev/task.sh demo|research|test|check|bench" >&2; exit 2 ;;
esac
