"""All actions, as data: menus, tool bar, shortcuts, tooltips and the command palette are made from this list.

An action is drawn only where the window has a function for it. What an action needs in order to apply is asked of a
:class:`Situation`; the answer is a reason, so that a disabled control can say why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

Page = Literal["welcome", "workflow", "export", "compare"]
Reason = str
"""Why an action does not apply; empty: it applies."""

_LONGEST_STEP = 60
NO_WORKFLOW = "No workflow is open."
NO_SELECTION = "Nothing is selected."
NOT_HERE = "The drawing of an earlier run cannot be changed. Open it as a copy."


@dataclass(frozen=True, slots=True)
class Situation:
    """What decides which actions apply, and how some are called, at this moment."""

    page: Page = "welcome"
    undo: str | None = None
    """Text of the step that undo takes back; None if there is none."""
    redo: str | None = None
    selected: tuple[str, ...] = ()
    selected_node: str | None = None
    """The one selected node."""
    kinds: frozenset[str] = frozenset()
    """What is among the selection: node, join, junction, line, frame, note; more words where one thing is selected:
    direct, ruled, linked, embedded, output (see :func:`studio.ui.window.situation.kinds_of`)."""
    checkpoint: str | None = None
    """The checkpoint that is looked at."""
    requests: int = 0
    problems: int = 0
    dirty: bool = False
    read_only: bool = False
    """The drawing of an earlier run is shown."""
    paused: bool = False
    run: Mapping[str, str] = field(default_factory=dict)
    """Run command -> why it does not apply; a missing command applies."""
    failure_held: bool = False
    """A node failed, and its superstep is not given up yet."""
    checked: frozenset[str] = frozenset()
    """Ids of checkable actions that are on."""


def always(_now: Situation) -> Reason:
    return ""


def on_workflow(now: Situation) -> Reason:
    return "" if now.page == "workflow" else NO_WORKFLOW


def saved(now: Situation) -> Reason:
    """A workflow without unsaved changes is shown: another window opens its file."""
    return on_workflow(now) or ("Save the changes first: the other window opens the file." if now.dirty else "")


def on_tab(now: Situation) -> Reason:
    """The workflow or its exported code is shown."""
    return "" if now.page != "welcome" else NO_WORKFLOW


def on_selection(now: Situation) -> Reason:
    return on_workflow(now) or ("" if now.selected else NO_SELECTION)


def on_node(now: Situation) -> Reason:
    return on_workflow(now) or ("" if now.selected_node else "Select one node.")


def on_one(now: Situation) -> Reason:
    return on_workflow(now) or ("" if len(now.selected) == 1 else "Select one node or edge.")


def editing(rule: Callable[[Situation], Reason]) -> Callable[[Situation], Reason]:
    """What changes the drawing applies where ``rule`` says, and not to one that is only looked at."""

    def why(now: Situation) -> Reason:
        return rule(now) or (NOT_HERE if now.read_only else "")

    return why


to_edit, to_edit_selection = editing(on_workflow), editing(on_selection)


def on_several(least: int) -> Callable[[Situation], Reason]:
    """That many items with a place of their own."""

    def why(now: Situation) -> Reason:
        words = {2: "Select two items.", 3: "Select three items."}
        return on_workflow(now) or ("" if len(now.selected) >= least else words[least])

    return why


def on_only(wanted: frozenset[str], otherwise: Reason) -> Callable[[Situation], Reason]:
    """One item of one of these kinds."""

    def why(now: Situation) -> Reason:
        return on_workflow(now) or ("" if len(now.selected) == 1 and now.kinds & wanted else otherwise)

    return why


def to_edit_only(wanted: frozenset[str], otherwise: Reason) -> Callable[[Situation], Reason]:
    """The same, to change the drawing."""
    return editing(on_only(wanted, otherwise))


_TWO, _THREE, _ANY = editing(on_several(2)), editing(on_several(3)), editing(on_one)
_ENDS = to_edit_only(frozenset({"node", "join", "junction"}), "Select one node, switch or fan-out.")
_WAYS = to_edit_only(frozenset({"node", "join", "junction", "line"}), "Select one node or edge.")
_CARD = to_edit_only(frozenset({"node", "join"}), "Select one node.")
_OUTPUT = to_edit_only(frozenset({"output"}), "Select one node that gives an output.")
_NODE = to_edit_only(frozenset({"node"}), "Select one node that is not a join.")
_LINE = to_edit_only(frozenset({"line"}), "Select one edge.")
_DIRECT = to_edit_only(frozenset({"direct"}), "Select one direct edge.")
_RULED = to_edit_only(frozenset({"ruled"}), "Select one edge that can have a condition.")
_LINKED = to_edit_only(frozenset({"linked"}), "Select a sub-workflow that is linked to a file.")
_EMBEDDED = to_edit_only(frozenset({"embedded"}), "Select a sub-workflow that is embedded.")


def _frame_text(now: Situation) -> str:
    return "Remove the frame" if now.kinds == {"frame"} else "Frame around selection"


def on_node_run(command: str) -> Callable[[Situation], Reason]:
    """A run command on the selected node."""

    def why(now: Situation) -> Reason:
        return on_node(now) or now.run.get(command, "")

    return why


def on_checkpoint(command: str) -> Callable[[Situation], Reason]:
    def why(now: Situation) -> Reason:
        return _on_any_checkpoint(now) or now.run.get(command, "")

    return why


def _on_any_checkpoint(now: Situation) -> Reason:
    return on_tab(now) or ("" if now.checkpoint else "Select a checkpoint.")


def on_run(command: str) -> Callable[[Situation], Reason]:
    def why(now: Situation) -> Reason:
        return on_tab(now) or now.run.get(command, "")

    return why


def _undoable(now: Situation) -> Reason:
    return "" if now.undo is not None else "Nothing to undo."


def _redoable(now: Situation) -> Reason:
    return "" if now.redo is not None else "Nothing to redo."


def _waiting(now: Situation) -> Reason:
    return on_workflow(now) or ("" if now.requests else "Nobody is waiting for you.")


def _with_problems(now: Situation) -> Reason:
    return on_workflow(now) or ("" if now.problems else "No problems.")


def _undo_text(now: Situation) -> str:
    return f"Undo {_shortened(_lower(now.undo))}" if now.undo else "Undo"


def _redo_text(now: Situation) -> str:
    return f"Redo {_shortened(_lower(now.redo))}" if now.redo else "Redo"


def _run_text(now: Situation) -> str:
    return "Continue" if now.paused else "Run"


def _retry_text(now: Situation) -> str:
    return "Run the failed node again" if now.failure_held else "Retry from the last checkpoint"


def _shortened(text: str) -> str:
    """A menu is as wide as its longest entry, and names can have hundreds of characters."""
    return text if len(text) <= _LONGEST_STEP else f"{text[: _LONGEST_STEP - 1].rstrip()}…"


def _lower(text: str) -> str:
    """A step's text inside a sentence: "Move Writer" becomes "move Writer"; names and abbreviations keep their case."""
    return text[0].lower() + text[1:] if text[1:2].islower() or text[1:2] == " " else text


