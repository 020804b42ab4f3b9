"""Keys of the canvas. Those that the window has as actions work here too, for a canvas without a window."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING

from PySide6.QtCore import QKeyCombination, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence

from studio.document.aligning import Axis, Side
from studio.ui.actions import ACTIONS
from studio.ui.canvas.navigate import Direction

if TYPE_CHECKING:
    from studio.ui.canvas.view import CanvasView

_NONE, _SHIFT = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier
_CTRL = Qt.KeyboardModifier.ControlModifier
_K = Qt.Key

Function = Callable[["CanvasView"], object]


def _key(key: Qt.Key, modifiers: Qt.KeyboardModifier = _NONE) -> int:
    return QKeyCombination(modifiers, key).toCombined()


def _insert(view: CanvasView) -> None:
    if view.focus_or_selection is not None:
        view.open_insert(view.focus_or_selection)


def _connect(view: CanvasView) -> None:
    if view.focus_or_selection is not None:
        view.open_connect(view.focus_or_selection)


def _open(view: CanvasView) -> None:
    if view.focus_or_selection is not None:
        view.open_item(view.focus_or_selection)


def _note(view: CanvasView) -> None:
    view.add_node("note", view.pointer_scene())


KEYS: Mapping[int, Function] = {
    _key(_K.Key_A, _SHIFT): lambda view: view.open_search(),
    _key(_K.Key_N): _note,
    _key(_K.Key_I): _insert,
    _key(_K.Key_C): _connect,
    _key(_K.Key_F): lambda view: view.toggle_frame(),
    _key(_K.Key_H): lambda view: view.toggle_collapsed(),
    _key(_K.Key_L): lambda view: view.start_align(),
    _key(_K.Key_BraceLeft, _SHIFT): lambda view: view.select_before(),
    _key(_K.Key_BracketLeft, _SHIFT): lambda view: view.select_before(),
    _key(_K.Key_BraceRight, _SHIFT): lambda view: view.select_behind(),
    _key(_K.Key_BracketRight, _SHIFT): lambda view: view.select_behind(),
    _key(_K.Key_G): lambda view: view.start_key_move(),
    _key(_K.Key_G, _SHIFT): lambda view: view.toggle_snap(),
    _key(_K.Key_Delete): lambda view: view.delete_selection(),
    _key(_K.Key_Backspace): lambda view: view.delete_selection(),
    _key(_K.Key_Delete, _CTRL): lambda view: view.delete_and_join(),
    _key(_K.Key_Backspace, _CTRL): lambda view: view.delete_and_join(),
    _key(_K.Key_D, _SHIFT): lambda view: view.duplicate_with_edges(),
    _key(_K.Key_V, _CTRL | _SHIFT): lambda view: view.paste_with_edges(),
    _key(_K.Key_D, _CTRL): lambda view: view.duplicate_selection(),
    _key(_K.Key_C, _CTRL): lambda view: view.copy_selection(),
    _key(_K.Key_X, _CTRL): lambda view: view.cut_selection(),
    _key(_K.Key_V, _CTRL): lambda view: view.paste(),
    _key(_K.Key_A, _CTRL): lambda view: view.select_all(),
    _key(_K.Key_F2): lambda view: view.rename(),
    _key(_K.Key_F9): lambda view: view.toggle_breakpoint(),
    _key(_K.Key_Home): lambda view: view.fit_all(),
    _key(_K.Key_Period): lambda view: view.fit_selection(),
    _key(_K.Key_0, _CTRL): lambda view: view.zoom_actual(),
    _key(_K.Key_Plus, _CTRL): lambda view: view.zoom_in(),
    _key(_K.Key_Equal, _CTRL): lambda view: view.zoom_in(),
    _key(_K.Key_Minus, _CTRL): lambda view: view.zoom_out(),
    _key(_K.Key_L, _CTRL | _SHIFT): lambda view: view.arrange(),
    _key(_K.Key_M, _CTRL | _SHIFT): lambda view: view.toggle_minimap(),
    _key(_K.Key_Return): _open,
    _key(_K.Key_Enter): _open,
    _key(_K.Key_F10, _SHIFT): lambda view: view.open_menu_at_focus(),
    _key(_K.Key_Menu): lambda view: view.open_menu_at_focus(),
}

SIDES: Mapping[str, Side] = {"left": "left", "right": "right", "up": "up", "down": "down"}
AXES: Mapping[str, Axis] = {"left": "x", "right": "x", "up": "y", "down": "y"}

ARROWS: Mapping[int, tuple[Direction, float, float]] = {
    _K.Key_Left.value: ("left", -1, 0),
    _K.Key_Right.value: ("right", 1, 0),
    _K.Key_Up.value: ("up", 0, -1),
    _K.Key_Down.value: ("down", 0, 1),
}

MODIFIERS = frozenset(k.value for k in (_K.Key_Shift, _K.Key_Control, _K.Key_Alt, _K.Key_Meta, _K.Key_AltGr))


OWN = frozenset({_key(_K.Key_Return), _key(_K.Key_Enter), _key(_K.Key_F10, _SHIFT), _key(_K.Key_Menu)})
"""Keys that no action has."""


def function_of(view: CanvasView, event: QKeyEvent) -> Function | None:
    """What a key does, keypad or not. In a window the keys are those of its actions, which a person may have changed:
    they come here only when the action does not apply to the selection, but may to what has the keyboard focus."""
    modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    if event.key() in (_K.Key_Plus, _K.Key_Equal):
        modifiers &= ~_SHIFT
    key = _key(_K(event.key()), modifiers)
    if key in OWN or not view.actions():
        return KEYS.get(key)
    return _by_action().get(_action_of(view, key))


def _action_of(view: CanvasView, key: int) -> str:
    """The id of the action that has this key now; "" for none."""
    written = QKeySequence(key).toString()
    wanted = _ALIASES.get(written, written)
    for action in (*view.actions(), *view.window().actions()):
        if any(shortcut.toString() == wanted for shortcut in action.shortcuts()):
            return action.objectName()
    return ""


@cache
def _by_action() -> Mapping[str, Function]:
    """What the actions do here, found by the keys that they have of their own."""
    own = {QKeySequence(keys).toString(): action.id for action in ACTIONS for keys in action.keys}
    found: dict[str, Function] = {}
    for key, function in KEYS.items():
        written = QKeySequence(key).toString()
        action = own.get(_ALIASES.get(written, written))
        if action is not None:
            found.setdefault(action, function)
    return found


_ALIASES = {"Shift+{": "Shift+[", "Shift+}": "Shift+]", "Backspace": "Del", "Ctrl+Backspace": "Ctrl+Del"}
"""Keys as they arrive, or that do the same, and as the action has them."""
