#!/bin/sh
cp "$(dirname "$0")/items.py" items.py