@dataclass(frozen=True, slots=True)
class Action:
    """One action. ``keys`` are portable key sequences, the first is shown; ``mac`` are further ones on macOS.

    ``context``: ``window`` keys work everywhere in the window, ``canvas`` keys only with the focus on the canvas or
    outline, so that single letters stay usable in text fields. ``section`` separates groups in a menu."""

    id: str
    text: str
    menu: str = ""
    section: int = 0
    icon: str = ""
    keys: tuple[str, ...] = ()
    mac: tuple[str, ...] = ()
    context: Literal["window", "canvas"] = "window"
    why_not: Callable[[Situation], Reason] = always
    text_now: Callable[[Situation], str] | None = None
    hint: str = ""
    """One sentence for the tooltip; the text alone if empty."""
    checkable: bool = False
    palette: bool = True
    """Whether the command palette lists it."""
    submenu: str = ""
    """Name of a submenu of ``menu`` in which the action stands."""


MENUS = ("File", "Edit", "View", "Insert", "Node", "Run", "Checkpoints", "Window", "Help")

FILE = (
    Action("file.new", "New workflow", "File", 0, "plus", ("Ctrl+N",)),
    Action("file.new_window", "New window", "File", 0, "", ("Ctrl+Shift+N",),
           hint="Another window, empty: a process of its own"),
    Action("file.open_in_window", "Open in new window", "File", 0, "", why_not=saved,
           hint="The file of this tab in another window, too"),
    Action("file.open", "Open…", "File", 0, "folder-open", ("Ctrl+O",)),
    Action("file.import", "Import…", "File", 0, "own:code", ("Ctrl+Shift+I",),
           hint="Take over a workflow of another program: code, YAML or JSON"),
    Action("file.save", "Save", "File", 1, "own:save", ("Ctrl+S",), why_not=editing(on_tab)),
    Action("file.save_as", "Save as…", "File", 1, "", ("Ctrl+Shift+S",), why_not=editing(on_tab)),
    Action("file.export", "Export code", "File", 2, "own:code", ("Ctrl+Shift+E",), why_not=on_workflow,
           hint="Show the Python project that this workflow becomes"),
    Action("file.export_picture", "Export picture…", "File", 2, "", why_not=on_workflow,
           hint="Save the drawing as PNG, SVG, Mermaid or Graphviz DOT"),
    Action("file.close", "Close tab", "File", 3, "", ("Ctrl+W",)),
    Action("file.map_providers", "Map providers and tools…", "File", 3, "", why_not=to_edit,
           hint="Choose what stands here for the providers, models and tools that a workflow from elsewhere names"),
    Action("file.import_report", "Import report…", "File", 3, "", why_not=on_workflow,
           hint="What became of the items of the file that this workflow was imported from"),
    Action("app.settings", "Settings…", "File", 4, "settings", ("Ctrl+,",)),
    Action("app.quit", "Quit", "File", 5, "", ("Ctrl+Q",)),
)  # fmt: skip

