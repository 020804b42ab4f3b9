"""The action kinds of declarative workflows: node kind, and a function from the action to the node's properties and the
names of the settings that have no effect here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from studio.importers.reading import first, items, mapping, text

Made = tuple[dict[str, Any], list[str]]
BRANCHES = ("actions", "then", "else", "elseActions", "conditions")
JUMPS = ("gotoaction", "breakloop", "continueloop")
ENDS = ("endworkflow", "endconversation", "enddialog", "canceldialog", "cancelalldialogs", "cancelworkflow")
UNSUPPORTED = frozenset(
    [
        "addconversationmessage",
        "copyconversationmessages",
        "retrieveconversationmessage",
        "retrieveconversationmessages",
        "invokeazureresponse",
        "begindialog",
        "searchandsummarizecontent",
        "searchandsummarizewithcustommodel",
        "adaptivecardprompt",
        "invokeflowaction",
        "invokeconnectoraction",
        "invokecustommodelaction",
        "invokeaibuildermodelaction",
        "invokeskillaction",
        "answerquestionwithai",
        "searchknowledgesources",
        "recognizeintent",
        "replacedialog",
        "repeatdialog",
        "transferconversation",
        "transferconversationv2",
        "csatquestion",
        "oauthinput",
        "logcustomtelemetryevent",
        "emitevent",
        "activateexternaltrigger",
        "disableexternaltrigger",
        "getactivitymembers",
        "getconversationmembers",
        "deleteactivity",
        "updateactivity",
        "signoutuser",
        "unknowndialogaction",
        "listtables",
        "httpaction",
    ]
)


def _plain(value: Any) -> Any:
    """A formula without its sign; other values as they are."""
    return value[1:].strip() if isinstance(value, str) and value.startswith("=") and len(value) > 1 else value


def _agent(action: dict[str, Any]) -> Made:
    named = action.get("agent")
    name = text(named.get("name")) if isinstance(named, dict) else text(named) or text(action.get("agentName"))
    given, output = mapping(action.get("input")), mapping(action.get("output"))
    data: dict[str, Any] = {
        "agent": _plain(name),
        "session": _plain(text(action.get("conversationId"))) or None,
        "save_reply": text(output.get("messages")) or None,
        "save_object": text(output.get("responseObject")) or None,
        "input_messages": _plain(first(given, "messages")),
        "input_arguments": first(given, "arguments"),
    }
    if output.get("autoSend") is False:
        data["auto_send"] = False
    return data, []


def _variable(action: dict[str, Any]) -> Made:
    target = first(action, "variable", "path", "property", "conversationId")
    path = text(target.get("path")) if isinstance(target, dict) else text(target)
    given = first(action, "value", "text")
    data: dict[str, Any] = {
        "variable": path or None,
        "value": _plain(given),
        "action": text(action.get("kind")).lower(),
    }
    data["lang"] = "powerfx" if _plain(given) != given else None
    if "assignments" in action:
        data["assignments"] = action["assignments"]
    return data, []


def _transform(action: dict[str, Any]) -> Made:
    kept = {k: v for k, v in action.items() if k not in ("kind", "id", "displayName")}
    return {"settings": kept, "variable": text(first(action, "variable", "itemsVariable")) or None}, []


def message(value: Any) -> str:
    """The text of an activity; ``{Local.X}`` without quotes is a mapping with an empty value for YAML."""
    if isinstance(value, dict):
        if len(value) == 1 and next(iter(value.values())) is None:
            return "{" + str(next(iter(value))) + "}"
        return message(first(value, "text", "value", "activity", "message"))
    if isinstance(value, list):
        return "\n".join(message(part) for part in value)
    return text(value)


def _output(action: dict[str, Any]) -> Made:
    return {"text": message(first(action, "activity", "message", "text"))}, []


_QUESTION_SETTINGS = ("alwaysPrompt", "entity", "repeatCount", "unrecognizedPrompt", "interruptionPolicy", "validation")


def _question(action: dict[str, Any]) -> Made:
    asked = first(action, "question", "prompt", "text", "message")
    data: dict[str, Any] = {
        "prompt": message(asked) or None,
        "variable": text(first(action, "variable", "property")) or None,
        "default": first(action, "default", "defaultValue"),
    }
    choices = items(first(action, "choices", "options"))
    data["choices"] = [message(choice) for choice in choices] or None
    kept = {name: action[name] for name in _QUESTION_SETTINGS if name in action}
    data["settings"] = kept or None
    return data, list(kept)


def _tool(action: dict[str, Any]) -> Made:
    data = {
        "preset": "tool",
        "function": text(first(action, "functionName", "function", "name")) or None,
        "arguments": action.get("arguments"),
        "approval": action.get("requireApproval"),
        "save_output": _saved(action),
    }
    return data, []


def _saved(action: dict[str, Any]) -> str | None:
    output = action.get("output")
    if isinstance(output, dict):
        return text(first(output, "result", "messages", "responseObject")) or None
    return text(first(action, "response", "output", "result")) or None


def _http(action: dict[str, Any]) -> Made:
    data = {
        "preset": "http",
        "method": text(action.get("method")) or "GET",
        "url": _plain(text(action.get("url"))),
        "headers": action.get("headers"),
        "request_body": action.get("body"),
        "save_output": _saved(action),
        "whole": action.keys() <= _WHOLE_REQUEST or None,
    }
    return data, []


_WHOLE_REQUEST = frozenset(
    ["kind", "id", "displayName", "conversationId", "method", "url", "headers", "body", "response", "output", "result"]
)
"""The fields of a request of which nothing is dropped; into a conversation its answer comes as what goes on."""


def _mcp(action: dict[str, Any]) -> Made:
    data = {
        "preset": "mcp",
        "url": _plain(text(action.get("serverUrl"))) or None,
        "server": text(action.get("serverLabel")) or None,
        "tool": text(action.get("toolName")) or None,
        "arguments": action.get("arguments"),
        "headers": action.get("headers"),
        "approval": action.get("requireApproval"),
        "save_output": _saved(action),
    }
    return data, []


def _end(action: dict[str, Any]) -> Made:
    return {}, []


KINDS: Mapping[str, tuple[str, Callable[[dict[str, Any]], Made]]] = {
    "invokeazureagent": ("agent", _agent),
    **dict.fromkeys(
        (
            *("setvariable", "settextvariable", "setvalue", "setmultiplevariables", "resetvariable"),
            *("clearallvariables", "createconversation"),
        ),
        ("set_variable", _variable),
    ),
    **dict.fromkeys(("parsevalue", "edittable", "edittablev2"), ("transform", _transform)),
    **dict.fromkeys(("sendactivity", "sendmessage"), ("output", _output)),
    **dict.fromkeys(
        ("question", "requestexternalinput", "requesthumaninput", "waitforhumaninput"), ("human_input", _question)
    ),
    "invokefunctiontool": ("function", _tool),
    "httprequestaction": ("function", _http),
    "invokemcptool": ("function", _mcp),
    **dict.fromkeys(ENDS, ("end", _end)),
}
