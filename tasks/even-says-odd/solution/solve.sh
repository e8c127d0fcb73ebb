#!/bin/sh
cp "$(dirname "$0")/numbers_kind.py" numbers_kind.py
