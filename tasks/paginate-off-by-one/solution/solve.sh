#!/bin/sh
cp "$(dirname "$0")/paging.py" paging.py
