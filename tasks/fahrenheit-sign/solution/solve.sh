#!/bin/sh
cp "$(dirname "$0")/temperature.py" temperature.py