EDIT = (
    Action("edit.undo", "Undo", "Edit", 0, "own:undo", ("Ctrl+Z",), why_not=_undoable, text_now=_undo_text),
    Action("edit.redo", "Redo", "Edit", 0, "own:redo", ("Ctrl+Shift+Z", "Ctrl+Y"), why_not=_redoable,
           text_now=_redo_text),
    Action("edit.cut", "Cut", "Edit", 1, "scissors", ("Ctrl+X",), context="canvas", why_not=to_edit_selection),
    Action("edit.copy", "Copy", "Edit", 1, "copy", ("Ctrl+C",), context="canvas", why_not=on_selection),
    Action("edit.paste", "Paste", "Edit", 1, "clipboard-paste", ("Ctrl+V",), context="canvas", why_not=to_edit),
    Action("edit.paste_edges", "Paste with edges", "Edit", 1, "", ("Ctrl+Shift+V",), context="canvas",
           why_not=to_edit, hint="Connected with what the originals are connected with"),
    Action("edit.duplicate", "Duplicate", "Edit", 1, "copy-plus", ("Ctrl+D",), context="canvas",
           why_not=to_edit_selection),
    Action("edit.duplicate_edges", "Duplicate with edges", "Edit", 1, "", ("Shift+D",), context="canvas",
           why_not=to_edit_selection, hint="Connected with what the originals are connected with"),
    Action("edit.delete", "Delete", "Edit", 1, "trash-2", ("Del",), ("Backspace",), context="canvas",
           why_not=to_edit_selection),
    Action("edit.delete_join", "Delete and join neighbours", "Edit", 1, "", ("Ctrl+Del",), ("Ctrl+Backspace",),
           context="canvas", why_not=to_edit_selection, hint="What led to a deleted node leads to what came after it"),
    Action("edit.select_all", "Select all", "Edit", 2, "", ("Ctrl+A",), context="canvas", why_not=on_workflow),
    Action("edit.select_none", "Select nothing", "Edit", 2, "", why_not=on_selection),
    Action("edit.select_before", "Select what leads here", "Edit", 2, "", ("Shift+[",), context="canvas",
           why_not=on_selection),
    Action("edit.select_behind", "Select what this leads to", "Edit", 2, "", ("Shift+]",), context="canvas",
           why_not=on_selection),
    Action("edit.select_connected", "Select everything connected", "Edit", 2, "", why_not=on_selection),
    Action("edit.rename", "Rename", "Edit", 3, "", ("F2",), context="canvas", why_not=_ANY),
    Action("edit.rename_all", "Rename with references…", "Edit", 3, "", ("Shift+F2",), why_not=to_edit,
           hint="A node, state key, type, tool or module, and every place that names it"),
    Action("edit.find_text", "Find in workflow…", "Edit", 4, "search", ("Ctrl+F",), why_not=on_workflow,
           hint="Look through names, prompts, code and conditions"),
    Action("edit.replace", "Replace…", "Edit", 4, "", ("Ctrl+H",), ("Ctrl+Alt+F",), why_not=to_edit),
    Action("edit.find_next", "Next hit", "Edit", 4, "", ("F3",), ("Ctrl+G",), why_not=on_workflow),
    Action("edit.find_previous", "Previous hit", "Edit", 4, "", ("Shift+F3",), ("Ctrl+Shift+G",), why_not=on_workflow),
    Action("edit.find", "Go to node or file…", "Edit", 5, "", ("Ctrl+P",), why_not=on_tab),
)  # fmt: skip

