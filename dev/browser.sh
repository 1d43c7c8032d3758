# Sourced by setup.sh: finds or installs a browser that starts.

# Returns 0 and prints a line if the project finds a browser that starts; otherwise returns 1.
have_browser() {
  code=0
  browser=$("$bin/python" dev/start_browser.py 2>"$venv/browser.log") || code=$?
  case $code in
    0) say "browser: $browser" ;;
    3) return 1 ;;
    *) fail "the project does not start: $(tail -n 1 "$venv/browser.log")" ;;
  esac
}

# Installs the headless shell for the tests: the same engine with three quarters of the processor
# time. If it cannot be installed, the tests use the existing browser.
ensure_light_browser() {
  case $browser in */chromium) ;; *) return 0 ;; esac
  if command -v chromium-headless-shell >/dev/null || ! may_apt; then return 0; fi
  apt_install chromium-headless-shell || say "chromium-headless-shell is unavailable: the tests use $browser"
}

ensure_browser() {
  if have_browser; then return; fi
  say "$(tail -n 1 "$venv/browser.log")"
  say "playwright install chromium"
  if "$bin/python" -m playwright install chromium >&2 && have_browser; then return; fi
  if may_apt && apt_install chromium && have_browser; then return; fi
  fail "no browser starts. Install Google Chrome (https://www.google.com/chrome/), or, on Linux: sudo .venv/bin/python -m playwright install --with-deps chromium"
}
