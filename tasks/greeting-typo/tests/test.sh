#!/bin/sh
logs="${EVALGATE_LOGS:-/logs}/verifier"
mkdir -p "$logs"
if python3 -I -B -m unittest discover -v -s "${EVALGATE_TESTS:-/tests}" -p 'test_*.py'; then
    reward=1
else
    reward=0
fi
echo "$reward" > "$logs/reward.txt"
