#!/usr/bin/env bash
# What the action does: installs evalgate, judges, tells. Its inputs are variables.
set -euo pipefail

evalgate=$INPUT_EVALGATE
if [ -z "$evalgate" ]; then
  package=$INPUT_PACKAGE
  own=$GITHUB_ACTION_PATH/../../..
  # Beside its own source the action installs that: whoever pins the one has pinned the other.
  if grep -qs '^name = "git-evalgate"$' "$own/pyproject.toml"; then package=$own; fi
  # Without -I a venv.py of the branch that is judged would be run here, beside the key.
  (cd "$RUNNER_TEMP" && python3 -I -m venv evalgate)
  "$RUNNER_TEMP/evalgate/bin/python" -I -m pip install --quiet --disable-pip-version-check "$package"
  evalgate=$RUNNER_TEMP/evalgate/bin/evalgate
fi

if [ -n "$INPUT_ARTIFACT" ]; then
  exec "$evalgate" comment --artifact "$INPUT_ARTIFACT"
fi

options=(--fork-neutral --out "$INPUT_OUT")
if [ "$INPUT_STRICT" = true ]; then options+=(--strict); fi
if [ "$INPUT_ADVISORY" = true ]; then options+=(--advisory); fi
if [ "$INPUT_LIVE" = true ]; then
  if [ -z "$INPUT_USD" ]; then
    echo "::error title=evalgate::live trials cost money: set usd to the most they may"
    exit 2
  fi
  options+=(--live --usd "$INPUT_USD")
fi

mkdir -p "$INPUT_OUT"
out=$(cd "$INPUT_OUT" && pwd)
options[2]=$out

# Between these two lines the words of agents and tests are no workflow commands.
stop=evalgate-$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
echo "::stop-commands::$stop"
code=0
# The token is for telling alone.
env -u GITHUB_TOKEN "$evalgate" -C "$INPUT_DIRECTORY" gate "${options[@]}" || code=$?
echo "::$stop::"

if [ -f "$out/verdict.json" ]; then
  places=(--to summary --to outputs --to annotations)
  if [ -n "${GITHUB_TOKEN:-}" ]; then places+=(--to comment); fi
  # What a job ends with is the verdict, not whether GitHub took the words.
  "$evalgate" comment "$out" "${places[@]}" ||
    echo "::warning title=evalgate::the verdict was not told everywhere: look at the log"
else
  echo "::error title=evalgate::there is no verdict (exit code $code): look at the log"
fi
exit "$code"
