"""A fix of a TypeScript project: packages are fetched in the set-up, all else is offline.

It needs an engine, the registry of npm, and an image with node; where there is none:
`bash sandbox/base evalgate-base:node nodejs npm`.
"""

from __future__ import annotations

import json
import os
import re
import ssl
import urllib.request
from pathlib import Path

import pytest

from evalgate.sandboxes.docker import Engine

NODE = os.environ.get("EVALGATE_NODE_IMAGE", "evalgate-base:node")
REGISTRY = "https://registry.npmjs.org/typescript"
CONFIG = """
[harness.parts]
code = ["agent/fix.sh"]
[models.main]
id = "scripted-1"
upstream = "env:SCRIPTED_URL"
[agent]
command = ["sh", "{harness_dir}/agent/fix.sh"]
[suite]
trials = 1
[sandbox]
use = "docker"
setup_network = true
"""
TASK = """
[agent]
timeout_sec = 60
[verifier]
timeout_sec = 60
[metadata.evalgate]
expected_files = ["src/sum.ts"]
setup = { commands = ["npm install"], network = true }
checks = [
    { type = "command_succeeds", command = "npm run build" },
    { type = "file_contains", path = "src/sum.ts", pattern = "b: number" },
    { type = "only_expected_files" },
]
"""
DOCKERFILE = f"""FROM {NODE}
COPY ca.pem /etc/ssl/ca.pem
ENV NODE_EXTRA_CA_CERTS=/etc/ssl/ca.pem
"""
PACKAGE = {
    "version": "1.0.0",
    "scripts": {"build": "tsc --noEmit"},
    "devDependencies": {"typescript": "5.4.5"},
}
OPTIONS = {"compilerOptions": {"strict": True, "noEmit": True}, "include": ["src"]}


@pytest.fixture
def env(engine) -> dict[str, str]:
    """Return the variables that lead a command to the engine, where all that is needed is."""
    reason = None
    if Engine().image(NODE) is None:
        reason = f"there is no image {NODE}"
    try:
        urllib.request.urlopen(REGISTRY, timeout=20).close()
    except OSError as error:
        reason = f"the registry of npm does not answer: {error}"
    if reason is not None:
        assert "EVALGATE_ENGINE" not in os.environ, reason
        pytest.skip(reason)
    return engine


@pytest.fixture
def project(repo):
    """A project with one task: a function of TypeScript whose parameter has no type."""
    repo.git("rm", "-rq", "tasks", "agent")
    repo.write("evalgate.toml", CONFIG)
    repo.write("agent/fix.sh", "sed -i 's/, b)/, b: number)/' src/sum.ts\nnpx tsc --noEmit\n")
    repo.write("tasks/sum/task.toml", TASK)
    repo.write("tasks/sum/instruction.md", "`npm run build` fails. Mend src/sum.ts.\n")
    repo.write("tasks/sum/environment/Dockerfile", DOCKERFILE)
    bundle = ssl.get_default_verify_paths().cafile or ""
    authorities = Path(bundle).read_text() if bundle else ""
    repo.write("tasks/sum/environment/ca.pem", authorities)
    files = "tasks/sum/environment/workspace"
    # Another name, so that no set-up of an earlier test is found.
    package = {**PACKAGE, "name": f"fix-{os.urandom(6).hex()}"}
    repo.write(f"{files}/package.json", json.dumps(package))
    repo.write(f"{files}/tsconfig.json", json.dumps(OPTIONS))
    code = "export function sum(a: number, b) {\n  return a + b;\n}\n"
    repo.write(f"{files}/src/sum.ts", code)
    repo.commit("A task in TypeScript")
    return repo


def test_a_typescript_fix_is_made_and_graded_offline(project, scripted, evalgate, env) -> None:
    """`npm install` runs once with the network; agent and tests find what it made, without."""
    env = {**env, "SCRIPTED_URL": scripted.url}
    done = evalgate("run", cwd=project.path, env=env)
    assert done.returncode == 0, done.stderr
    first = done.stderr
    assert "making the image evalgate-setup:" in first
    (run,) = (project.path / ".evalgate" / "runs").iterdir()
    (trial,) = [json.loads(line) for line in (run / "trials.jsonl").read_text().splitlines()]
    assert trial["outcome"] == "passed", trial
    assert "b: number" in trial["patch"]
    assert "node_modules" not in trial["patch"]
    assert set(trial["conditions"]["images"]) == {"task sum"}
    project.write("agent/fix.sh", "true\n")
    done = evalgate("run", cwd=project.path, env=env)
    assert "making the image" not in done.stderr
    assert "0/1" in done.stdout
    (name,) = re.findall(r"evalgate-setup:\w+", first)
    Engine()._api.remove_image(name)
