"""The code of a file, piece by piece, before it is accepted."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPlainTextEdit, QVBoxLayout, QWidget

from studio.document.model import Workflow
from studio.settings.trust import Part
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.highlight import CodeHighlighter
from studio.ui.widgets.labels import Label

_KINDS = {
    "body": "code of a node",
    "call": "function that is called",
    "condition": "condition",
    "module": "module",
    "tool": "tool",
    "mcp": "MCP server",
    "interpreter": "Python interpreter",
}


class CodeDialog(QDialog):
    """Read-only; *Trust this code* accepts all pieces."""

    trusted = Signal()

    def __init__(self, theme: Theme, workflow: Workflow, parts: list[Part], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("Code in {name}").format(name=workflow.name))
        self.resize(760, 560)
        code = QPlainTextEdit()
        code.setReadOnly(True)
        code.setFont(theme.font("code"))
        code.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        code.setPlainText("\n".join(_shown(workflow, part) for part in parts))
        code.setAccessibleName(tr("Code that waits to be accepted"))
        self._highlighter = CodeHighlighter(code.document(), theme, "python")
        buttons = QDialogButtonBox()
        close = buttons.addButton(tr("Close"), QDialogButtonBox.ButtonRole.RejectRole)
        accept = buttons.addButton(tr("Trust this code"), QDialogButtonBox.ButtonRole.AcceptRole)
        accept.setAutoDefault(False)
        close.setDefault(True)
        buttons.rejected.connect(self.reject)
        buttons.accepted.connect(self.accept)
        self.accepted.connect(self.trusted)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 14)
        column.setSpacing(10)
        column.addWidget(Label(theme, tr("This code runs on your computer, with your rights, when the workflow runs.")))
        column.addWidget(code, 1)
        column.addWidget(buttons)


def _shown(workflow: Workflow, part: Part) -> str:
    owner, _, rest = part.place.partition(".")  # writer.middleware.2: a piece around an agent
    node = workflow.node(owner)
    where = ", ".join([node.name, *([rest.replace(".", " ")] if rest else [])]) if node is not None else part.place
    kind = tr(_KINDS.get(part.kind, part.kind))
    return f"# {where}: {kind}\n{part.text.rstrip()}\n" if where else f"# {kind}\n{part.text.rstrip()}\n"
