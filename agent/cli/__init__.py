"""The command line, which is the only package that prints."""

from __future__ import annotations

import errno
import gc
import io
import os
import sys
import warnings

_GC_THRESHOLD_AT_START, _GC_THRESHOLD = 500_000, 50_000
"""Numbers of allocations that trigger the first garbage collection, which short runs never reach,
and each later one (Python's default is 700)."""
_DISK_FULL_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
_UNWRITABLE_ERRORS = (FileExistsError, IsADirectoryError, NotADirectoryError, PermissionError)


def main() -> None:
    """Run `research` and exit with one of the documented exit codes."""
    # Nearly all objects created while modules are loaded stay alive, so garbage collection would be
    # useless; even every 50,000 allocations, it would take 5 % of a short run's time.
    gc.set_threshold(_GC_THRESHOLD_AT_START)
    gc.callbacks.append(_collect_regularly)
    # Otherwise, Pydantic searches all installed packages for its plug-ins.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    warnings.showwarning = _print_warning  # type: ignore[assignment]
    from agent.cli.group import cli  # noqa: PLC0415 - nothing is loaded before it is needed

    if sys.stdout is None:  # the caller closed it (`>&-`)
        _discard_output()
    elif isinstance(sys.stdout, io.TextIOWrapper):  # a terminal may not support every character
        # On Windows, pipes and files would use the system code page instead of UTF-8.
        encoding = "utf-8" if sys.platform == "win32" else sys.stdout.encoding
        sys.stdout.reconfigure(encoding=encoding, errors="backslashreplace")
    code = run(cli)
    sys.stderr.flush()
    # All files and databases are closed by now, and a normal interpreter shutdown would take
    # another third of a second.
    os._exit(code)


def run(command: object) -> int:
    """Run a click command; errors become one or two lines with a hint, never a traceback."""
    import click  # noqa: PLC0415 - as above

    from agent.errors import InternalError, ResearchError, UsageError  # noqa: PLC0415 - as above

    assert isinstance(command, click.Command)
    try:
        result = command.main(standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except (click.Abort, KeyboardInterrupt):
        _print_error("interrupted")
        return 130
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except ResearchError as error:
        _print_error(str(error), error.hint)
        return error.exit_code
    except (BrokenPipeError, SystemExit):  # the reader has exited (`| head`), so click exits
        _discard_output()
        return 0
    except _UNWRITABLE_ERRORS as error:  # a folder instead of a file, or no permission
        message = f"cannot use {error.filename}: {error.strerror}"
        _print_error(message, "Check the path and its owner.")
        return UsageError.exit_code
    except Exception as error:  # noqa: BLE001 - users get a line, never a traceback
        if isinstance(error, OSError) and error.errno in _DISK_FULL_ERRNOS:
            _discard_output()
            hint = "Free some disk space. Nothing that was saved is lost."
            _print_error(f"cannot write: {error.strerror}", hint)
        else:
            message = f"internal error: {type(error).__name__}: {error}"
            _print_error(message, InternalError.hint)
        return InternalError.exit_code
    return result if isinstance(result, int) else 0


def _collect_regularly(_phase: str, _info: dict[str, int]) -> None:
    """At the first garbage collection, lower the threshold for later ones."""
    gc.set_threshold(_GC_THRESHOLD)
    gc.callbacks.remove(_collect_regularly)


def _print_warning(message: Warning | str, category: type[Warning], *_: object) -> None:
    """Print our warnings on one line; ignore library warnings, which are meant for developers."""
    if category.__module__.startswith(("agent.", "browser.")):
        from agent.cli.terminal import note  # noqa: PLC0415 - as above

        note(f"warning: {message}")


def _print_error(message: str, hint: str = "") -> None:
    from agent.cli.terminal import print_error  # noqa: PLC0415 - as above

    print_error(message, hint)


def _discard_output() -> None:
    """Discard pending output: nobody is reading it any more, so flushing it would fail again."""
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - open until exit
