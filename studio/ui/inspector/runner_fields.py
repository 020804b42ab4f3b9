"""The fields of a conversation runner: its agents with their hand-offs, and the limits of a turn."""

from __future__ import annotations

from collections.abc import Sequence

from studio.document.agent_options import RunnerAgent, RunnerSettings
from studio.document.ids import make_id
from studio.document.model import RunnerNode
from studio.settings.profiles import read_profiles
from studio.ui.inspector import builder
from studio.ui.inspector.agent_fields import models, tokens_caption
from studio.ui.inspector.folds import Fold
from studio.ui.inspector.form import Form
from studio.ui.inspector.node_page import NodePage
from studio.ui.inspector.node_parts import NodePart, PartCard, PartCards
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.labels import Prose
from studio.ui.widgets.section import Section
from studio.ui.widgets.sources import counted

_LIMITS = tuple(f"settings.{name}" for name in RunnerSettings.model_fields)


class AgentCard(PartCard):
    """One agent of the runner."""

    def __init__(self, theme: Theme, target: NodePart, cards: PartCards) -> None:
        super().__init__(theme, target, cards)
        form = self.form
        hint = tr("The author of its messages, and the name of the tool with which others hand over to it.")
        self.add(builder.line(form, "name", tr("Name"), hint=hint, marked=False))
        self.add(
            builder.text(
                form, "instructions", tr("Instructions"), lines=4, marks="prompt", caption=tokens_caption, marked=False
            )
        )
        hint = tr("The others read it when they choose whom to hand over to.")
        self.add(builder.line(form, "specialty", tr("Specialty"), hint=hint))
        peers = builder.chips(
            form, "handoffs", tr("Hands over to"), self._peers, tr("Add an agent…"), label_of=self._name
        )
        peers.set_caption(tr("nobody: default"))
        self.add(peers)
        tools = builder.chips(form, "tools", tr("Tools"), self._tools, tr("Add a tool…"), icon="wrench")
        tools.set_caption(tr("none: default"))
        self.add(tools)
        servers = builder.chips(
            form, "mcp_servers", tr("MCP servers"), self._servers, tr("Add a server…"), icon="wrench"
        )
        servers.set_caption(tr("none: default"))
        self.add(servers)
        self._add_model()

    def _add_model(self) -> None:
        form = self.form
        model = builder.choice(
            form, "model", tr("Model"), models(self.workspace), free=tr("model of the profile"), none_if_empty=True
        )
        temperature = builder.number(form, "temperature", tr("Temperature"), least=0, most=2, placeholder=tr("default"))
        self.add(builder.beside((model, 0), (temperature, self.theme.length(110))))
        profiles: list[tuple[object, str]] = [(None, tr("that of the runner"))]
        profiles += [(p.name, p.name) for p in read_profiles()[0].profiles]
        tokens = builder.number(
            form, "max_tokens", tr("Tokens, at most"), least=1, most=1_000_000, whole=True, placeholder=tr("no limit")
        )
        provider = builder.choice(form, "profile", tr("Provider"), profiles)
        self.add(builder.beside((provider, 0), (tokens, self.theme.length(110))))

    def _agents(self) -> Sequence[RunnerAgent]:
        assert isinstance(self.target, NodePart)
        return self.target.items

    def _peers(self) -> Sequence[tuple[str, str]]:
        return [(a.id, a.name or a.id) for a in self._agents() if a.id != self.target.item.id]

    def _name(self, agent_id: str) -> str:
        return next((a.name or a.id for a in self._agents() if a.id == agent_id), agent_id)

    def _servers(self) -> Sequence[tuple[str, str]]:
        return [(m.name, m.name) for m in self.workspace.document.workflow.mcp_servers]

    def _tools(self) -> Sequence[tuple[str, str]]:
        return [(t.name, t.name) for t in self.workspace.document.workflow.tools if t.approval == "never"]

    def summary(self) -> str:
        agent: RunnerAgent = self.target.item
        words = [tr("starts")] if self.target.index == 0 else []
        if agent.handoffs:
            words.append("→ " + ", ".join(map(self._name, agent.handoffs)))
        return " · ".join(words)