VIEW = (
    Action("view.zoom_in", "Zoom in", "View", 0, "zoom-in", ("Ctrl++", "Ctrl+="), why_not=on_workflow),
    Action("view.zoom_out", "Zoom out", "View", 0, "zoom-out", ("Ctrl+-",), why_not=on_workflow),
    Action("view.zoom_actual", "Actual size", "View", 0, "", ("Ctrl+0",), why_not=on_workflow),
    Action("view.fit", "Fit all", "View", 0, "maximize", ("Home",), context="canvas", why_not=on_workflow),
    Action("view.fit_selection", "Fit selection", "View", 0, "", (".",), context="canvas", why_not=on_selection),
    Action("view.arrange", "Arrange", "View", 1, "network", ("Ctrl+Shift+L",), why_not=to_edit,
           hint="Place the selected nodes, or all, in layers"),
    Action("view.arrange_right", "Arrange from left to right", "View", 1, "", why_not=to_edit,
           hint="Layers from left to right; lines leave on the right"),
    Action("view.arrange_down", "Arrange from top to bottom", "View", 1, "", why_not=to_edit,
           hint="Layers from top to bottom; lines leave at the bottom"),
    Action("view.minimap", "Minimap", "View", 1, "", ("Ctrl+Shift+M",), why_not=on_workflow, checkable=True),
    Action("view.snap", "Snap to grid", "View", 1, "", ("Shift+G",), context="canvas", why_not=on_workflow,
           checkable=True),
    Action("view.up", "Workflow around this one", "View", 1, "", ("Alt+Up",), why_not=on_workflow,
           hint="Back out of a sub-workflow, to its node"),
    Action("view.left", "Left side", "View", 2, "", ("Alt+1",), ("Ctrl+Alt+1",), why_not=on_workflow, checkable=True),
    Action("view.bottom", "Bottom panels", "View", 2, "", ("Alt+2",), ("Ctrl+Alt+2",), why_not=on_workflow,
           checkable=True),
    Action("view.right", "Right side", "View", 2, "", ("Alt+3",), ("Ctrl+Alt+3",), why_not=on_workflow, checkable=True),
    Action("view.checkpoints", "Checkpoint strip", "View", 2, "", why_not=on_workflow, checkable=True),
    Action("view.canvas_only", "Whole window for the canvas", "View", 2, "", ("Alt+0",), ("Ctrl+Alt+0",),
           why_not=on_workflow, checkable=True),
    Action("view.edit_layout", "Edit layout", "View", 3, "", why_not=on_workflow, checkable=True),
    Action("view.debug_layout", "Debug layout", "View", 3, "", why_not=on_workflow, checkable=True),
    Action("view.default_layout", "Default layout", "View", 3, "", why_not=on_workflow),
    Action("theme.system", "As the system", "View", 4, "", checkable=True, submenu="Theme"),
    Action("theme.light", "Light", "View", 4, "sun", checkable=True, submenu="Theme"),
    Action("theme.dark", "Dark", "View", 4, "moon", checkable=True, submenu="Theme"),
    Action("view.full_screen", "Full screen", "View", 5, "", ("Shift+F11",), ("Ctrl+Meta+F",), checkable=True),
)  # fmt: skip

