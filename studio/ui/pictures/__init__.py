"""Pictures of a drawing."""

from studio.export.picture_look import PictureLook
from studio.ui.pictures.render import as_png, as_svg

__all__ = ["PictureLook", "as_png", "as_svg"]
