# ruff: noqa
"""Run ONE scenario of ONE adapter in this process and print ONE JSON line (prefix 'RESULT ').

python worker.py ADAPTER SCENARIO '{"json": "params"}'

The scenario "several" runs some in one process, in rounds: {"rounds": 3, "runs": [[SCENARIO, PARAMS], ...]}; the result
has a list of results for each.
"""

import asyncio
import gc
import importlib.metadata as md
import importlib.util
import json
import os
import resource
import shutil
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [p for p in sys.path if os.path.abspath(p or ".") != os.path.join(HERE, "adapters")]


def load(name: str, as_name: str):
    spec = importlib.util.spec_from_file_location(as_name, os.path.join(HERE, "adapters", name + ".py"))
    mod = importlib.util.module_from_spec(spec)
    sys.modules[as_name] = mod
    spec.loader.exec_module(mod)
    return mod


def measured(adapter, scenario, params, path):
    kw = dict(params)
    if scenario in ("ring", "conv", "conv_fn", "resume", "listing"):
        os.makedirs(path, exist_ok=True)
        kw["path"] = path
    gc.collect()
    return asyncio.run(getattr(adapter, scenario)(**kw))


def main():
    adapter_name, scenario, params = sys.argv[1], sys.argv[2], json.loads(sys.argv[3] if len(sys.argv) > 3 else "{}")
    base = load("base", "bench_base")
    out = {
        "adapter": adapter_name,
        "scenario": scenario,
        "params": params,
        "ts": time.time(),
        "py": sys.version.split()[0],
    }
    path = tempfile.mkdtemp(prefix=f"bench_{adapter_name}_", dir=os.environ.get("BENCH_TMP") or tempfile.gettempdir())
    try:
        load("_sub", "bench_sub")
        a = load(adapter_name, "bench_adapter").ADAPTER
        out["versions"] = {}
        for d in a.dists:
            try:
                out["versions"][d] = md.version(d)
            except md.PackageNotFoundError:
                out["versions"][d] = None
        if scenario == "several":
            runs = params["runs"]
            out["results"] = [[] for _ in runs]
            for number in range(params["rounds"]):
                for at, (name, kw) in enumerate(runs):
                    out["results"][at].append(measured(a, name, kw, os.path.join(path, f"{number}_{at}")))
            out["ok"] = True
        else:
            out.update(measured(a, scenario, params, path))
            out["ok"] = True
    except base.Unsupported as e:
        out.update(ok=False, unsupported=str(e))
    except Exception as e:  # the driver records it
        import traceback

        out.update(ok=False, error=f"{type(e).__name__}: {e}", trace=traceback.format_exc()[-1500:])
    finally:
        shutil.rmtree(path, ignore_errors=True)
    out["maxrss_kb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print("RESULT " + json.dumps(out), flush=True)


if __name__ == "__main__":
    main()
