"""What a model can do: a table that fills while a few small calls are made, and the settings that follow from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QGridLayout, QHBoxLayout, QPlainTextEdit, QProgressBar, QVBoxLayout, QWidget

from studio.agents.messages import Usage
from studio.agents.probe import MOST_CALLS, MOST_TOKENS, Finding, ProbeResult
from studio.bridge.provider_model import ProviderModel
from studio.settings.profiles import Profile
from studio.ui.paint.numbers import count_text
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button, CheckBox
from studio.ui.widgets.costs import cost_words
from studio.ui.widgets.labels import IconLabel, Label, Prose

TITLES: Mapping[str, str] = {
    "connection": "Connection and key",
    "models": "List of models",
    "streaming": "Streaming",
    "usage": "Token counts",
    "tools": "Tools",
    "parallel_tools": "Several tools at once",
    "tool_results": "Results of tools",
    "forced_tool": "A tool can be forced",
    "json_schema": "JSON Schema",
    "vision": "Pictures",
    "model_name": "Refuses unknown models",
}
_STEPS = {
    "models": "Asking for the list of models",
    "stream": "Asking for one word",
    "tools": "Offering a tool",
    "tool_results": "Giving the results of the tool",
    "forced_tool": "Forcing a tool",
    "json_schema": "Asking for an answer by a schema",
    "vision": "Sending a small picture",
    "model_name": "Asking a model that does not exist",
}
_MARKS = {
    "yes": ("check", "done_t", "works"),
    "partly": ("own:info", "wait_t", "works in part"),
    "no": ("x", "fail_t", "does not work"),
    "not tried": ("own:minus", "muted", "not tried"),
}


class ProbeTable(QWidget):
    """A row per capability: mark, name, evidence."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 4, 0, 4)
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(5)
        self._grid.setColumnStretch(2, 1)
        self.findings: list[Finding] = []

    def clear(self) -> None:
        """Takes all rows out."""
        self.findings = []
        while (item := self._grid.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()

    def add(self, finding: Finding) -> None:
        """One row more."""
        row = len(self.findings)
        self.findings.append(finding)
        icon, tone, words = _MARKS[finding.works]
        mark = IconLabel(self._theme, icon, 14, tone)
        mark.setAccessibleName(tr(words))
        mark.setToolTip(tr(words))
        top = Qt.AlignmentFlag.AlignTop
        self._grid.addWidget(mark, row, 0, top)
        self._grid.addWidget(Label(self._theme, tr(TITLES.get(finding.key, finding.key)), "body", "text"), row, 1, top)
        self._grid.addWidget(Prose(self._theme, finding.evidence, "body", "text2", 17), row, 2, top)


class ProbeDialog(QDialog):
    """*Start* asks; *Use these settings* keeps what was found with the profile."""

    taken = Signal(object)
    """The profile with switches and results."""

    def __init__(self, theme: Theme, model: ProviderModel, profile: Profile, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("probe")
        self.setWindowTitle(tr("What {model} can do").format(model=profile.model or profile.name))
        self.resize(620, 520)
        self._theme, self._model, self._profile = theme, model, profile
        self._result: ProbeResult | None = None
        words = tr("At most {calls} small calls of about {tokens} tokens in all are sent to {url}; a provider that is "
                   "paid takes money for them. Nothing of your workflows is sent.")  # fmt: skip
        self._said = Prose(
            theme, words.format(calls=MOST_CALLS, tokens=count_text(MOST_TOKENS), url=profile.base_url), "body", "text2"
        )
        self._vision = CheckBox(theme, tr("Also send a small picture"))
        self._vision.setObjectName("probe.vision")
        self._progress = QProgressBar()
        self._progress.setTextVisible(False)
        self._progress.setFixedHeight(4)
        self._step = Label(theme, "", "small", "muted")
        self.table = ProbeTable(theme)
        self._end = Prose(theme, "", "body", "text")
        self._end.setObjectName("probe.end")
        self._start = Button(theme, tr("Start"), kind="primary")
        self._cancel = Button(theme, tr("Cancel"))
        self._copy = Button(theme, tr("Copy"), kind="plain")
        self._raw = Button(theme, tr("What was sent"), kind="plain")
        self._raw.setCheckable(True)
        self._text = QPlainTextEdit()
        self._text.setReadOnly(True)
        self._text.setFont(theme.font("code-small"))
        self._text.setAccessibleName(tr("Requests and answers"))
        self._use = Button(theme, tr("Use these settings"), kind="primary")
        self._close = Button(theme, tr("Close"))
        self._lay_out()
        self._connect()
        self._show_known()

    def _lay_out(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 14)
        column.setSpacing(8)
        for widget in (self._said, self._vision, self._progress, self._step, self.table, self._end):
            column.addWidget(widget)
        column.addWidget(self._text, 1)
        column.addStretch(0)
        self._text.hide()
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self._copy)
        row.addWidget(self._raw)
        row.addStretch(1)
        for button in (self._close, self._cancel, self._start, self._use):
            button.setAutoDefault(False)
            row.addWidget(button)
        column.addLayout(row)

    def _connect(self) -> None:
        self._start.clicked.connect(self.start)
        self._cancel.clicked.connect(self._model.cancel_probe)
        self._copy.clicked.connect(self._on_copy_clicked)
        self._raw.toggled.connect(self._text.setVisible)
        self._use.clicked.connect(self._on_use_clicked)
        self._close.clicked.connect(self.reject)
        self._model.step_began.connect(self._on_model_step_began)
        self._model.found.connect(self.table.add)
        self._model.probed.connect(self._on_model_probed)
        self.finished.connect(self._model.cancel_probe)

    def _show_known(self) -> None:
        """What an earlier probe found."""
        found = kept_findings(self._profile.probe)
        for finding in found:
            self.table.add(finding)
        when = str(self._profile.probe.get("date", ""))
        self._end.set_text(tr("Found on {date}.").format(date=when) if found else "")
        self._show(running=False)

    def _show(self, *, running: bool) -> None:
        self._progress.setVisible(running)
        self._step.setVisible(running)
        self._cancel.setVisible(running)
        self._start.setVisible(not running)
        self._start.setText(tr("Ask again") if self.table.findings else tr("Start"))
        self._close.setVisible(not running)
        self._use.setVisible(not running and self._result is not None)
        self._start.kind = "framed" if self._use.isVisible() else "primary"
        self._copy.setVisible(bool(self.table.findings))
        self._raw.setVisible(not running and bool(self._text.toPlainText()))
        self._text.setVisible(self._raw.isChecked() and not self._raw.isHidden())
        self._vision.setEnabled(not running)

    def start(self) -> None:
        """Begins to ask."""
        self._result = None
        self.table.clear()
        self._text.clear()
        self._end.set_text("")
        self._progress.setRange(0, 0)
        self._step.setText(tr("Loading…"))
        self._show(running=True)
        self._model.probe(self._profile, vision=self._vision.isChecked())

    def _on_model_step_began(self, step: str, number: int, count: int) -> None:
        self._progress.setRange(0, count)
        self._progress.setValue(number - 1)
        self._step.setText(tr("{step}, {number} of {count}").format(
            step=tr(_STEPS.get(step, step)), number=number, count=count))  # fmt: skip

    def _on_model_probed(self, result: object) -> None:
        if isinstance(result, ProbeResult):
            self._result = result if not result.stopped else None
            self._end.set_text(self._end_words(result))
            self._text.setPlainText(result.said)
        else:
            self._end.set_text(str(result) or tr("Cancelled. Nothing was kept."))
        self._show(running=False)

    def _end_words(self, result: ProbeResult) -> str:
        if result.stopped:
            return tr("Stopped: {reason}").format(reason=result.stopped)
        usage = result.usage
        words = [tr("{count} calls").format(count=result.calls)]
        if usage is None or usage.input is None:
            words.append(tr("tokens not told"))
        else:
            words.append(tr("{count} tokens").format(count=count_text((usage.input or 0) + (usage.output or 0))))
        words.append(cost_words(_priced(self._profile, usage)) or tr("no price"))
        changed = _table(self._profile.kind, result)
        picked = tr("Settings that follow: {names}.").format(names=", ".join(changed)) if changed else tr(
            "The usual settings fit.")  # fmt: skip
        return f"{' · '.join(words)}. {picked}"

    def _on_use_clicked(self) -> None:
        if self._result is None:
            return
        result = self._result
        kept: dict[str, Any] = {
            "date": datetime.now(UTC).date().isoformat(),
            "model": self._profile.model,
            "models": list(result.models)[:500],
            "found": [{"key": f.key, "works": f.works, "evidence": f.evidence} for f in result.findings],
        }
        self.taken.emit(replace(self._profile, switches=_table(self._profile.kind, result), probe=kept))
        self.accept()

    def _on_copy_clicked(self) -> None:
        from studio.agents.redaction import redact

        text = "\n".join(f"{TITLES.get(f.key, f.key)}\t{f.works}\t{f.evidence}" for f in self.table.findings)
        QGuiApplication.clipboard().setText(str(redact(text, self._model.secrets.known)))


def kept_findings(probe: Mapping[str, Any]) -> Sequence[Finding]:
    """The findings in a profile; entries that are none are left out."""
    rows = probe.get("found", ())
    return [
        Finding(str(r.get("key")), r["works"], str(r.get("evidence", "")))
        for r in (rows if isinstance(rows, list) else ())
        if isinstance(r, dict) and r.get("works") in _MARKS
    ]


def _table(kind: str, result: ProbeResult) -> dict[str, Any]:
    from studio.assembly.profile_client import switches_table

    return switches_table(kind, result.switches)


def _priced(profile: Profile, usage: Usage | None) -> Usage | None:
    from studio.assembly.price_book import PriceBook

    return PriceBook().priced(profile.kind, profile.model, usage)
