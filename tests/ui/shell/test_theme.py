"""Marks of the style sheet, contrast of the tokens, icons."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QColor, QIcon
from PySide6.QtWidgets import QApplication
from studio.settings.places import resource
from studio.ui.actions import ACTIONS
from studio.ui.theme import Theme, Tokens, icons, style
from studio.ui.theme.fonts import ROLES, font
from studio.ui.theme.tokens import high_contrast, tokens


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_mark_of_the_style_sheet_is_replaced(qapp: QApplication, scheme: str) -> None:
    sheet = style.style_sheet(tokens(scheme), 1.0)
    assert "@" not in sheet
    assert tokens(scheme).accent_fill in sheet


def test_an_unknown_mark_is_an_error() -> None:
    for text in ("color: @acent;", "size: @size-huge;", "image: url(@icon-check-blue);"):
        with pytest.raises(KeyError):
            style.fill(text, tokens("light"), 1.0)


def test_lengths_follow_the_text_scale() -> None:
    assert style.fill("@len-28 @size-body", tokens("light"), 1.5) == "42px 18px"
    assert style.fill("@len-28 @size-body", tokens("light"), 0.9) == "28px 11px"


def _contrast(a: str, b: str) -> float:
    def light(color: str) -> float:
        channels = [getattr(QColor(color), c)() for c in ("redF", "greenF", "blueF")]
        r, g, b_ = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b_

    high, low = sorted((light(a), light(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_on_every_ground(scheme: str) -> None:
    made = tokens(scheme)
    for name in ("text", "text2", "muted", "accent", "run_t", "done_t", "fail_t", "wait_t", "bp_t"):
        for ground in ("window", "surface", "canvas", "sunken", "sel"):
            assert _contrast(getattr(made, name), getattr(made, ground)) >= 4.5, (name, ground)
    assert _contrast(made.on_accent, made.accent_fill) >= 4.5


def test_high_contrast_outlines_everything() -> None:
    made = high_contrast(tokens("light"))
    assert made.border == made.muted == made.text2
    assert made.wait_s == made.surface
    assert made.text == tokens("light").text


def test_every_action_icon_exists() -> None:
    for action in ACTIONS:
        if action.icon:
            assert "<svg" in icons.svg(action.icon), action.id


def test_own_glyphs_take_the_colour_and_the_small_grid() -> None:
    for file in sorted(resource("icons").glob("*.svg")):
        text = file.read_text(encoding="utf-8")
        if file.stem != "logo":
            assert "currentColor" in text, file.name
            assert 'viewBox="0 0 16 16"' in text, file.name


def test_icons_follow_the_theme_at_any_ratio(theme: Theme) -> None:
    icon = theme.icon("own:stop", "text")
    light = icon.pixmap(QSize(16, 16), 2.0)
    assert light.size() == QSize(32, 32)
    assert light.toImage().pixelColor(16, 16).name().upper() == theme.tokens.text
    theme.set_choice("dark")
    dark = icon.pixmap(QSize(16, 16), 1.0).toImage().pixelColor(8, 8).name().upper()
    assert dark == theme.tokens.text != tokens("light").text
    off = icon.pixmap(QSize(16, 16), 1.0, QIcon.Mode.Disabled).toImage().pixelColor(8, 8).name().upper()
    assert off == theme.tokens.off


def test_unknown_icons_are_an_error(theme: Theme) -> None:
    with pytest.raises(KeyError):
        theme.icon("own:nothing")


def test_a_change_of_theme_is_said_once(theme: Theme) -> None:
    said: list[str] = []
    theme.changed.connect(lambda: said.append(theme.scheme))
    theme.set_choice("dark")
    theme.set_choice("dark")
    theme.set_scale(1.25)
    assert said == ["dark", "dark"]
    assert theme.font("body").pixelSize() == 15


def test_applying_a_theme_dresses_the_application(qapp: QApplication, theme: Theme) -> None:
    before = qapp.styleSheet(), qapp.palette(), qapp.font()
    try:
        theme.apply(qapp)
        light = qapp.palette().window().color().name().upper()
        theme.set_choice("dark")
        assert light == tokens("light").window
        assert qapp.palette().window().color().name().upper() == tokens("dark").window
        assert tokens("dark").surface in qapp.styleSheet()
        assert qapp.font().families()[0] == "Inter"
    finally:
        qapp.setStyleSheet(before[0])
        qapp.setPalette(before[1])
        qapp.setFont(before[2])


def test_the_weights_of_the_bundled_font_are_real(theme: Theme) -> None:
    from PySide6.QtGui import QFontMetricsF

    widths = [QFontMetricsF(font(role)).horizontalAdvance("Superstep Studio") for role in ("body", "strong", "section")]
    assert widths[0] < widths[1] < widths[2]


def test_words_keep_their_hyphens_and_numbers_their_places(theme: Theme) -> None:
    from PySide6.QtGui import QFont, QFontMetricsF

    def width(made: QFont, text: str) -> float:
        return QFontMetricsF(made).horizontalAdvance(text)

    body, numbers = theme.font("body"), theme.font("body", tabular=True)
    assert width(body, "-") < width(numbers, "-")
    assert width(numbers, "1111") == width(numbers, "0000")


def test_tokens_are_colours() -> None:
    for scheme in ("light", "dark"):
        for field in fields(Tokens):
            assert re.fullmatch(r"#[0-9A-F]{6}", getattr(tokens(scheme), field.name)), field.name
    assert min(size for size, _ in ROLES.values()) >= 10.5
