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
image = ["sandbox/*"]
[models.main]
id = "scripted-1"
upstream = "env:SCRIPTED_URL"
[agent]
command = ["sh", "{harness_dir}/agent/fix.sh"]
[suite]
tasks = ["tasks/*.json"]
trials = 1
[sandbox]
use = "docker"
dockerfile = "sandbox/Dockerfile"
setup_network = true
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
CODE = "export function sum(a: number, b) {\n  return a + b;\n}\n"
OPTIONS = {"compilerOptions": {"strict": True, "noEmit": True}, "include": ["src"]}
#: The task as those of this form are published: one JSON file.
CRITERIA = {
    "id": "fix-typescript",
    "prompt": "`npm run build` fails. Mend src/sum.ts.",
    "setup": {"commands": ["npm install"]},
    "successCriteria": [
        {"type": "command_succeeds", "params": {"command": "npm run build"}},
        {"type": "file_contains", "params": {"path": "src/sum.ts", "pattern": "b: number"}},
        {"type": "file_unchanged", "params": {"path": "tsconfig.json"}},
    ],
    "timeoutMs": 60000,
    "maxTurns": 15,
}


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
    bundle = ssl.get_default_verify_paths().cafile or ""
    repo.write("sandbox/ca.pem", Path(bundle).read_text() if bundle else "")
    repo.write("sandbox/Dockerfile", DOCKERFILE)
    # Another name, so that no set-up of an earlier test is found.
    package = {**PACKAGE, "name": f"fix-{os.urandom(6).hex()}"}
    files = {
        "package.json": json.dumps(package),
        "tsconfig.json": json.dumps(OPTIONS),
        "src/sum.ts": CODE,
    }
    task = {**CRITERIA, "setup": {"files": files, **CRITERIA["setup"]}}
    repo.write("tasks/fix-typescript.json", json.dumps(task, indent=2))
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
    assert set(trial["conditions"]["images"]) == {"sandbox"}
    project.write("agent/fix.sh", "true\n")
    done = evalgate("run", cwd=project.path, env=env)
    assert "making the image" not in done.stderr
    assert "0/1" in done.stdout
    (name,) = re.findall(r"evalgate-setup:\w+", first)
    Engine()._api.remove_image(name)
