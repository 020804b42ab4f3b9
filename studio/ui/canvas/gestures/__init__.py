"""Gestures of the mouse: one object each, with start, move, finish and cancel; cancel leaves no trace."""

from studio.ui.canvas.gestures.bend import BendGesture
from studio.ui.canvas.gestures.connect import ConnectGesture
from studio.ui.canvas.gestures.gesture import Gesture, Pointer
from studio.ui.canvas.gestures.knife import KnifeGesture
from studio.ui.canvas.gestures.marquee import MarqueeGesture
from studio.ui.canvas.gestures.move import MoveGesture
from studio.ui.canvas.gestures.pan import PanGesture
from studio.ui.canvas.gestures.place import PlaceGesture
from studio.ui.canvas.gestures.resize import ResizeGesture

__all__ = [
    "BendGesture",
    "ConnectGesture",
    "Gesture",
    "KnifeGesture",
    "MarqueeGesture",
    "MoveGesture",
    "PanGesture",
    "PlaceGesture",
    "Pointer",
    "ResizeGesture",
]
