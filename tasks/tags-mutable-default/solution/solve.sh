#!/bin/sh
cp "$(dirname "$0")/tagging.py" tagging.py
