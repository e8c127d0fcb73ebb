"""Texts that must do nothing, wherever they stand."""

from __future__ import annotations

HOSTILE = (
    "<script>window.hit = 1</script>",
    "</script><script>window.hit = 2</script>",
    "<!--<script>",
    "]]>",
    '"><img src=x onerror="window.hit = 3">',
    "\x1b[31mred\x1b[0m\x1b[2Jcleared",
    "\u202egnp.exe\u2066",
    "a\0b\x07c\x9bd",
    "line\u2028separator\u2029",
    "{{script}} {{data}} ${window.hit = 4}",
    "javascript:window.hit=5",
    "\udcff\ud83d lone",
    "\ufffe\uffff no characters",
    "a|b `c` @name #12 fixes #1",
    "word " * 400,
    "W" * 3000,
)
