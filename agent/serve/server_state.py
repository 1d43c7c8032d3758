"""The state that the server's routes share, and its dependencies."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import time
from collections.abc import Awaitable, Callable, Mapping
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

from fastapi import Depends, Query, Request
from fastapi import Path as PathParam

from agent.config import private_folder
from agent.errors import NotFound, UsageError
from agent.journal.runs import RunFolder
from agent.memory.memory_api import Memory
from agent.models.available import ready_models
from agent.models.providers import PROVIDERS
from agent.run.settings import open_memory
from agent.serve.library import Library, read_start_event
from agent.serve.run_manager import ActiveRun, RunManager
from agent.serve.schemas import ASK_FIELDS, AskForm, Uploaded
from browser.files import write_atomic
from browser.page.downloads import safe_name

if TYPE_CHECKING:
    from agent.jobs.jobs import Jobs
    from agent.jobs.monitors import Monitors
    from agent.jobs.schedules import Schedules
    from agent.options import Options
    from agent.serve.run_manager import StartRun
    from agent.serve.schemas import RunState


MAX_UPLOAD_AGE: Final = 30 * 86_400.0
"""How long an uploaded file is kept, in seconds, since a resumed run may read it again."""
MAX_UPLOAD_NAME: Final = 50
"""Maximum length of an uploaded file's name, in characters; file systems allow 255 bytes."""
_UNSAFE_CHARS_RE: Final = re.compile(r"[^\w.\- ]")


class JobStores(NamedTuple):
    """The queue, schedules and monitors. The server's `flags` apply to jobs that are added.

    Synchronous and thread-safe. Raises `UsageError`, `NoSuchJob`, `JobsUnavailable`.
    """

    jobs: Jobs
    schedules: Schedules
    monitors: Monitors
    flags: Mapping[str, Any]