class AgentCards(PartCards):
    """The agents of a runner; hand-offs follow what is added and removed."""

    def add(self, item: RunnerAgent) -> None:
        """A further agent; the first one can hand over to it."""
        agents = list(self.items())
        if agents:
            agents[0] = agents[0].model_copy(update={"handoffs": (*agents[0].handoffs, item.id)})
        self.execute(self._edit((*agents, item)), tr("Add an agent to {name}").format(name=self._name()))

    def remove(self, index: int) -> None:
        agents = self.items()
        if index >= len(agents):
            return
        gone = agents[index].id
        left = tuple(
            a.model_copy(update={"handoffs": tuple(h for h in a.handoffs if h != gone)}) if gone in a.handoffs else a
            for a in agents
            if a.id != gone
        )
        text = tr("Remove an agent of {name}").format(name=self._name())
        self.workspace.document.execute(self._edit(left), text)


def runner_fields(page: NodePage, form: Form) -> None:
    """Adds everything."""
    section = Section(page.theme, tr("Agents"))
    text = tr(
        "The first agent starts a conversation. Whoever has it at the end of a turn goes on with the next message."
    )
    hint = Prose(page.theme, text, "small", "muted", 15)
    hint.setContentsMargins(12, 0, 12, 4)
    section.add(hint)
    cards = AgentCards(page.theme, page.workspace, page.node_id, "agents", AgentCard, tr("agent"))
    cards.offer(tr("Add agent"), ((tr("Agent"), lambda: new_agent(page)),))
    section.add(cards)
    page.body.add(section)

    def refresh() -> None:
        cards.refresh()
        node = page.node
        assert isinstance(node, RunnerNode)
        section.set_summary(counted(len(node.agents), tr("1 agent"), tr("{count} agents")))

    form.follow(refresh)
    page.body.add(Fold(page.theme, form, tr("Limits of a turn"), _LIMITS, lambda fold: _fill_limits(page, fold)))
    provider = Section(page.theme, tr("Provider"), open_=False, gap=5)
    choices: list[tuple[object, str]] = [(None, tr("as chosen for the run"))]
    choices += [(p.name, p.name) for p in read_profiles()[0].profiles]
    hint_text = tr("For agents without a provider of their own.")
    provider.add(builder.choice(form, "profile", tr("Provider"), choices, hint=hint_text))
    form.follow(lambda: provider.set_summary(form.summary("profile")))
    page.body.add(provider)


def new_agent(page: NodePage) -> RunnerAgent:
    """An agent with a free name."""
    node = page.node
    assert isinstance(node, RunnerNode)
    taken = {a.name for a in node.agents}
    name = next(n for n in (tr("Agent"), *(f"{tr('Agent')} {i}" for i in range(2, 1000))) if n not in taken)
    return RunnerAgent(id=make_id(name, {a.id for a in node.agents}, "agent"), name=name)


def _fill_limits(page: NodePage, fold: Fold) -> None:
    form, width = fold.form, page.theme.length(126)
    calls = builder.number(
        form, "settings.max_tool_iterations", tr("Model calls"), least=1, most=10_000, whole=True, optional=False
    )
    calls.set_hint(tr("Then a fixed text ends the turn. Default: 10."))
    handoffs = builder.number(
        form, "settings.max_handoffs_per_turn", tr("Hand-offs"), least=0, most=1000, whole=True, optional=False
    )
    handoffs.set_hint(tr("Further ones are errors. Default: 5."))
    fold.add(builder.beside((calls, 0), (handoffs, width)))
    choices = (("rollback", tr("Undo the turn")), ("report", tr("Tell the model")))
    failing = builder.segments(form, "settings.tool_error", tr("When a tool fails"), choices)
    fold.add(failing)
    hint = tr("User messages with their answers that are kept, this one included. Empty: all. Default: 40.")
    fold.add(
        builder.number(
            form,
            "settings.history_turns",
            tr("Turns that are kept"),
            least=1,
            most=1_000_000,
            whole=True,
            placeholder=tr("all"),
            hint=hint,
        )
    )

    def refresh() -> None:
        failing.set_hint(
            tr("At run time: the run fails and the conversation is as before; what tools did outside stays. Default.")
            if form.target.read("settings.tool_error") == "rollback"
            else tr("At run time: the model reads that the tool failed, with a trace number, and goes on.")
        )

    form.follow(refresh)
