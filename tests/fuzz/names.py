"""Names that break programs."""

from __future__ import annotations

NASTY = (
    "", " ", "\t", "x" * 300, "日" * 300,
    "'", '"', "\"'`", '"""', "'''", "\\", "\\n", "C:\\new\\table", "two\nlines", "cr\rlf\r\n", "null\x00byte",
    "[ ] ( ) { } | # ; <br> %%", "{text}", "{{writer}}", "%s %d", "${HOME} $(ls)", "<b>&amp;</b>", "--", "A -> B",
    "🧑‍🚀 pilot", "日本語", "ﷺ", "\u202egnirts\u202c", "שלום \u200fabc", "e\u0301\u0323\u0308", "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A",
    "class", "None", "match", "__init__", "__import__('os')", "con", "nul", "..", "../../etc/passwd", "/", ".hidden",
    "CON", "ｃｏｎ", "Ａ", "a", "A", "ß", "ﬁ", "1st", "self", "data", "ctx", "workflow", "build",
    "\ufeffbom", "\ud7ff\ufffd",
)  # fmt: skip
