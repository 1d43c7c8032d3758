#!/bin/sh
# Sets up the working folder: .venv with this project and its development tools, and a browser.
# Requires Python 3.11 or newer and a network. Reports each step, and skips those already done.
#   PYTHON=/path/to/python3 sh dev/setup.sh      uses that Python
#   sh dev/setup.sh core                         leaves out the development tools
set -eu
cd "$(dirname "$0")/.."

venv=.venv
[ -d "$venv/Scripts" ] && bin=$venv/Scripts || bin=$venv/bin
# The set-up is repeated if one of these files or the folder has changed (a virtual environment
# cannot be moved).
ready=$venv/.ready-$({ pwd; cat pyproject.toml plugins/pyproject.toml dev/setup.sh dev/browser.sh dev/javascript/package.json; } | cksum | tr ' ' -)

if [ -t 2 ]; then dot='\033[2m·\033[0m'; else dot='·'; fi
say() { printf "$dot %s\n" "$*" >&2; }
fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }

# Root on Debian or Ubuntu may install packages; a fresh container has no package lists yet.
may_apt() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; }
apt_install() {
  say "apt-get install $*"
  apt-get update -qq >&2 && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" >&2
}

suits() { "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] or sys.version_info.releaselevel != "final")' 2>/dev/null; }

find_python() {
  for name in ${PYTHON:-python3.14 python3.13 python3.12 python3.11 python3 python}; do
    if suits "$name"; then echo "$name"; return; fi
  done
  return 1
}

make_venv() {
  if [ -e "$bin/python" ] && suits "$bin/python" && "$bin/python" -m pip --version >/dev/null 2>&1; then return; fi
  if ! python=$(find_python); then
    may_apt && apt_install python3 python3-venv
    python=$(find_python) || fail "no Python 3.11 or newer was found. Install one (https://www.python.org/downloads/) or specify one: PYTHON=/path/to/python3 make …"
  fi
  say "creating $venv with $("$python" --version)"
  if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    may_apt || fail "$python has no venv module. On Debian or Ubuntu: sudo apt install python3-venv"
    apt_install python3-venv
  fi
  "$python" -m venv --clear "$venv"
  [ -d "$venv/Scripts" ] && bin=$venv/Scripts || bin=$venv/bin
}

install() {
  # Old versions of pip fail on some extras; dependency groups require 25.1.
  "$bin/python" -m pip install --quiet --disable-pip-version-check --upgrade pip
  "$bin/python" -m pip install --quiet "$@"
}

core=$venv/.core-${ready#"$venv"/.ready-}
[ -e "$ready" ] && exit 0
if [ "${1:-}" = core ]; then
  [ -e "$core" ] && exit 0
  make_venv
  say "installing the project"
  install --editable . --editable ./plugins
else
  make_venv
  say "installing the project and its development tools"
  install --editable '.[all]' --editable './plugins[timestamps,whatsapp]' --group dev
fi
. dev/browser.sh
ensure_browser
rm -f "$venv"/.ready-* "$venv"/.core-*
if [ "${1:-}" = core ]; then
  : >"$core"
else
  ensure_light_browser
  "$bin/python" dev/javascript/check.py install
  : >"$ready"
fi
say "ready"
