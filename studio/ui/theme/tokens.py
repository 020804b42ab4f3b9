"""Colour tokens of a theme, read from ``resources/themes/tokens.json``; meaning in the design pages."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache

from studio.settings.places import resource


@dataclass(frozen=True, slots=True)
class Tokens:
    """One theme's colours as ``#RRGGBB``; a token ``run-t`` is the attribute ``run_t``."""

    window: str
    surface: str
    raised: str
    sunken: str
    canvas: str
    dot: str
    title: str
    hover: str
    sel: str
    sel_line: str
    alt: str
    line: str
    border: str
    ctl: str
    text: str
    text2: str
    muted: str
    off: str
    accent: str
    accent_fill: str
    on_accent: str
    soft: str
    edge: str
    run: str
    done: str
    fail: str
    wait: str
    bp: str
    run_t: str
    done_t: str
    fail_t: str
    wait_t: str
    bp_t: str
    run_s: str
    done_s: str
    fail_s: str
    wait_s: str
    bp_s: str
    k_agent: str
    k_agent_i: str
    k_fn: str
    k_fn_i: str
    k_human: str
    k_human_i: str
    k_sub: str
    k_sub_i: str
    k_tpl: str
    k_tpl_i: str
    inserted: str
    deleted: str
    s_kw: str
    s_str: str
    s_num: str
    s_fn: str
    s_cls: str
    s_com: str
    s_dec: str


@cache
def tokens(scheme: str) -> Tokens:
    """The tokens of ``"light"`` or ``"dark"``."""
    table = json.loads(resource("themes", "tokens.json").read_text(encoding="utf-8"))
    return Tokens(**{name.replace("-", "_"): value for name, value in table[scheme].items()})


def high_contrast(base: Tokens) -> Tokens:
    """The same theme with more contrast: separators, outlines and captions have the colour of second text."""
    strong = dict.fromkeys(("line", "border", "ctl", "muted", "edge"), base.text2)
    tints = dict.fromkeys(("run_s", "done_s", "fail_s", "wait_s", "bp_s"), base.surface)
    return replace(base, dot=base.canvas, **strong, **tints)
