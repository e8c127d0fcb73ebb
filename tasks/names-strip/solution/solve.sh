#!/bin/sh
cp "$(dirname "$0")/names.py" names.py
