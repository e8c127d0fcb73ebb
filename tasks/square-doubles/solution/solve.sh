#!/bin/sh
cp "$(dirname "$0")/power.py" power.py
