#!/bin/sh
cp "$(dirname "$0")/settings.py" settings.py
