#!/bin/sh
cp "$(dirname "$0")/tickets.py" tickets.py
