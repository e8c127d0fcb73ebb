#!/bin/sh
cp "$(dirname "$0")/intervals.py" intervals.py
