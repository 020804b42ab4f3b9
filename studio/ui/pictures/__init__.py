"""Pictures of a drawing."""

from studio.ui.pictures.render import PictureLook, as_png, as_svg

__all__ = ["PictureLook", "as_png", "as_svg"]
