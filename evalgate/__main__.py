"""The entry: dispatch, and the one place that turns exceptions into words and exit codes."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from pathlib import Path
from types import FrameType

from evalgate.errors import EvalgateError, ExitCode


def main() -> None:
    """Run the command line and exit."""
    if sys.platform == "win32":
        sys.exit("error: evalgate runs on Linux and macOS; on Windows use WSL")
    sys.exit(int(_guarded(sys.argv[1:])))


def _guarded(arguments: list[str]) -> int:
    # SIGTERM must end a run as Ctrl-C does: with its trials kept and its processes ended.
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        code = _dispatch(arguments)
        sys.stdout.flush()
    except EvalgateError as error:
        from evalgate.words import say  # noqa: PLC0415 - only when something went wrong

        say(error, as_json="--json" in arguments)
        return int(error.exit_code)
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        return int(ExitCode.INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(ExitCode.OK)
    except Exception as error:  # noqa: BLE001 - the last resort, with a report for us
        return _internal(error)
    return code


def _dispatch(arguments: list[str]) -> int:
    if arguments[:2] == ["hook", "run"]:
        # The hook's way to "nothing to do" must not pay for the command line.
        from evalgate.commands.hook import run_hook  # noqa: PLC0415

        remote = arguments[2] if len(arguments) > 2 else ""  # noqa: PLR2004
        stdin = "" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.read()
        return int(run_hook(Path.cwd(), remote, stdin))
    from evalgate.cli import command_line  # noqa: PLC0415

    return command_line(arguments)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _internal(error: Exception) -> int:
    import tempfile  # noqa: PLC0415

    with tempfile.NamedTemporaryFile(
        "w", prefix="evalgate-report-", suffix=".txt", delete=False
    ) as file:
        traceback.print_exc(file=file)
    print(f"error: internal error: {error!r}", file=sys.stderr)
    print(f"hint: this is a fault of evalgate; the report is {file.name}", file=sys.stderr)
    return int(ExitCode.INTERNAL)


if __name__ == "__main__":
    main()
