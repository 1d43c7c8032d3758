"""`research models`: the list, a resumed download, and the first run's question."""

from __future__ import annotations

import tomllib
from hashlib import sha256

import pytest

from tests.agent.cli.test_terminal_prompts import at_a_terminal  # noqa: F401 - a fixture
from tests.loopback import Handler, serving

WEIGHTS = bytes(range(256)) * 8_000
DIGEST = sha256(WEIGHTS).hexdigest()


class _Files(Handler):
    """Serves one file with range support, and cuts the first transfer off midway."""

    def get(self):
        if self.path.endswith("/models"):
            self.send(200, "application/json", b'{"data": [{"id": "llama3.2"}]}')
            return
        start = int((self.headers["Range"] or "bytes=0-")[6:-1])
        self.server.site.starts.append(start)
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(WEIGHTS) - start))
        self.end_headers()
        if not start:
            self.wfile.write(WEIGHTS[:1_000_000])
            self.close_connection = True
            return
        self.wfile.write(WEIGHTS[start:])


class _Site:
    def __init__(self, url):
        self.url = url
        self.starts = []


@pytest.fixture
def files():
    with serving(_Files, _Site) as site:
        yield site


def test_model_download_resumes_and_is_verified(run, files, tmp_path):
    url = f"{files.url}/tiny-0.1b.gguf"
    pull = ("models", "pull", url, "--sha256")

    assert "allow-private" in run(*pull, DIGEST).stderr  # the guard's rules hold
    assert "--sha256" in run("models", "pull", url).stderr
    unnamed = run("models", "pull")
    assert (unnamed.returncode, "one of small (1.1 GB)" in unnamed.stderr) == (2, True)
    assert files.starts == []
    broken = run(*pull, DIGEST, "--allow-private", "127.0.0.1")
    assert (broken.returncode, "Run the command again to resume" in broken.stderr) == (6, True)
    done = run(*pull, DIGEST, "--allow-private", "127.0.0.1")
    path = tmp_path / "data" / "models" / "tiny-0.1b.gguf"
    assert done.returncode == 0, done.stderr
    assert (done.stdout.strip(), path.read_bytes() == WEIGHTS) == (f"local:{path}", True)
    assert DIGEST in done.stderr
    assert files.starts == [0, 1_000_000]
    listed = run("models", OLLAMA_BASE_URL=f"{files.url}/v1").stdout
    assert f"local:{path}" in listed
    assert "ollama/llama3.2" in listed

    path.rename(path.with_name("tiny-0.1b.gguf.part"))
    wrong = run(*pull, "0" * 64, "--allow-private", "127.0.0.1")
    assert (wrong.returncode, f"is {DIGEST}, not" in wrong.stderr) == (2, True)
    assert list(path.parent.iterdir()) == []


def test_first_run_asks_for_model_once(at_a_terminal, files, run, web, tmp_path):  # noqa: F811
    ollama = {"OLLAMA_BASE_URL": f"{files.url}/v1"}
    code, _, shown = at_a_terminal("When was Hesk Light lit?", *web, typed=["4"], **ollama)
    assert "2  Ollama on this machine (llama3.2)" in shown.replace("\r", "")
    assert "3  a small model, downloaded once (1.1 GB;" in shown
    assert code in (0, 3), shown
    settings = tomllib.loads((tmp_path / "config.toml").read_text())
    assert settings == {"model": "extractive"}
    _, _, shown = at_a_terminal("When was Hesk Light lit?", *web, **ollama)
    assert "Which model should answer?" not in shown

    (tmp_path / "config.toml").unlink()
    scripted = run("When was Hesk Light lit?", *web)
    assert "No language model is set up" in scripted.stderr