INSERT = (
    Action("insert.search", "Add node…", "Insert", 0, "plus", ("Shift+A",), context="canvas", why_not=to_edit),
    Action("insert.agent", "Agent", "Insert", 1, "own:agent", why_not=to_edit),
    Action("insert.runner", "Conversation runner", "Insert", 1, "own:runner", why_not=to_edit),
    Action("insert.function", "Function", "Insert", 1, "own:function", why_not=to_edit),
    Action("insert.human_input", "Human input", "Insert", 1, "own:human-input", why_not=to_edit),
    Action("insert.sub_workflow", "Sub-workflow", "Insert", 1, "own:sub-workflow", why_not=to_edit),
    Action("insert.template", "Template", "Insert", 1, "own:template", why_not=to_edit),
    Action("insert.join", "Join", "Insert", 2, "own:join", why_not=to_edit),
    Action("insert.switch", "Switch", "Insert", 2, "own:switch", why_not=to_edit),
    Action("insert.fan_out", "Fan-out", "Insert", 2, "own:fan-out", why_not=to_edit),
    Action("insert.note", "Note", "Insert", 2, "sticky-note", ("N",), context="canvas", why_not=to_edit),
    Action("insert.sequential", "Sequential pattern", "Insert", 3, "", why_not=to_edit,
           hint="A ready group: agents one after the other"),
    Action("insert.concurrent", "Concurrent pattern", "Insert", 3, "", why_not=to_edit,
           hint="A ready group: agents at once, and a join"),
    Action("insert.handoff", "Handoff pattern", "Insert", 3, "", why_not=to_edit,
           hint="A ready group: agents that hand the conversation over"),
    Action("insert.group_chat", "Group chat pattern", "Insert", 3, "", why_not=to_edit,
           hint="A ready group: agents that take turns"),
)  # fmt: skip

