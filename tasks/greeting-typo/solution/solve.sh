#!/bin/sh
cp "$(dirname "$0")/greeting.py" greeting.py
