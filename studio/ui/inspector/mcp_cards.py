"""The MCP servers of a workflow in the inspector: how each is started or reached, its health and what it offers."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from studio.bridge.mcp_model import McpToolView, McpView
from studio.bridge.workspace import Workspace
from studio.document import tool_edits
from studio.document.model import McpServerDecl
from studio.ui.inspector import builder
from studio.ui.inspector.declared import Card, Cards, Declared
from studio.ui.inspector.form import Refused
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import Label, Prose
from studio.ui.widgets.section import Section
from studio.ui.widgets.sources import counted

_STATES = {
    "off": ("muted", "not started"),
    "starting": ("run_t", "starting…"),
    "ready": ("done_t", "ready"),
    "failed": ("fail_t", "failed"),
    "closed": ("muted", "stopped"),
}


class McpCard(Card):
    """One server."""

    def __init__(self, theme: Theme, target: Declared, remove: Callable[[int], None]) -> None:
        super().__init__(theme, target, remove)
        self._shown: McpView | None = None
        name = builder.line(self.form, "name", tr("Name"), mono=True, marked=False)
        choices = (("stdio", tr("A program")), ("http", tr("An address")))
        transport = builder.segments(self.form, "transport", tr("Reached as"), choices)
        self.add(name)
        self.add(transport)
        self._add_program()
        self._add_address()
        self._add_use()
        self._add_health()
        self.workspace.mcp.changed.connect(self._on_mcp_changed)

    def _add_program(self) -> None:
        form = self.form
        command = builder.line(form, "command", tr("Program"), placeholder="npx", mono=True, marked=False)
        arguments = builder.text(
            form, "arguments", tr("Arguments, one a line"), placeholder="-y\n@scope/server", lines=2, marked=False,
            typed=_lines_typed, shown=_lines_shown,
        )  # fmt: skip
        folder = builder.line(
            form, "folder", tr("Folder"), placeholder=tr("that of the workflow file"), mono=True, marked=False
        )
        hint = tr("NAME=value, one a line. It gets these and the few that every program needs. env:NAME reads a "
                  "variable of yours when it starts, so that no key stands in the file.")  # fmt: skip
        environment = builder.text(
            form, "environment", tr("Variables"), placeholder="GITHUB_TOKEN=env:GITHUB_TOKEN", lines=2, marked=False,
            hint=hint, typed=lambda text: _pairs_typed(text, "="), shown=lambda v: _pairs_shown(v, "="),
        )  # fmt: skip
        self._program = (command, arguments, folder, environment)
        for field in self._program:
            self.add(field)

    def _add_address(self) -> None:
        url = builder.line(
            self.form, "url", tr("Address"), placeholder="https://example.com/mcp", mono=True, marked=False
        )
        hint = tr("Name: value, one a line; env:NAME stands for a secret.")
        headers = builder.text(
            self.form, "headers", tr("Headers"), placeholder="Authorization: Bearer env:EXAMPLE_TOKEN", lines=2,
            marked=False, hint=hint, typed=lambda text: _pairs_typed(text, ":"), shown=lambda v: _pairs_shown(v, ": "),
        )  # fmt: skip
        self._address = (url, headers)
        for field in self._address:
            self.add(field)

    def _add_use(self) -> None:
        choices = (
            ("unless_read_only", tr("Unless it only reads")), ("always", tr("Always")), ("never", tr("Never")),
        )  # fmt: skip
        hint = tr("That a tool only reads is what its server says.")
        self.add(builder.segments(self.form, "approval", tr("Ask before a call"), choices, hint=hint))
        seconds = builder.number(
            self.form, "timeout", tr("Seconds of a call, at most"), least=0.1, most=86_400, optional=False
        )
        self.add(seconds)
        taken = builder.chips(
            self.form, "tools", tr("Tools that are taken"), self._offered, tr("Only…"), icon="wrench",
            hint=tr("None chosen: all of them. Start the server to choose from its list."),
            typed=lambda names: tuple(names) or None,
        )  # fmt: skip
        self.add(taken)

    def _offered(self) -> Sequence[tuple[str, str]]:
        view = self.workspace.mcp.view(self.target.item)
        return [(tool.name, tool.name) for tool in view.tools]

    def _add_health(self) -> None:
        self._trust = Prose(self.theme, "", "small", "wait_t", 15)
        self._trust.setContentsMargins(12, 10, 12, 0)
        self._command = Prose(self.theme, "", "code-small", "text", 16)
        self._command.setContentsMargins(12, 3, 12, 0)
        self._accept = Button(self.theme, tr("Trust and start"), "shield-alert", small=True)
        self._start = Button(self.theme, tr("Start"), "own:play", small=True)
        self._stop = Button(self.theme, tr("Stop"), kind="plain", small=True)
        self._state = Label(self.theme, "", "small", "muted")
        self._state.setObjectName("mcp_state")
        self._accept.clicked.connect(self._on_accept_clicked)
        self._start.clicked.connect(self._on_start_clicked)
        self._stop.clicked.connect(self._on_stop_clicked)
        row = QWidget()
        line = QHBoxLayout(row)
        line.setContentsMargins(12, 7, 12, 0)
        line.setSpacing(6)
        for button in (self._accept, self._start, self._stop):
            line.addWidget(button)
        line.addWidget(self._state)
        line.addStretch(1)
        self._problem = Prose(self.theme, "", "small", "fail_t", 15)
        self._problem.setContentsMargins(12, 5, 12, 0)
        self._tools = Section(self.theme, tr("What it offers"), open_=False, gap=6)
        self._log = Section(self.theme, tr("What it printed"), open_=False, gap=0)
        for widget in (self._trust, self._command, row, self._problem, self._tools, self._log):
            self.add(widget)

    # ------------------------------------------------------------------------------------------------------- show

    def refresh(self) -> None:
        super().refresh()
        server: McpServerDecl = self.target.item
        for field in self._program:
            field.setVisible(server.transport == "stdio")
        for field in self._address:
            field.setVisible(server.transport == "http")
        self._refresh_health()

    def _refresh_health(self) -> None:
        server: McpServerDecl = self.target.item
        complete = bool(server.command.strip() if server.transport == "stdio" else server.url.strip())
        accepted = complete and self.workspace.mcp.is_accepted(server)
        self._trust.setVisible(complete and not accepted)
        self._command.setVisible(complete and not accepted)
        self._accept.setVisible(complete and not accepted)
        self._start.setVisible(accepted)
        if complete and not accepted:
            self._show_question(server)
        view = self.workspace.mcp.view(server)
        self._stop.setVisible(view.state in ("starting", "ready"))
        self._start.setText(tr("Start") if view.state in ("off", "closed") else tr("Restart"))
        self.set_summary(self.summary())
        if view == self._shown:
            return
        self._shown = view
        tone, words = _STATES[view.state]
        self._state.set_tone(tone)
        self._state.setText(tr(words) + (tr(" · process {pid}").format(pid=view.pid) if view.pid else ""))
        self._problem.set_text(view.problem)
        self._problem.setVisible(bool(view.problem))
        self._show_tools(view.tools)
        _fill(self._log, [Prose(self.theme, "\n".join(view.log), "code-small", "text2", 16)] if view.log else [])
        self._log.setVisible(bool(view.log))

    def _show_question(self, server: McpServerDecl) -> None:
        if server.transport == "http":
            question = tr("This address gets what the model gives to its tools, and the headers. Trust it?")
        else:
            question = tr("This program runs on your computer, with your rights. Trust this command line?")
        self._trust.set_text(question)
        shown = self.workspace.mcp.part(server).text
        path = shutil.which(server.command) if server.transport == "stdio" else None
        self._command.set_text(shown + (f"\n{tr('found at: {path}').format(path=path)}" if path else ""))

    def _show_tools(self, tools: Sequence[McpToolView]) -> None:
        self._tools.setVisible(bool(tools))
        self._tools.set_summary(counted(len(tools), tr("1 tool"), tr("{count} tools")))
        _fill(self._tools, [_ToolRow(self.theme, tool) for tool in tools])

    def summary(self) -> str:
        server: McpServerDecl = self.target.item
        return tr(_STATES[self.workspace.mcp.view(server).state][1])

    # ------------------------------------------------------------------------------------------------------- act

    def _on_mcp_changed(self, name: str) -> None:
        try:
            if name == self.target.item.name:
                self._refresh_health()
        except KeyError:
            return  # its server was taken out; so is this card in a moment

    def _on_accept_clicked(self) -> None:
        self.workspace.mcp.accept(self.target.item)
        self.workspace.mcp.start(self.target.item)

    def _on_start_clicked(self) -> None:
        self.workspace.mcp.start(self.target.item)

    def _on_stop_clicked(self) -> None:
        self.workspace.mcp.stop(self.target.item)


class _ToolRow(QWidget):
    """A tool: name, what its server says about it, and the schema of its arguments on demand."""

    def __init__(self, theme: Theme, tool: McpToolView) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 4, 12, 4)
        column.setSpacing(1)
        top = QHBoxLayout()
        top.setSpacing(6)
        name = Label(theme, tool.name, "code-small", "text")
        top.addWidget(name)
        words = tr("asks first") if tool.asks else tr("only reads") if tool.reads_only else tr("runs at once")
        top.addWidget(Label(theme, words, "small", "muted"))
        top.addStretch(1)
        more = Button(theme, tr("Schema"), kind="link")
        more.setProperty("looks", True)
        more.setAccessibleName(tr("Schema of {name}").format(name=tool.name))
        top.addWidget(more)
        column.addLayout(top)
        if tool.description:
            column.addWidget(Prose(theme, tool.description, "small", "text2", 15))
        schema = Prose(theme, json.dumps(tool.schema, indent=2, ensure_ascii=False), "code-small", "text2", 16)
        schema.hide()
        column.addWidget(schema)
        more.clicked.connect(lambda: schema.setVisible(not schema.isVisible()))


class McpCards(Cards):
    """All servers, and *Add server*."""

    def __init__(self, theme: Theme, workspace: Workspace) -> None:
        change, remove = tool_edits.set_server, tool_edits.remove_server
        super().__init__(theme, workspace, "mcp_servers", McpCard, change, remove, tr("MCP server"))
        add = Button(theme, tr("Add MCP server"), "own:plus", small=True)
        add.clicked.connect(self._on_add_clicked)
        self.buttons.addWidget(add)
        self.buttons.addStretch(1)

    def _on_add_clicked(self) -> None:
        self.execute(tool_edits.add_server(self.workspace.document.workflow), tr("Add MCP server"))


def _fill(section: Section, widgets: Sequence[QWidget]) -> None:
    while (item := section.body.takeAt(0)) is not None:
        widget = item.widget()
        if widget is not None:
            widget.hide()
            widget.deleteLater()
    for widget in widgets:
        section.add(widget)


def _lines_typed(text: str) -> object:
    return tuple(line for line in text.split("\n") if line.strip())


def _lines_shown(value: Sequence[str]) -> str:
    return "\n".join(value)


def _pairs_typed(text: str, sign: str) -> object:
    found: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        name, between, value = line.partition(sign)
        if not between or not name.strip():
            raise Refused(tr("Line {number} has no {sign}: write a name and a value.").format(number=number, sign=sign))
        found[name.strip()] = value.strip()
    return found


def _pairs_shown(value: dict[str, str], sign: str) -> str:
    return "\n".join(f"{name}{sign}{text}" for name, text in value.items())