NODE = (
    Action("node.open", "Open in the inspector", "Node", 0, "", why_not=on_one),
    Action("node.connect", "Connect to…", "Node", 0, "", ("C",), context="canvas", why_not=_ENDS),
    Action("node.insert", "Insert node after…", "Node", 0, "", ("I",), context="canvas", why_not=_WAYS,
           hint="On the only edge after it, or beside it; of an edge: on it"),
    Action("node.take_out", "Take out of its wires", "Node", 0, "", why_not=_CARD,
           hint="What led to it leads to what came after it; the node stays"),
    Action("edit.set_start", "Start node", "Node", 1, "flag", why_not=_NODE, checkable=True),
    Action("node.output", "Output of the workflow", "Node", 1, "", why_not=_OUTPUT, checkable=True),
    Action("node.edge_condition", "Edit condition", "Node", 2, "", why_not=_RULED),
    Action("node.to_switch", "Turn into a switch", "Node", 2, "own:switch", why_not=_DIRECT,
           hint="The direct edges of its source become cases"),
    Action("node.to_fan_out", "Turn its edges into a fan-out", "Node", 2, "own:fan-out", why_not=_CARD,
           hint="A bar in place of the direct edges of the selected node"),
    Action("node.add_bend", "Add a bend", "Node", 2, "", why_not=_LINE),
    Action("node.remove_bends", "Remove all bends", "Node", 2, "", why_not=_LINE),
    Action("node.move", "Move with the arrow keys", "Node", 3, "", ("G",), context="canvas", why_not=to_edit_selection,
           hint="Arrows by the grid, with Shift by 1; Enter keeps, Esc cancels"),
    Action("node.align", "Align with the arrow keys", "Node", 3, "", ("L",), context="canvas", why_not=_TWO,
           submenu="Align", hint="The next arrow aligns, with Shift it distributes, Enter puts middles in line"),
    Action("node.align_left", "Align left edges", "Node", 3, why_not=_TWO, submenu="Align"),
    Action("node.align_right", "Align right edges", "Node", 3, why_not=_TWO, submenu="Align"),
    Action("node.align_up", "Align top edges", "Node", 3, why_not=_TWO, submenu="Align"),
    Action("node.align_down", "Align bottom edges", "Node", 3, why_not=_TWO, submenu="Align"),
    Action("node.align_across", "Align middles above each other", "Node", 3, why_not=_TWO, submenu="Align"),
    Action("node.align_along", "Align middles beside each other", "Node", 3, why_not=_TWO, submenu="Align"),
    Action("node.distribute_x", "Distribute from left to right", "Node", 3, "", why_not=_THREE,
           submenu="Align"),
    Action("node.distribute_y", "Distribute from top to bottom", "Node", 3, "", why_not=_THREE,
           submenu="Align"),
    Action("node.keep_place", "Keep its place when arranging", "Node", 3, "", why_not=to_edit_selection, checkable=True,
           hint="Arrange moves the others around what is selected"),
    Action("node.frame", "Frame around selection", "Node", 4, "", ("F",), context="canvas", why_not=to_edit_selection,
           text_now=_frame_text),
    Action("node.collapse", "Collapse or open the frame", "Node", 4, "", ("H",), context="canvas",
           why_not=to_edit_selection, hint="Draw the frame as one card, or what is in it again"),
    Action("node.extract", "Extract to a sub-workflow", "Node", 5, "own:sub-workflow", why_not=to_edit_selection),
    Action("node.inline", "Put its nodes here", "Node", 5, "", why_not=_EMBEDDED,
           hint="The nodes of the embedded sub-workflow in its place"),
    Action("node.embed", "Embed a copy of the file", "Node", 5, "", why_not=_LINKED),
)  # fmt: skip