class ServerState:
    """A server's runs, library, memory, jobs and settings.

    `live` returns the current settings. `flags` apply to its runs; their `folder` lists the folders
    that questions may search. `doctor` returns the findings of `research doctor`: for each, the
    check, whether it passed, the observed value, and the fix. `open_jobs` opens the job store.
    `store_key` stores an API key under its variable, as `research keys set` does. `research` starts
    a run, and `resume_run` resumes one.
    """

    def __init__(
        self,
        live: Callable[[], Options],
        flags: dict[str, Any],
        *,
        at_once: int,
        doctor: Callable[[], Awaitable[list[dict[str, Any]]]],
        open_jobs: Callable[[], Jobs],
        store_key: Callable[[str, str], str],
        research: StartRun,
        resume_run: StartRun,
    ) -> None:
        self._live = live
        self.doctor = doctor
        self._store_key = store_key
        data = private_folder(self.options.data)
        self._folders = [Path(folder) for folder in flags.get("folder", ())]
        # Each question specifies the folder to search; by default, it searches the web.
        sources = ("folder", "attach", "cdp", "corpus")
        own = {name: value for name, value in flags.items() if name not in sources}
        self.manager = RunManager(data, own, at_once, research, resume_run)
        self.library = Library(self.manager.runs, data)
        self._uploads = data / "uploads"
        self._job_flags = {n: v for n, v in flags.items() if n not in ("folder", "data_dir")}
        self._open_jobs = open_jobs
        self._jobs: JobStores | None = None
        self._memory: Memory | None = None
        self._opening = Lock()

    @property
    def options(self) -> Options:
        """The current settings, updated when the settings file changes."""
        return self._live()

    @property
    def folders(self) -> dict[str, str]:
        """The folders that questions may search: name to path."""
        corpus = self.options.corpus
        folders = [*self._folders, *([corpus] if corpus else [])]
        return {path.resolve().name: str(path.resolve()) for path in folders}

    @property
    def default_source(self) -> str:
        """The source of questions that name none: `web` unless only the corpus is searched."""
        corpus = self.options.corpus
        is_all = tuple(self.options.search) == ("corpus",)
        return corpus.resolve().name if corpus and is_all else "web"

    @property
    def sources(self) -> dict[str, str]:
        """The sources that a question may name: name to label."""
        return {
            **({"web": "the web"} if self.default_source == "web" else {}),
            **({"tab": "my open tab"} if self.has_tab else {}),
            **{name: f"folder {name}" for name in self.folders},
        }

    @property
    def has_tab(self) -> bool:
        """Return whether questions may be about the open tab in a running Chrome."""
        options = self.options
        return bool(options.attach or options.cdp)

    def memory(self) -> Memory:
        """Return the memory, opening it first if necessary. Raises `UsageError` if it is off."""
        if not self.options.memory:
            raise UsageError(
                "memory is off on this server", hint="Start `research serve` without --no-memory."
            )
        with self._opening:
            if self._memory is None:
                self._memory = open_memory(self.options, os.environ)
            return self._memory

    def jobs(self) -> JobStores:
        """Return the job stores, opening them first if necessary.

        Raises `UsageError` if the jobs engine is not installed.
        """
        with self._opening:
            if self._jobs is None:
                jobs = self._open_jobs()
                # A large optional dependency, imported only here, once it is known to be installed.
                from agent.jobs.monitors import Monitors  # noqa: PLC0415
                from agent.jobs.schedules import Schedules  # noqa: PLC0415

                self._jobs = JobStores(jobs, Schedules(jobs), Monitors(jobs), self._job_flags)
            return self._jobs

    async def close(self) -> None:
        """Stop active runs, and close the memory."""
        await self.manager.close()
        if self._memory is not None:
            self._memory.close()

    def find(self, name: str) -> RunFolder:
        """Find a run by its full id, or `last`. Raises `NotFound`."""
        path = self.manager.runs.root / name
        # Only full ids, unlike in the shell, because a URL must always refer to the same run.
        if (path / "journal.jsonl").is_file():
            return RunFolder(path)
        if name == "last":
            return self.manager.runs.find(name)
        raise NotFound(f"no run {name}", hint="It may have been deleted.")

    async def ask(self, form: AskForm) -> ActiveRun:
        """Start the run that a form requests."""
        continued = self.find(form.continues) if form.continues else None
        source = form.source
        if source is None:
            source = await asyncio.to_thread(self.source_of, continued) if continued else None
        source = source or self.default_source
        flags = form.settings() | self._source_flags(source)
        models = await asyncio.to_thread(self.models) if form.model else []
        if form.model and form.model not in models:
            hint = f"Available: {', '.join(models)}. `research keys set` adds others."
            raise UsageError(
                f"this server offers no model {form.model[:80]!r}",
                hint=hint if models else "The server uses its own model: leave the field empty.",
            )
        if form.files:
            flags["file"] = tuple(self._uploaded(digest) for digest in form.files)
        if continued:
            flags["continue_run"] = continued.id
        return await self.manager.start(form.question, flags, attended=form.attended)

    def models(self) -> list[str]:
        """Return the models to choose from; empty if the server has its own model endpoint."""
        return [] if self.options.base_url else ready_models(self.options.data, os.environ)

    def add_key(self, provider: str, key: str) -> None:
        """Store a provider's key for this server and all later runs. Raises `UsageError`."""
        variables = {one.prefix: one.key for one in PROVIDERS if one.key}
        if provider not in variables:
            raise UsageError(
                f"no provider named {provider!r}", hint=f"Available: {', '.join(variables)}."
            )
        self._store_key(str(variables[provider]), key)

    def upload(self, name: str, body: bytes) -> Uploaded:
        """Store a file that questions may refer to. Old files are deleted."""
        now = time.time()
        for old in self._uploads.glob("*"):
            if now - old.stat().st_mtime > MAX_UPLOAD_AGE:
                shutil.rmtree(old, ignore_errors=True)
        safe = safe_name(_UNSAFE_CHARS_RE.sub("_", name)[-MAX_UPLOAD_NAME:].strip(". ") or "file")
        digest = sha256(safe.encode() + b"\0" + body).hexdigest()
        folder = private_folder(self._uploads / digest)
        write_atomic(folder / safe, body)
        os.utime(folder)
        return Uploaded(id=digest, name=safe)

    def _uploaded(self, digest: str) -> Path:
        """Return the path of an uploaded file. Raises `NotFound`."""
        found = next((self._uploads / digest).glob("*"), None)
        if found is None:
            raise NotFound(f"no file {digest[:12]}… was uploaded", hint="Upload it again.")
        return found

    def source_of(self, folder: RunFolder) -> str:
        """Return the source that a run searched, or the default if the server does not offer it."""
        options = folder.settings_with_paths(read_start_event(folder).get("options") or {})
        if self.has_tab and (options.get("attach") or options.get("cdp")):
            return "tab"
        corpus = options.get("corpus") if options.get("search") == ["corpus"] else None
        offered = (name for name, path in self.folders.items() if path == corpus)
        return next(offered, self.default_source)

    def _source_flags(self, source: str) -> dict[str, Any]:
        """Return the flags for an offered source. Raises `UsageError` for any other source."""
        if source not in self.sources:
            raise UsageError(
                f"this server offers no source {source[:80]!r}",
                hint=f"Available: {', '.join(self.sources)}.",
            )
        if source in self.folders:
            return {"corpus": self.folders[source], "search": ["corpus"]}
        if source == "tab":
            attach: dict[str, Any] = {"attach": self.options.attach, "cdp": self.options.cdp}
            return {name: value for name, value in attach.items() if value}
        return {}

    async def ask_again(self, folder: RunFolder) -> ActiveRun:
        """Start a run with the question and settings of another run."""
        start = await asyncio.to_thread(read_start_event, folder)
        options = folder.settings_with_paths(start.get("options") or {})
        asked = {*ASK_FIELDS, "corpus", "file"} & options.keys()
        if options.get("model") in await asyncio.to_thread(self.models):
            asked.add("model")
        asked.discard("plan")  # nobody is watching the run to approve it
        flags = {name: options[name] for name in asked if options[name] not in (None, [], False)}
        if start.get("schema"):
            flags["schema"] = start["schema"]
        return await self.manager.start(str(start.get("question", "")), flags)

    def current(self, row: RunState) -> RunState:
        """Return a run as listed in the library; an active run includes its open questions."""
        active = self.manager.active.get(row.run)
        if active is None:
            unfinished = row.status == "cut off"
            running = unfinished and RunFolder(self.manager.runs.root / row.run).is_running
            return row.model_copy(update={"status": "running"}) if running else row
        questions = list(active.questions.values())
        shown = {"status": "running", "badge": "", "kind": "", "doubt": None}
        return row.model_copy(update={**shown, "asked": questions})


async def _state(request: Request) -> ServerState:
    state: ServerState = request.app.state.server
    return state


StateDep = Annotated[ServerState, Depends(_state)]
RunName = Annotated[str, PathParam(pattern=r"^[\w-]{1,80}$", description="A run's id, or `last`.")]
Limit = Annotated[int, Query(ge=1, le=500)]


async def _folder(state: StateDep, run: RunName) -> RunFolder:
    return state.find(run)


FolderDep = Annotated[RunFolder, Depends(_folder)]
"""The run given in the URL's path."""


async def _active_run(state: StateDep, run: RunName) -> ActiveRun:
    active = state.manager.active.get(state.find(run).id)
    if active is None:
        raise NotFound(
            f"{run} is not running here", hint="It has ended, or another process is running it."
        )
    return active


ActiveDep = Annotated[ActiveRun, Depends(_active_run)]
"""The run given in the URL's path, which must be active in this process."""


def _memory(state: StateDep) -> Memory:
    return state.memory()


def _jobs(state: StateDep) -> JobStores:
    return state.jobs()


# Not `async`, so that FastAPI calls these in a thread, since opening a store takes a while.
MemoryDep = Annotated[Memory, Depends(_memory)]
JobsDep = Annotated[JobStores, Depends(_jobs)]
