#!/bin/sh
rm logs/2019.log
