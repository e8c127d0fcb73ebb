"""The entry: dispatch, and the one place that turns exceptions into words and exit codes."""

from __future__ import annotations

import io
import signal
import sys
from functools import partial

from evalgate.errors import EvalgateError, from_os_error
from evalgate.interruptions import Interruptions, interrupted


def main() -> None:
    """Run the command line and exit."""
    if sys.platform == "win32":
        sys.exit("error: evalgate runs on Linux; on Windows use WSL")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # no locale may stop a check mark
            stream.reconfigure(errors="replace")
    sys.exit(int(_guarded(sys.argv[1:])))


def _guarded(arguments: list[str]) -> int:
    say = partial(_say, as_json="--json" in arguments)
    interruptions = Interruptions(say)
    # SIGTERM must end a run as Ctrl-C does: with its trials kept and its processes ended.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interruptions)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as nohup asks for
        signal.signal(signal.SIGHUP, interruptions)  # the terminal was closed
    try:
        try:
            return _dispatch(arguments)
        finally:
            interruptions.over = True
    except EvalgateError as error:
        planned = error
    except KeyboardInterrupt as interrupt:
        planned = interrupted(interrupt)
    except OSError as error:  # a full disk, a missing right: what a user can mend
        planned = from_os_error(error)
    except Exception as error:  # noqa: BLE001 - the last resort, with a report for us
        planned = _reported(error)
    say(planned)
    return int(planned.exit_code)


def _say(error: EvalgateError, *, as_json: bool) -> None:
    from evalgate.words import say  # noqa: PLC0415 - only when something went wrong

    say(error, as_json=as_json)


def _dispatch(arguments: list[str]) -> int:
    if arguments[:2] == ["hook", "run"]:
        # The hook's way to "nothing to do" must not pay for the command line.
        from evalgate.commands.hooks.hook import call_hook  # noqa: PLC0415

        code = call_hook(arguments[2:])
        if code is not None:
            return int(code)
    from evalgate.cli.command_line import command_line  # noqa: PLC0415

    return command_line(arguments)


def _reported(error: Exception) -> EvalgateError:
    import tempfile  # noqa: PLC0415
    import traceback  # noqa: PLC0415

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


if __name__ == "__main__":
    main()
