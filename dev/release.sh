#!/bin/sh
# Builds the packages, checks their index pages, and tries the wheel in an empty environment.
#   sh dev/release.sh          writes the files to dist/; upload them yourself
set -eu
cd "$(dirname "$0")/.."
sh dev/setup.sh
bin=$PWD/.venv/bin
empty=$(mktemp -d)
trap 'rm -rf "$empty"' EXIT

"$bin/python" -m pip install --quiet build twine
rm -rf dist
"$bin/python" -m build --outdir dist . >/dev/null
"$bin/python" -m build --outdir dist plugins >/dev/null
"$bin/python" -m twine check --strict dist/*

"$bin/python" -m venv "$empty/venv"
"$empty/venv/bin/python" -m pip install --quiet dist/*.whl
mkdir "$empty/notes"
printf '# Pump\n\nIda repaired the pump on 3 May 2024.\n' > "$empty/notes/pump.md"
cd "$empty"
"$empty/venv/bin/urchin-research" --version
"$empty/venv/bin/research" --corpus notes --search corpus --data-dir data -q "Who repaired the pump?"
"$empty/venv/bin/python" -c 'import urchin_research; print(urchin_research.research)'
printf '%s packages, %s\n' "$(venv/bin/python -m pip list --format freeze | wc -l)" "$(du -sh venv | cut -f1)"
