# Sourced by setup.sh: see to it that there is a browser that starts.

# 0 and a line when the project's own search finds a browser that starts, 1 when there is none.
have_browser() {
  code=0
  browser=$("$bin/python" dev/start_browser.py 2>"$venv/browser.log") || code=$?
  case $code in
    0) say "browser: $browser" ;;
    3) return 1 ;;
    *) fail "the project does not start: $(tail -n 1 "$venv/browser.log")" ;;
  esac
}

# Chromium without windows, for the tests: the same engine for three quarters of the work. Where it
# cannot be had they take the browser that is there.
ensure_light_browser() {
  case $browser in */chromium) ;; *) return 0 ;; esac
  if command -v chromium-headless-shell >/dev/null || ! may_apt; then return 0; fi
  apt_install chromium-headless-shell || say "no chromium-headless-shell: the tests take $browser"
}

ensure_browser() {
  if have_browser; then return; fi
  say "$(tail -n 1 "$venv/browser.log")"
  say "playwright install chromium"
  if "$bin/python" -m playwright install chromium >&2 && have_browser; then return; fi
  if may_apt && apt_install chromium && have_browser; then return; fi
  fail "there is no browser that starts. Install Google Chrome (https://www.google.com/chrome/), or, on Linux: sudo .venv/bin/python -m playwright install --with-deps chromium"
}
