"""The entry: dispatch, and the one place that turns exceptions into words and exit codes."""

from __future__ import annotations

import contextlib
import io
import signal
import sys
import traceback
from pathlib import Path
from types import FrameType

from evalgate.errors import EvalgateError, ExitCode, from_os_error


def main() -> None:
    """Run the command line and exit."""
    if sys.platform == "win32":
        sys.exit("error: evalgate runs on Linux; on Windows use WSL")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # no locale may stop a check mark
            stream.reconfigure(errors="replace")
    sys.exit(int(_guarded(sys.argv[1:])))


def _guarded(arguments: list[str]) -> int:
    # SIGTERM must end a run as Ctrl-C does: with its trials kept and its processes ended.
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        code = _dispatch(arguments)
    except EvalgateError as error:
        from evalgate.words import say  # noqa: PLC0415 - only when something went wrong

        say(error, as_json="--json" in arguments)
        return int(error.exit_code)
    except KeyboardInterrupt:
        _tell("error: interrupted")
        return int(ExitCode.INTERRUPTED)
    except OSError as error:  # a full disk, a missing right: what a user can mend
        from evalgate.words import say  # noqa: PLC0415

        planned = from_os_error(error)
        say(planned, as_json="--json" in arguments)
        return int(planned.exit_code)
    except Exception as error:  # noqa: BLE001 - the last resort, with a report for us
        from evalgate.words import say  # noqa: PLC0415

        say(_reported(error), as_json="--json" in arguments)
        return int(ExitCode.INTERNAL)
    return code


def _dispatch(arguments: list[str]) -> int:
    if arguments[:2] == ["hook", "run"]:
        # The hook's way to "nothing to do" must not pay for the command line.
        from evalgate.commands.hook import run_hook  # noqa: PLC0415

        rest = arguments[2:]
        directory = Path.cwd()
        if rest[:1] == ["--project"]:
            directory, rest = directory / rest[1], rest[2:]
        stdin = "" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.read()
        return int(run_hook(directory, rest[0] if rest else "", stdin))
    from evalgate.cli.command_line import command_line  # noqa: PLC0415

    return command_line(arguments)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _reported(error: Exception) -> EvalgateError:
    import tempfile  # noqa: PLC0415

    hint = "this is a fault of evalgate"
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="evalgate-report-", suffix=".txt", delete=False, encoding="utf-8"
        ) as file:
            traceback.print_exc(file=file)
        hint += f"; the report is {file.name}"
    except OSError as trouble:
        hint += f"; its report can not be written: {trouble}"
    return EvalgateError(f"internal error: {error!r:.500}", hint=hint)


def _tell(text: str) -> None:
    with contextlib.suppress(OSError, ValueError):
        print(text, file=sys.stderr)


if __name__ == "__main__":
    main()
