"""Steps of other programs that run here."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest
from studio.document.model import (
    AgentNode,
    DirectEdge,
    FanInEdge,
    FunctionNode,
    GenericNode,
    StateDecl,
    SubWorkflowNode,
    SwitchCase,
    SwitchEdge,
    TemplateNode,
    Workflow,
)
from studio.document.validate import problems
from studio.importers import read
from studio.importers.prompts import unused_prompts
from studio.importers.runnable import runnable

from tests.assembly.running import Bench

SAMPLES = Path(__file__).parent / "samples"


def one(kind: str, joins: bool = False, **extra: Any) -> Any:
    node = GenericNode.model_validate({"id": "n", "name": "N", "kind": kind, "description": "D", **extra})
    edges = (FanInEdge(id="f", sources=("a", "b"), target="n"),) if joins else ()
    found = runnable(Workflow(nodes=(node,), edges=edges)).nodes[0]
    assert (found.id, found.name, found.description) == ("n", "N", "D")
    return found


@pytest.mark.parametrize("kind", ["input", "switch"])
def test_what_only_passes_on(kind: str) -> None:
    assert one(kind).kind == "pass"


def test_an_end_takes_and_sends_nothing() -> None:
    found = one("end")
    assert (found.kind, found.sends, found.yields, found.accepts) == ("function", "", None, "any")
    assert "no_code" not in {p.code for p in problems(Workflow(start="n", nodes=(found,)))}


def test_an_output_yields() -> None:
    assert (one("output").kind, one("output").yields, one("output").sends) == ("function", "text", "")
    assert one("output", text="{{#g.output#}}").kind == "output"


def test_a_transform_is_a_template_or_a_join() -> None:
    assert one("transform").text == "{text}"
    assert one("transform", template="Say {text} to {state.name}").kind == "template"
    assert one("transform", template="Make a rhyme about {thing}.").kind == "transform"
    assert one("transform", expression="upper(x)").kind == "transform"
    assert one("transform", joins=True).kind == "join"
    assert one("transform", joins=True, template="A {text}").kind == "transform"


@pytest.mark.parametrize("kind", ["placeholder", "loop", "set_variable", "pass"])
def test_the_others_stay(kind: str) -> None:
    assert one(kind).kind == kind


def test_a_template_of_names_is_filled_and_kept() -> None:
    extra = {"template": "Dear {{ name }}!", "template_lang": "jinja", "save_output": "n.output"}
    state = (StateDecl(key="s.who", initial="you"),)
    for given, kind in (({"name": "s.who"}, "function"), ({"name": "x.unknown"}, "transform")):
        node = GenericNode.model_validate({"id": "n", "name": "N", "kind": "transform", **extra, "arguments": given})
        found = runnable(Workflow(nodes=(node,), state=state)).nodes[0]
        assert found.kind == kind
        if isinstance(found, FunctionNode):
            scope = {"ctx": (context := _Context({"s.who": "Ann"}))}
            exec(found.body, scope)
            assert (scope["result"], context["n.output"]) == ("Dear Ann!", "Dear Ann!")


class _Answering(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"path": self.path, "as": self.headers["Accept"]}).encode())

    def log_message(self, format: str, *args: Any) -> None:
        pass


def test_a_get_request_asks_and_one_that_sends_or_cannot_be_read_is_left() -> None:
    raising = "raise NotImplementedError('x')"
    extra = {
        "preset": "http",
        "whole": True,
        "method": "GET",
        "headers": {"Accept": "a/b"},
        "save_output": "Local.Found",
    }

    def made(**given: Any) -> FunctionNode:
        node = FunctionNode.model_validate({"id": "h", "name": "H", "body": raising, **extra, **given})
        state = (StateDecl(key="h.status_code", type="any"), StateDecl(key="s.q", initial="x"))
        found = runnable(Workflow(nodes=(node,), state=state)).nodes[0]
        assert isinstance(found, FunctionNode)
        return found

    with ThreadingHTTPServer(("127.0.0.1", 0), _Answering) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        for url, path in (
            (f"{address}/{{{{#s.q#}}}}/1", "/word/1"),
            (f'Concatenate("{address}/", Local.Name)', "/Ann"),
        ):
            scope = {"ctx": (context := _Context({"s.q": "word", "Local.Name": "Ann"})), "data": ""}
            exec(made(url=url).body, scope)
            assert context["Local.Found"] == {"path": path, "as": "a/b"}
            assert (context["h.status_code"], json.loads(scope["result"])["path"]) == (200, path)
        server.shutdown()
    for left in (
        {"url": "http://x/", "method": "POST"},
        {"url": "http://x/", "whole": None},
        {"url": "http://x/", "request_body": {"a": 1}},
        {"url": "http://x/{{#unknown.q#}}"},
        {"url": "={{ $json.url }}"},
        {"url": "http://x/", "headers": {"Authorization": "=Env.KEY"}},
        {"url": ""},
    ):
        assert made(**left).body == raising, left


def test_a_prompt_is_filled_in_front_of_its_agent() -> None:
    """The question itself is kept by a first step; a prompt in another language is left, and told."""
    agent = AgentNode.model_validate({"id": "a", "name": "A", "prompt": "Say it short: {{#sys.query#}}"})
    other = AgentNode.model_validate({"id": "b", "name": "B", "prompt": "{{ $json.text }}"})
    flow = runnable(Workflow(start="a", nodes=(agent, other), edges=(DirectEdge(id="e", source="b", target="a"),)))
    assert flow.start == "query__keep"
    ways = {(e.source, e.target) for e in flow.edges if isinstance(e, DirectEdge)}
    assert ways == {("query__keep", "a__prompt"), ("b", "a__prompt"), ("a__prompt", "a")}
    keep, prompt = flow.node("query__keep"), flow.node("a__prompt")
    assert isinstance(keep, FunctionNode)
    assert isinstance(prompt, FunctionNode)
    scope: dict[str, Any] = {"ctx": _Context(), "data": "Why?"}
    exec(keep.body, scope)
    exec(prompt.body, scope)
    assert scope["result"] == "Say it short: Why?"
    assert unused_prompts(flow) == ["b"]


def test_workflows_inside_too() -> None:
    inner = Workflow(nodes=(GenericNode(id="e", name="E", kind="end"),))
    found = runnable(Workflow(nodes=(SubWorkflowNode(id="s", name="S", embedded=inner),))).nodes[0]
    assert isinstance(found, SubWorkflowNode)
    assert found.embedded is not None
    assert isinstance(found.embedded.nodes[0], FunctionNode)


def test_an_imported_team_has_no_step_left_that_cannot_run() -> None:
    raw = read(SAMPLES / "autogen-studio" / "04_graph_flow.json").workflow
    assert "transform" in {node.kind for node in raw.nodes}
    assert [p.message for p in problems(runnable(raw)) if p.code == "cannot_run"] == []


def test_a_prompt_of_langflow_takes_what_comes_in_and_its_own_texts() -> None:
    flow = json.loads((SAMPLES / "langflow" / "01_prompt_and_model.json").read_text(encoding="utf-8"))
    fields = flow["data"]["nodes"][1]["data"]["node"]["template"]
    fields["template"]["value"] = "A {mood} rhyme about {thing}."
    fields["mood"] = {"name": "mood", "type": "str", "value": "glad"}
    found = runnable(read(json.dumps(flow)).workflow)
    assert [node.text for node in found.nodes if isinstance(node, TemplateNode)] == ["A glad rhyme about {text}."]


def test_an_output_with_a_text_of_its_own() -> None:
    assert one("output", text="Goes by parcel.").yields == "text"
    assert "joined(\"It's \", ctx.get_state('Local.X'))" in one("output", text="It's {Local.X}").body
    assert one("output", text="It's {{ other }}").kind == "output"


@pytest.mark.parametrize(
    ("value", "lang", "body"),
    [
        (1, "", "ctx.set_state('n', 1)"),
        (True, "", "ctx.set_state('n', True)"),
        ('state["n"] + 1', "python", "ctx.set_state('n', ctx.get_state('n') + 1)"),
        ('state["a"] == "x" or not state["b"]', "python", "ctx.get_state('a') == 'x' or not ctx.get_state('b')"),
    ],
)
def test_a_known_value_is_set_by_a_function(value: object, lang: str, body: str) -> None:
    found = one("set_variable", variable="n", value=value, lang=lang)
    assert (found.kind, found.accepts, found.sends) == ("function", "any", "any")
    assert body in found.body
    assert found.body.endswith("result = data")


@pytest.mark.parametrize(
    ("value", "lang"),
    [
        ("Local.N + 1", ""),
        ('"7" in reply["text"]', "python"),
        ("open('x')", "python"),
        ("state.n", "python"),
        (None, ""),
    ],
)
def test_what_is_written_in_another_language_or_may_do_anything_is_left(value: object, lang: str) -> None:
    assert one("set_variable", variable="n", value=value, lang=lang).kind == "set_variable"


class _Context(dict[str, Any]):
    """Shared state as the code of a function sees it."""

    def get_state(self, key: str) -> Any:
        return self.get(key)

    def set_state(self, key: str, value: Any) -> None:
        self[key] = value


@pytest.mark.parametrize(
    ("given", "before", "after"),
    [
        ({"value": "Local.N + 1", "lang": "powerfx"}, {}, 1),
        ({"value": "Local.N + 1", "lang": "powerfx"}, {"Local.N": "4"}, 5),
        ({"value": '"No. " & Local.N & Local.Missing', "lang": "powerfx"}, {"Local.N": 4}, "No. 4"),
        ({"value": "Len(Local.N) > 2 Or IsBlank(Local.N)", "lang": "powerfx"}, {"Local.N": "abc"}, True),
        ({"value": "Last(Local.N).name", "lang": "powerfx"}, {"Local.N": [{"name": "a"}, {"name": "b"}]}, "b"),
        ({"value": "Last(Local.N).name", "lang": "powerfx"}, {"Local.N": []}, None),
        ({"value": "Upper(System.LastMessage.Text)", "lang": "powerfx"}, {}, "WORD"),
        ({"value": "plain"}, {}, "plain"),
        ({"value": {"a": [1], "b": "=Local.N + 1"}}, {"Local.N": 1}, {"a": [1], "b": 2}),
        ({"value": "{Upper(Local.N)}: {Local.N}", "action": "settextvariable"}, {"Local.N": "a"}, "A: a"),
        ({"value": "N is {Local.N}.", "action": "settextvariable"}, {"Local.N": 2}, "N is 2."),
        ({"action": "resetvariable"}, {"Local.N": 9}, 3),
        ({"action": "clearallvariables"}, {"Local.N": 9}, None),
        ({"assignments": [{"variable": "Local.N", "value": "=2 * 3"}]}, {}, 6),
        ({"variable": "Local.N.a", "value": 1}, {"Local.N": {"b": 2}}, {"a": 1, "b": 2}),
        ({"action": "", "operation": "append", "value": "x", "constant": True}, {"Local.N": [1]}, [1, "x"]),
        ({"action": "", "operation": "+=", "value": 2, "constant": True}, {}, 2),
        ({"action": "", "operation": "over-write", "value": "Local.N"}, {"Local.N": 5}, 5),
        ({"action": "", "operation": "clear"}, {"Local.N": 5}, None),
    ],
)
def test_variables_are_set_as_the_other_program_sets_them(given: Any, before: dict[str, Any], after: Any) -> None:
    extra = {"id": "n", "name": "N", "kind": "set_variable", "variable": "Local.N", "action": "setvariable", **given}
    state = (StateDecl(key="Local.N", type="any", initial=3),)
    (node,) = runnable(Workflow(nodes=(GenericNode.model_validate(extra),), state=state)).nodes
    assert isinstance(node, FunctionNode)
    scope = {"ctx": (context := _Context(before)), "data": "word"}
    exec(node.body, scope)
    assert (context.get("Local.N"), scope["result"]) == (after, "word")


@pytest.mark.parametrize(
    "given",
    [
        {"value": "ForAll(Local.N, Value)", "lang": "powerfx"},
        {"value": {"a": "=ForAll(Local.N, Value)"}},
        {"action": "", "operation": "over-write", "value": "unknown.text"},
        {"action": "", "operation": "remove-first"},
        {"value": "Ask {{name}}", "action": "settextvariable"},
    ],
)
def test_values_in_another_language_are_left(given: Any) -> None:
    assert one("set_variable", **{"variable": "Local.N", "action": "setvariable", **given}).kind == "set_variable"


def test_a_loop_that_is_left_and_entered_again_stays_for_a_person() -> None:
    loop = GenericNode.model_validate({"id": "l", "name": "L", "kind": "loop", "items": "[1]", "items_lang": "json"})
    steps = tuple(GenericNode(id=i, name=i, kind="pass") for i in ("head", "body", "after"))
    switch = SwitchEdge(id="s", source="l", cases=(SwitchCase(id="c", target="body"),), default="after")
    edges = (DirectEdge(id="a", source="head", target="l"), DirectEdge(id="b", source="body", target="l"), switch)
    flow = Workflow(start="head", nodes=(loop, *steps), edges=edges)
    assert runnable(flow).nodes[0].kind == "function"
    away = (DirectEdge(id="d", source="body", target="after"), DirectEdge(id="e", source="after", target="head"))
    assert runnable(flow.model_copy(update={"edges": (*edges, *away)})).nodes[0].kind == "loop"


def test_what_is_asked_for_later_is_kept_as_text_object_or_field() -> None:
    schema = {"type": "object", "properties": {"score": {"type": "number"}}}
    extra = {"output_schema": schema, "save_object": "Local.Whole", "save_reply": "Local.Said"}
    agent = AgentNode.model_validate({"id": "a", "name": "A", **extra})
    flow = Workflow(start="a", nodes=(agent,), state=(StateDecl(key="a.score", type="any"),))
    save = runnable(flow).nodes[1]
    assert isinstance(save, FunctionNode)
    assert (save.id, save.accepts, save.sends) == ("a__save", "response", "response")
    for said, score in (('{"score": 4}', 4), ("[1]", None), ("no", None)):
        context = _Context()
        exec(save.body, {"ctx": context, "data": SimpleNamespace(agent_response=SimpleNamespace(text=said))})
        assert (context["a.score"], context["Local.Said"]) == (score, said)


async def test_what_became_runnable_runs() -> None:
    """A count that goes up, and a text on the way; what came in goes on."""
    nodes = tuple(
        GenericNode.model_validate({"id": item, "name": item, "kind": kind, **fields})
        for item, kind, fields in (
            ("zero", "set_variable", {"variable": "n", "value": 0}),
            ("up", "set_variable", {"variable": "n", "value": 'state["n"] + 1', "lang": "python"}),
            ("say", "output", {"text": "Counted."}),
            ("give", "output", {}),
        )
    )
    edges = tuple(
        DirectEdge(id=f"e{i}", source=a, target=b)
        for i, (a, b) in enumerate((("zero", "up"), ("up", "say"), ("say", "give")))
    )
    flow = runnable(Workflow(start="zero", nodes=nodes, edges=edges, state=(StateDecl(key="n", type="integer"),)))
    assert [p.message for p in problems(flow) if p.severity == "error"] == []
    bench = Bench()
    ran = await bench.run(flow, "in")
    await bench.source.close()
    assert ran.outputs == [("say", "Counted."), ("give", "in")]


def test_what_cannot_run_says_what_to_draw_instead() -> None:
    for kind, words in (("loop", "a switch that leads back"), ("placeholder", "what stood there is kept")):
        flow = Workflow(start="n", nodes=(GenericNode.model_validate({"id": "n", "name": "N", "kind": kind}),))
        (problem,) = [p for p in problems(flow) if p.code == "cannot_run"]
        assert problem.severity == "error"
        assert words in problem.message
