"""Updates a corpus index in the background, using worker processes that read the files.

Each worker is a separate process: reading is CPU-bound, so threads would slow the run down, and if
a file crashes its reader, no other file is affected. Each file is one transaction, so the files
that a killed run has indexed are kept, and the next run continues from there.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout

from browser.search.corpus_index import CorpusFile, Index, SyncResult, index_file

if TYPE_CHECKING:
    from browser.search.corpus_index import Extractor

MIN_FILES_FOR_WORKERS = 16
"""Fewer files are read directly: starting a worker takes half a second of CPU time."""
MAX_WORKERS = 4
"""Each worker takes about 100 MB of memory, and SQLite allows only one writer at a time."""
_POLL_SECONDS = 0.5
"""Seconds between checks of an index that another process is updating."""
_DONE_REPLY = "done"


class Indexing:
    """Runs index updates one after another; `state` is the progress of the current one."""

    def __init__(self, index: Index, extract: Extractor) -> None:
        self.state = SyncResult()
        self._index = index
        self._extract = extract
        self._thread: threading.Thread | None = None
        self._error: Exception | None = None
        self._stopped = threading.Event()
        self._changing = threading.Lock()
        self._workers: list[_Worker] = []

    @property
    def is_running(self) -> bool:
        """Whether an update is running."""
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> None:
        """Start an update unless one is running."""
        with self._changing:
            if not (self.is_running or self._stopped.is_set()):
                self._thread = threading.Thread(target=self._run, name="indexing", daemon=True)
                self._thread.start()

    def join(self, seconds: float | None = None) -> None:
        """Wait for the update to end, for at most `seconds`."""
        if self._thread is not None:
            self._thread.join(seconds)

    def wait(self, seconds: float | None = None) -> None:
        """Wait like `join`, then raise the error that ended the update, if any."""
        self.join(seconds)
        error, self._error = self._error, None
        if error is not None:
            raise error

    def stop(self) -> None:
        """Stop permanently and immediately; finished files stay indexed."""
        self._stopped.set()
        with self._changing:
            for worker in self._workers:
                worker.kill()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        self.state = replace(self.state, indexed=0)
        try:
            lock = FileLock(f"{self._index.path}.lock")
            while not self._stopped.is_set():
                stale = self._stale_files()
                try:
                    with lock.acquire(blocking=False):
                        self._update(stale)
                        return
                except Timeout:  # another process is updating it
                    if not stale or self._stopped.wait(_POLL_SECONDS):
                        return
        except Exception as error:  # noqa: BLE001 - raised again in `wait`
            self._error = error

    def _stale_files(self) -> list[CorpusFile]:
        """List the folder, remove missing files from the index, and return the files to read."""
        count, stale, left_out = self._index.compare()
        indexed = self.state.indexed
        self.state = SyncResult(count, indexed, len(stale), tuple(left_out))
        return stale

    def _update(self, stale: list[CorpusFile]) -> None:
        left_out = self.state.unread
        files: queue.SimpleQueue[CorpusFile] = queue.SimpleQueue()
        for file in stale:
            files.put(file)
        name = _import_name(self._extract)
        count = min(MAX_WORKERS, os.cpu_count() or 1)
        if name and len(stale) >= MIN_FILES_FOR_WORKERS:
            threads = [
                threading.Thread(target=self._feed_worker, args=(name, files), daemon=True)
                for _ in range(count)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        # Files left over because workers could not start are read here.
        with self._index.connect() as db:
            while not (self._stopped.is_set() or files.empty()):
                index_file(db, files.get(), self._extract)
                self._count_indexed()
        self.state = replace(self.state, unread=tuple(sorted([*self._index.unread(), *left_out])))

    def _feed_worker(self, extractor: str, files: queue.SimpleQueue[CorpusFile]) -> None:
        """Send files to a worker one by one; if it dies, replace it and mark the file as unread."""
        worker: _Worker | None = None
        has_worked = True
        try:
            while has_worked and not self._stopped.is_set():
                try:
                    file = files.get_nowait()
                except queue.Empty:
                    return
                if worker is None:
                    has_worked, worker = False, self._start_worker(extractor)
                if worker.index(file):
                    has_worked = True
                    self._count_indexed()
                    continue
                worker.kill()
                if self._stopped.is_set():
                    return
                if worker.is_ready:
                    self._index.note_crash(file)
                    self._count_indexed()
                    has_worked = True
                else:  # the worker could not start
                    files.put(file)
                worker = None
        finally:
            if worker is not None:
                worker.kill()

    def _start_worker(self, extractor: str) -> _Worker:
        worker = _Worker(self._index, extractor)
        with self._changing:
            self._workers.append(worker)
        return worker

    def _count_indexed(self) -> None:
        with self._changing:
            state = self.state
            self.state = replace(state, indexed=state.indexed + 1, left=state.left - 1)


class _Worker:
    """A process that indexes the files whose names are sent to it."""

    def __init__(self, index: Index, extractor: str) -> None:
        self.is_ready = False
        """Whether the worker has started, which means that its imports succeeded."""
        paths = json.dumps([str(index.folder), str(index.path), extractor, sys.path])
        self._process = subprocess.Popen(  # noqa: S603 - our own module
            [sys.executable, "-c", _WORKER_CODE, paths],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )

    def index(self, file: CorpusFile) -> bool:
        """Index a file; returns False if the process died while doing so."""
        process = self._process
        assert process.stdin is not None, "opened as a pipe"
        assert process.stdout is not None, "opened as a pipe"
        try:
            process.stdin.write(json.dumps([file.path, file.modified, file.size]) + "\n")
            process.stdin.flush()
            self.is_ready = self.is_ready or process.stdout.readline() == f"{_READY_REPLY}\n"
            return process.stdout.readline() == f"{_DONE_REPLY}\n"
        except (OSError, ValueError):
            return False

    def kill(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


_READY_REPLY = "ready"
# `-m` is not used, so that the worker finds modules where this process does, even in a script or
# notebook.
_WORKER_CODE = (
    "import json, sys; folder, path, extractor, sys.path[:] = json.loads(sys.argv[1]);"
    " from browser.search.indexing import work; work(folder, path, extractor)"
)


def _import_name(extract: Extractor) -> str:
    """`module:name` of a function that a worker can import; "" for any other."""
    module, name = getattr(extract, "__module__", ""), getattr(extract, "__qualname__", "")
    is_importable = module not in ("", "__main__") and name.isidentifier()
    return f"{module}:{name}" if is_importable else ""


def work(folder: str, path: str, extractor: str) -> None:
    """Index the files whose names arrive on standard input, until it is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # on Ctrl-C, the run stops its workers
    if sys.platform != "win32":
        with suppress(OSError):
            os.nice(5)  # the run and the user's other programs have priority
    module, _, name = extractor.partition(":")
    extract: Extractor = getattr(import_module(module), name)
    index = Index(Path(folder), Path(path))
    # Output printed by a library must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)
    answers.write(f"{_READY_REPLY}\n")
    with index.connect() as db:
        for line in sys.stdin:
            index_file(db, CorpusFile(*json.loads(line)), extract)
            answers.write(f"{_DONE_REPLY}\n")
