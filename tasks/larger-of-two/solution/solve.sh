#!/bin/sh
cp "$(dirname "$0")/larger.py" larger.py
