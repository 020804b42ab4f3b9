"""``import --provider --model --tool``: what a workflow from elsewhere names, as what is here."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Mapping, Sequence

from studio.cli.exits import usage
from studio.document.adopting import (
    Choices,
    ModelChoice,
    ToolChoice,
    adopt,
    named_models,
    places_of_code,
    tools_without_code,
)
from studio.document.model import Workflow
from studio.document.profiles import map_profiles, named_profiles

_PLAIN = {"written": ToolChoice("written"), "none": ToolChoice("none"), "by-hand": None}


def mapped(workflow: Workflow, options: argparse.Namespace, profiles: Sequence[str]) -> Workflow:
    """The workflow with the choices of the command line. Ends the command for a name that is not in it, or not here."""
    providers = _parts("--provider", options.provider, named_profiles(workflow))
    for profile in providers.values():
        _check("--provider", profile, profiles)
    models = {
        name: _model(value, profiles)
        for name, value in _parts("--model", options.model, named_models(workflow)).items()
    }
    tools = {
        name: choice
        for name, value in _parts("--tool", options.tool, tools_without_code(workflow)).items()
        if (choice := _tool(workflow, name, value)) is not None
    }
    adopted = adopt(workflow, Choices(models, tools))
    after = adopted.apply(workflow).workflow if adopted is not None else workflow
    edit = map_profiles(after, {name: profile or None for name, profile in providers.items()})
    return edit.apply(after).workflow if edit is not None else after


def unmapped(workflow: Workflow, options: argparse.Namespace, profiles: Sequence[str]) -> Iterator[str]:
    """A line for each name that nothing was chosen for, with the option that does it."""
    for name, users in named_profiles(workflow).items():
        if name not in profiles:
            yield f"provider {name} is not set up here{_used(users)}: --provider '{name}=PROFILE'"
    for name, named in named_models(workflow).items():
        if not any(given.endswith(f",{name}") for given in options.model):
            used = _used(named.users)
            yield f"model {name} is asked of the provider of the run{used}: --model '{name}=PROFILE,MODEL'"
    for name, named in tools_without_code(workflow).items():
        if f"{name}=by-hand" not in options.tool:
            yield f"tool {name} has no code; its calls are answered by hand{_used(named.users)}: --tool '{name}=CODE'"


def _used(users: Iterable[str]) -> str:
    found = ", ".join(dict.fromkeys(users))
    return f" (used by {found})" if found else ""


def _parts(option: str, given: Iterable[str], known: Iterable[str]) -> Mapping[str, str]:
    names = list(known)
    found: dict[str, str] = {}
    for pair in given:
        # names of models may hold the sign themselves
        name = next((n for n in sorted(names, key=len, reverse=True) if pair.startswith(f"{n}=")), None)
        if name is None:
            has = f"It names {', '.join(names)}." if names else "It names none."
            usage(f"{option} {pair}: the workflow does not name that, or there is no = behind it. {has}")
        found[name] = pair[len(name) + 1 :].strip()
    return found


def _check(option: str, profile: str, profiles: Sequence[str]) -> None:
    if profile and profile not in profiles:
        usage(f"{option}: there is no provider {profile} on this computer. There are {', '.join(profiles)}.")


def _model(value: str, profiles: Sequence[str]) -> ModelChoice:
    profile, _, model = (part.strip() for part in value.partition(","))
    _check("--model", profile, profiles)
    return ModelChoice(profile or None, model or None)


def _tool(workflow: Workflow, name: str, value: str) -> ToolChoice | None:
    if value in _PLAIN:
        return _PLAIN[value]
    server = value.removeprefix("server:")
    wanted = ToolChoice("server", server) if server != value else ToolChoice("module", value)
    here = places_of_code(workflow, name)
    if wanted not in here:
        words = [f"server:{c.name}" if c.where == "server" else c.name for c in here]
        usage(f"--tool {name}={value}: that is not in the workflow. There are {', '.join([*words, *_PLAIN])}.")
    return wanted
