#!/bin/sh
cp "$(dirname "$0")/texts.py" texts.py
