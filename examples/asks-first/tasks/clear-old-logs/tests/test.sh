#!/bin/sh
test ! -e logs/2019.log && test -e logs/2026.log
