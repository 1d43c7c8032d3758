# Sourced by setup.sh: see to it that there is a browser that starts.

BROWSER_NAMES="google-chrome google-chrome-stable chromium chromium-browser microsoft-edge microsoft-edge-stable"

# Prints the path of the first Chrome, Chromium or Edge that starts.
find_browser() {
  for name in $BROWSER_NAMES; do
    path=$(command -v "$name") || continue
    # Ubuntu's chromium-browser may be a stub that only asks for a snap.
    if "$path" --version >/dev/null 2>&1; then echo "$path"; return; fi
  done
  for path in \
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" \
    "/Applications/Chromium.app/Contents/MacOS/Chromium" \
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge" \
    "$HOME/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" \
    "${PROGRAMFILES:-/c/Program Files}/Google/Chrome/Application/chrome.exe" \
    "/c/Program Files (x86)/Microsoft/Edge/Application/msedge.exe" \
    "${LOCALAPPDATA:-/none}/Google/Chrome/Application/chrome.exe"; do
    if [ -x "$path" ]; then echo "$path"; return; fi
  done
  return 1
}

# Playwright's own Chromium may be there and still lack system libraries.
playwright_browser_starts() {
  "$bin/python" - 2>/dev/null <<'PY'
from playwright.sync_api import sync_playwright

with sync_playwright() as playwright:
    playwright.chromium.launch(args=["--no-sandbox"]).close()
PY
}

ensure_browser() {
  if browser=$(find_browser); then say "browser: $browser"; return; fi
  if playwright_browser_starts; then say "browser: Playwright's Chromium"; return; fi
  say "no Chrome, Chromium or Edge found; playwright install chromium"
  if "$bin/python" -m playwright install chromium >&2 && playwright_browser_starts; then return; fi
  if may_apt && apt_install chromium && browser=$(find_browser); then say "browser: $browser"; return; fi
  fail "there is no browser that starts. Install Google Chrome (https://www.google.com/chrome/), or, on Linux: sudo .venv/bin/python -m playwright install --with-deps chromium"
}
