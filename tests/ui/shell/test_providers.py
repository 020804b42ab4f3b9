"""Profiles, keys, probes and prices in the settings."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from studio.agents.prices import PriceTable
from studio.bridge.loop import run
from studio.bridge.provider_model import ProviderModel
from studio.settings import places
from studio.settings.prices import read_prices, write_prices
from studio.settings.profiles import Profile, Profiles, read_profiles, write_profiles
from studio.settings.secrets import KeychainState, Secrets
from studio.ui.settings_dialog.prices import PricesPage
from studio.ui.settings_dialog.probe_dialog import ProbeDialog
from studio.ui.settings_dialog.providers import ProvidersPage
from studio.ui.theme import Theme
from studio.ui.widgets.field import Field
from tests.fakes.provider_server import ProviderServer
from tests.waiting import until

KEY = "sk-canary-of-the-settings"


class NoKeychain(Secrets):
    """A machine without a key store."""

    async def keychain(self) -> KeychainState:
        return KeychainState(False, "This computer has no key store that can be used.")


def on_loop(qapp: QApplication, main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async def limited() -> None:
        async with asyncio.timeout(120):
            await main()

    run(qapp, limited)


@pytest.fixture
def page(qtbot: QtBot, theme: Theme) -> ProvidersPage:
    made = ProvidersPage(theme)
    qtbot.addWidget(made)
    made.resize(640, 600)
    made.show()
    return made


def fill(field: Field, text: str) -> None:
    field.editor.setText(text)  # type: ignore[attr-defined]


def test_a_profile_is_made_with_all_its_parts(page: ProvidersPage, qtbot: QtBot) -> None:
    page._add.click()
    form = page.form
    fill(form.name, "Team gateway")
    fill(form.url, " https://gateway.example/v1/chat/completions ")
    form.key._variable.setText("TEAM_KEY")
    form.model.setEditText("large-1")
    form._headers.setPlainText("X-Team: research\nX-Key: env:OTHER")
    fill(form._options["tries"], "5")
    fill(form._options["stall"], "30")
    form._proxy.show_value("none")
    form.switches._choices["answer_format"].show_value("json_object")
    form.switches._left_out.setText("top_p, temperature")
    with qtbot.waitSignal(page.profiles_changed):
        page._save.click()
    kept = read_profiles()[0].find("Team gateway")
    assert kept is not None
    assert (kept.key_ref, kept.base_url, kept.model) == ("env:TEAM_KEY", "https://gateway.example/v1", "large-1")
    assert kept.headers == {"X-Team": "research", "X-Key": "env:OTHER"}
    assert (kept.options.tries, kept.options.stall, kept.options.proxy) == (5, 30, "none")
    assert kept.switches == {"answer_format": "json_object", "left_out": ["temperature", "top_p"]}
    page._default.click()
    assert read_profiles()[0].default == "Team gateway"
    page._remove.click()
    assert [p.name for p in read_profiles()[0].profiles] == ["Offline model"]


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        (lambda f: fill(f.name, ""), "name", "Enter a name"),
        (lambda f: fill(f.url, "gateway"), "url", "http or https"),
        (lambda f: f._headers.setPlainText("no header"), "_headers_field", "Line 1 is no header"),
        (lambda f: fill(f._options["tries"], "many"), "tries", "from 1 to 10"),
        (lambda f: fill(f._options["stall"], "0"), "stall", "from 1 to"),
    ],
)
def test_what_cannot_be_is_said_at_its_field(
    page: ProvidersPage, change: Callable[[Any], None], field: str, words: str
) -> None:
    page._add.click()
    before = read_profiles()[0]
    change(page.form)
    page._save.click()
    shown = page.form._options.get(field) or getattr(page.form, field)
    assert words in shown.problem
    assert read_profiles()[0] == before


def test_another_kind_brings_its_address_and_variable(page: ProvidersPage) -> None:
    page._add.click()
    form = page.form
    for kind, url, reference in (
        ("groq", "https://api.groq.com/openai/v1", "env:GROQ_API_KEY"),
        ("ollama", "http://localhost:11434/v1", ""),
        ("azure_dated", "https://RESOURCE.openai.azure.com/openai/deployments/DEPLOYMENT", "env:AZURE_OPENAI_API_KEY"),
    ):
        form.kind.setCurrentIndex(form.kind.findData(kind))
        form._on_kind_activated(0)
        assert (form.url.editor.text(), form.key.reference) == (url, reference)  # type: ignore[attr-defined]
    assert form._options["api_version"].editor.text() == "2024-10-21"  # type: ignore[attr-defined]
    fill(form.url, "https://mine.example/v1")
    form.kind.setCurrentIndex(form.kind.findData("openai"))
    form._on_kind_activated(0)
    assert form.url.editor.text() == "https://mine.example/v1"  # type: ignore[attr-defined]


def test_without_a_key_store_a_typed_key_is_for_this_session_and_in_no_file(
    qtbot: QtBot, theme: Theme, qapp: QApplication
) -> None:
    async def main() -> None:
        model = ProviderModel(NoKeychain())
        page = ProvidersPage(theme, model)
        qtbot.addWidget(page)
        page.show()
        page._add.click()
        await until(lambda: "no key store" in page.form.key.field._hint.plain, "it says so")
        page.form.key._where.show_value("keychain")
        page.form.key._on_where_edited("keychain")
        assert page.form.key.kind == "session"
        page._save.click()
        assert page.form.key._key_field.problem == "Type the key."
        page.form.key._key.setText(KEY)
        page._save.click()
        await until(lambda: read_profiles()[0].profiles[-1].key_ref.startswith("session:"), "the profile is kept")
        kept = read_profiles()[0].profiles[-1]
        assert await model.secrets.resolve(kept.key_ref) == KEY
        assert page.form.key.typed == ""
        page.form.key._key.setText(KEY + "-2")
        page.form.model.setEditText("small-1")
        page._test.click()  # the key is stored first, then the dialog opens
        await until(lambda: page.findChild(ProbeDialog) is not None, "the test is offered")
        second = read_profiles()[0].profiles[-1]
        assert await model.secrets.resolve(second.key_ref) == KEY + "-2"
        page.findChild(ProbeDialog).reject()  # type: ignore[union-attr]
        page.form.key.show_reference("env:OTHER")
        page._save.click()
        assert read_profiles()[0].profiles[-1].key_ref == "env:OTHER"
        await until(lambda: not model.secrets._session, "keys that nothing refers to are forgotten")
        page.hide()
        await model.close()

    on_loop(qapp, main)
    written = [f.read_bytes() for f in places.config_dir().rglob("*") if f.is_file()]
    assert written
    assert not any(KEY.encode() in content for content in written)


def test_a_key_that_cannot_be_one_is_refused_where_it_is_typed(qtbot: QtBot, theme: Theme, qapp: QApplication) -> None:
    async def main() -> None:
        model = ProviderModel(NoKeychain())
        page = ProvidersPage(theme, model)
        qtbot.addWidget(page)
        page._add.click()
        page.form.key._where.show_value("session")
        page.form.key._key.setText("not a key at all")
        page._save.click()
        await until(lambda: "characters that no key has" in page.form.key._key_field.problem, "it is refused")
        assert read_profiles()[0].profiles[-1].key_ref.startswith("env:")
        await model.close()

    on_loop(qapp, main)


# ---------------------------------------------------------------------------------------------------------- probe


def test_a_probe_fills_its_table_and_its_settings_are_kept(qtbot: QtBot, theme: Theme, qapp: QApplication) -> None:
    async def main(server: ProviderServer) -> None:
        write_profiles(Profiles().with_profile(Profile("Here", "other", server.url, "", "small-1")))
        model = ProviderModel()
        page = ProvidersPage(theme, model)
        qtbot.addWidget(page)
        page._list.setCurrentRow(1)
        page._test.click()
        dialog = page.findChild(ProbeDialog)
        assert dialog is not None
        assert "12 small calls" in dialog._said.plain
        dialog._vision.setChecked(True)
        dialog.start()
        assert dialog._cancel.isVisible()
        await until(lambda: dialog._use.isVisible(), "the probe is done")
        found = {f.key: f.works for f in dialog.table.findings}
        assert (found["tools"], found["json_schema"], found["vision"]) == ("yes", "partly", "yes")
        assert "no price" in dialog._end.plain
        assert "limit_name" in dialog._end.plain
        assert not dialog._text.isVisible()
        dialog._raw.click()
        assert dialog._text.isVisible()
        assert '"superstep-no-such-model"' in dialog._text.toPlainText()
        dialog._copy.click()
        assert "Several tools at once\tyes" in QApplication.clipboard().text()
        dialog._use.click()
        await model.close()

    with ProviderServer("new_limit", "no_schema") as server:
        on_loop(qapp, lambda: main(server))
    kept = read_profiles()[0].find("Here")
    assert kept is not None
    assert kept.switches == {"limit_name": "max_completion_tokens", "answer_format": "json_object"}
    assert kept.probe["models"] == ["large-1", "small-1"]
    assert {"key": "vision", "works": "yes", "evidence": "a red picture was called “Red.”"} in kept.probe["found"]


def test_a_probe_can_be_cancelled_and_keeps_nothing(qtbot: QtBot, theme: Theme, qapp: QApplication) -> None:
    async def main(server: ProviderServer) -> None:
        before = Profile("Here", "other", server.url, "", "small-1")
        model = ProviderModel()
        dialog = ProbeDialog(theme, model, before)
        qtbot.addWidget(dialog)
        dialog.show()
        taken: list[Profile] = []
        dialog.taken.connect(taken.append)
        dialog.start()
        await until(lambda: dialog._progress.maximum() > 0, "a step has begun")
        dialog._cancel.click()
        await until(lambda: "Cancelled" in dialog._end.plain, "it says so")
        assert not model.probing
        assert not dialog._use.isVisible()
        assert taken == []
        dialog.hide()
        await model.close()

    with ProviderServer(pause=0.5) as server:
        on_loop(qapp, lambda: main(server))


def test_what_was_found_before_is_shown(qtbot: QtBot, theme: Theme) -> None:
    probe = {"date": "2026-11-30", "found": [{"key": "tools", "works": "no", "evidence": "none"}, {"works": "maybe"}]}
    dialog = ProbeDialog(theme, ProviderModel(), Profile("x", probe=probe))
    qtbot.addWidget(dialog)
    assert [f.key for f in dialog.table.findings] == ["tools"]
    assert dialog._end.plain == "Found on 2026-11-30."


def test_no_key_is_copied_with_what_was_found(qtbot: QtBot, theme: Theme) -> None:
    """A server may repeat the key in its answer; neither a known one nor one that looks like a key is copied."""
    model = ProviderModel()
    plain = "canary-that-looks-like-nothing"
    asyncio.run(model.secrets.store(plain, "session"))
    evidence = f"it said {KEY} and {plain}"
    probe = {"date": "2026-11-30", "found": [{"key": "tools", "works": "no", "evidence": evidence}]}
    dialog = ProbeDialog(theme, model, Profile("x", probe=probe))
    qtbot.addWidget(dialog)
    dialog._copy.click()
    assert QApplication.clipboard().text().endswith("\tno\tit said [secret] and [secret]")


# --------------------------------------------------------------------------------------------------------- prices


def test_prices_are_typed_into_a_table_and_kept(qtbot: QtBot, theme: Theme) -> None:
    page = PricesPage(theme)
    qtbot.addWidget(page)
    model = page.model
    model.add()
    for column, text in enumerate(("small-*", "openai", "0,25", "", "2", "eur", "2026-01-31", "their page")):
        assert model.setData(model.index(0, column), text), column
    model.add()
    model.move_up(1)
    table = PriceTable.from_toml(read_prices()[0])
    assert [p.match for p in table.prices] == ["model-name*", "small-*"]
    made = table.prices[1]
    assert (made.input, made.cached_input, made.output) == (Decimal("0.25"), None, Decimal(2))
    assert (made.currency, made.as_of, made.provider, made.source) == ("EUR", date(2026, 1, 31), "openai", "their page")
    model.remove(0)
    assert len(PriceTable.from_toml(read_prices()[0]).prices) == 1


@pytest.mark.parametrize(
    ("column", "text", "words"),
    [
        (0, "", "name of a model"),
        (1, "nobody", "kind of provider"),
        (2, "cheap", "as a number"),
        (4, "-1", "less than 0"),
        (5, "dollars", "three letters"),
        (6, "today", "year-month-day"),
    ],
)
def test_a_cell_that_cannot_be_stays_as_it_was(qtbot: QtBot, theme: Theme, column: int, text: str, words: str) -> None:
    page = PricesPage(theme)
    qtbot.addWidget(page)
    page.model.add()
    before = page.model.prices[0]
    assert not page.model.setData(page.model.index(0, column), text, Qt.ItemDataRole.EditRole)
    assert page.model.prices == [before]
    assert words in page._said.plain


def test_a_table_that_cannot_be_read_is_said(qtbot: QtBot, theme: Theme) -> None:
    write_prices("[[model]]\nmatch = 3\n")
    page = PricesPage(theme)
    qtbot.addWidget(page)
    assert "Entry 1 of the price table" in page._said.plain