RUN = (
    Action("run.run", "Run", "Run", 0, "own:play", ("F5",), ("Ctrl+R",), why_not=on_run("run"), text_now=_run_text,
           hint="Run with the input in the tool bar, or go on where the run is paused"),
    Action("run.pause", "Pause", "Run", 0, "own:pause", ("F7",), ("Ctrl+Alt+P",), why_not=on_run("pause"),
           hint="Pause at the next superstep"),
    Action("run.step", "Step", "Run", 0, "own:step-superstep", ("F10",), ("Ctrl+Alt+S",), why_not=on_run("step"),
           hint="Run one superstep, then pause"),
    Action("run.stop", "Stop", "Run", 0, "own:stop", ("Shift+F5",), ("Ctrl+.",), why_not=on_run("stop"),
           hint="Cancel the run at once"),
    Action("run.restart", "Restart", "Run", 0, "own:restart", ("Ctrl+Shift+F5",), ("Ctrl+Shift+R",),
           why_not=on_run("restart"), hint="Stop, then run again with the same input"),
    Action("run.retry", "Retry from the last checkpoint", "Run", 0, "history", why_not=on_run("retry"),
           text_now=_retry_text, hint="Continue a run that failed or was stopped, as a new branch; a failure that is "
           "held is retried where it is"),
    Action("run.step_node", "Step one node", "Run", 0, "own:step-into", ("F11",), ("Ctrl+Alt+I",),
           why_not=on_run("step_node"), hint="Run one node, or the next one inside a sub-workflow, then pause"),
    Action("run.run_to", "Run to the selected node", "Run", 0, "", ("Ctrl+F9",), why_not=on_node_run("run_to")),
    Action("run.run_from", "Run from the selected node", "Run", 0, "", ("Ctrl+F5",), ("Ctrl+Alt+R",),
           why_not=on_node_run("run_from"), hint="Run it again with the inputs it had last, and what follows"),
    Action("run.reset_conversation", "Reset the conversation of the node", "Run", 0, "", why_not=on_node_run("edit"),
           hint="Let the selected agent or runner begin a new conversation when the paused run goes on, as a fork"),
    Action("run.reset_node", "Reset the node", "Run", 0, "", why_not=on_node_run("edit"),
           hint="Let the selected agent or runner go on as new: conversation, waiting messages and questions are gone"),
    Action("run.apply", "Apply the changed drawing", "Run", 0, "", why_not=editing(on_run("apply")),
           hint="Let the paused run go on with the drawing as it is now, as a fork"),
    Action("run.step_back", "Step back", "Run", 0, "", ("Ctrl+F10",), why_not=on_run("step_back"),
           hint="Show the run one superstep earlier; nothing is called"),
    Action("run.step_forward", "Step forward in the recording", "Run", 0, "", ("Ctrl+Shift+F10",),
           why_not=on_run("step_forward"), hint="Show the next recorded superstep; nothing is called"),
    Action("run.replay", "At once", "Run", 0, "", why_not=on_run("replay"), submenu="Replay",
           hint="Run the shown run again from its recording, without network and cost"),
    Action("run.replay_recorded", "As fast as it was", "Run", 0, "", why_not=on_run("replay"), submenu="Replay"),
    Action("run.replay_fast", "Four times as fast", "Run", 0, "", why_not=on_run("replay"), submenu="Replay"),
    Action("run.replay_step", "Step by step", "Run", 0, "", why_not=on_run("replay"), submenu="Replay"),
    Action("run.inject", "Inject a message…", "Run", 0, "", ("Ctrl+Shift+J",), why_not=on_run("edit"),
           hint="Queue a message of the selected node or edge for the next superstep"),
    Action("run.make_test", "Turn this run into a test…", "Run", 0, "", why_not=on_run("replay"),
           hint="Write a test with the replies of the shown run, its path and its output"),
    Action("run.batch", "Run over a table…", "Run", 0, "", why_not=on_workflow,
           hint="Run the workflow for every row of a CSV or JSON lines file"),
    Action("run.input", "Go to the input field", "Run", 1, "", ("Ctrl+L",), why_not=on_tab),
    Action("run.find_streams", "Find in streams…", "Run", 1, "own:search", why_not=on_workflow,
           hint="Look through the streams of the shown superstep; Ctrl+F does it there"),
    Action("run.request", "Go to the open request", "Run", 1, "hand", ("Ctrl+Shift+A",), why_not=_waiting),
    Action("run.breakpoint", "Breakpoint on or off", "Run", 2, "own:octagon-on", ("F9",), ("Ctrl+Alt+B",),
           why_not=on_node, hint="Stop before the selected node runs"),
    Action("run.edit_breakpoint", "Edit breakpoint…", "Run", 2, "own:octagon-condition", ("Shift+F9",),
           ("Ctrl+Alt+C",), why_not=on_one, hint="Condition, hit count or log text of the selected node or edge"),
    Action("run.switch_breakpoints", "All breakpoints off or on", "Run", 2, "own:octagon-off", ("Ctrl+Shift+F9",),
           ("Ctrl+Alt+Shift+B",), why_not=on_workflow),
    Action("run.mute", "Mute", "Run", 3, "own:muted", ("M",), context="canvas", why_not=on_node,
           hint="Let the selected node pass its input on instead of being called"),
    Action("run.pin", "Pin or unpin the last reply", "Run", 3, "own:pin", ("P",), context="canvas", why_not=on_node,
           hint="Let the selected node give its last reply instead of being called"),
)  # fmt: skip

