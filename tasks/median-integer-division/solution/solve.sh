#!/bin/sh
cp "$(dirname "$0")/median.py" median.py