CHECKPOINTS = (
    Action("checkpoint.restore", "Restore…", "Checkpoints", 0, "history", why_not=on_checkpoint("restore"),
           hint="Show the moment of the selected checkpoint and pause there"),
    Action("checkpoint.fork", "Fork", "Checkpoints", 0, "git-branch", why_not=on_checkpoint("fork"),
           hint="Run a new branch from the selected checkpoint"),
    Action("checkpoint.fork_edited", "Fork with edits…", "Checkpoints", 0, "pencil", why_not=on_checkpoint("fork"),
           hint="Change messages, state, conversations or prompts, then run a new branch"),
    Action("checkpoint.resume", "Resume", "Checkpoints", 0, "own:play", why_not=on_run("resume"),
           hint="Go on with the interrupted run that is shown, on its own branch"),
    Action("checkpoint.name", "Name checkpoint…", "Checkpoints", 1, "", why_not=_on_any_checkpoint),
    Action("checkpoint.pin", "Pin or unpin checkpoint", "Checkpoints", 1, "pin", why_not=_on_any_checkpoint),
    Action("checkpoint.compare", "Compare…", "Checkpoints", 1, "columns-2", keys=("Ctrl+Shift+D",),
           why_not=_on_any_checkpoint, hint="With the marked checkpoint, else with the end of the shown branch"),
    Action("checkpoint.find", "Find checkpoints…", "Checkpoints", 2, "own:search", why_not=on_tab),
    Action("checkpoint.before_error", "Go to the checkpoint before the error", "Checkpoints", 2, "", why_not=on_tab),
    Action("checkpoint.import", "Import runs…", "Checkpoints", 3, "",
           hint="Add the runs of a file to the workflow they belong to; it is opened if it is not"),
    Action("checkpoint.keep", "Which checkpoints are kept…", "Checkpoints", 3, "", why_not=on_tab),
    Action("checkpoint.show", "Go to the checkpoint strip", "Checkpoints", 1, "", why_not=on_workflow),
)  # fmt: skip

WINDOW = (
    Action("go.next_tab", "Next tab", "Window", 0, "", ("Ctrl+Tab",), ("Meta+Tab",)),
    Action("go.previous_tab", "Previous tab", "Window", 0, "", ("Ctrl+Shift+Tab",), ("Meta+Shift+Tab",)),
    Action("go.canvas", "Canvas", "Window", 1, "", ("Ctrl+1",), why_not=on_workflow),
    Action("go.inspector", "Inspector", "Window", 1, "", ("Ctrl+2",), why_not=on_workflow),
    Action("go.run_panel", "Run panel", "Window", 1, "", ("Ctrl+3",), why_not=on_workflow),
    Action("go.outline", "Outline", "Window", 1, "", ("Ctrl+4",), why_not=on_workflow),
    Action("go.history", "History", "Window", 1, "", why_not=on_workflow,
           hint="Every step since the document was opened, to jump to"),
    Action("go.versions", "Versions", "Window", 1, "", why_not=on_workflow,
           hint="What was saved before, and what differs from it"),
    Action("go.problems", "Problems", "Window", 1, "", why_not=on_workflow),
    Action("go.next_panel", "Next panel", "Window", 2, "", ("F6",), why_not=on_workflow),
    Action("go.previous_panel", "Previous panel", "Window", 2, "", ("Shift+F6",), why_not=on_workflow),
    Action("go.next_problem", "Next problem", "Window", 3, "", ("F8",), why_not=_with_problems),
    Action("go.previous_problem", "Previous problem", "Window", 3, "", ("Shift+F8",), why_not=_with_problems),
    Action("go.welcome", "Welcome", "Window", 4, "house"),
)  # fmt: skip

HELP = (
    Action("app.palette", "All commands…", "Help", 0, "command", ("Ctrl+Shift+P",), palette=False),
    Action("help.tour", "The tour", "Help", 0, "book-open", hint="Build, run and step through a workflow in 6 minutes"),
    Action("help.debugger", "The debugger", "Help", 0, "", hint="How to stop, look, change and go on"),
    Action("app.log", "Show log", "Help", 1, "", hint="Open the folder with what went wrong in the program"),
    Action("app.about", "About Superstep Studio", "Help", 1, "info"),
)  # fmt: skip

ACTIONS: tuple[Action, ...] = (*FILE, *EDIT, *VIEW, *INSERT, *NODE, *RUN, *CHECKPOINTS, *WINDOW, *HELP)
