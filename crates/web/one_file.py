"""Put the page, its scripts and the module into one HTML file that works from disk: `one_file.py DIRECTORY`."""

import base64
import gzip
import hashlib
import re
import sys
from pathlib import Path

# In the order in which they use each other.
SCRIPTS = ("words", "chart", "link", "engine", "players", "example", "plan", "drives", "papers", "app")

STYLES = ("style", "players")

PARTS = """globalThis.tapewiseParts = {
  module: () => {
    const packed = Uint8Array.from(atob(document.getElementById("module").textContent), (c) => c.charCodeAt(0));
    return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  },
  worker: () => new Worker(URL.createObjectURL(new Blob([document.getElementById("worker").textContent]))),
};
const tapewise = {};
"""


def scoped(name: str, script: str) -> str:
    """A script with a scope of its own; what it exports is kept below its name."""
    script = re.sub(r'^import \* as (\w+) from "\./(\w+)\.js";', r"const \1 = tapewise.\2;", script, flags=re.M)
    script = re.sub(r'^import (\{[^}]*\}) from "\./(\w+)\.js";', r"const \1 = tapewise.\2;", script, flags=re.M)
    exported = re.findall(r"^export (?:async )?(?:function|class|const) (\w+)", script, flags=re.M)
    script = re.sub(r"^export ", "", script, flags=re.M)
    return f"tapewise.{name} = (() => {{\n{script}return {{ {', '.join(exported)} }};\n}})();\n"


def digest(text: str) -> str:
    """The text as a Content-Security-Policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def one_file(directory: Path) -> str:
    """The whole page as one text."""
    page = (directory / "index.html").read_text()
    module = gzip.compress((directory / "tapewise.wasm").read_bytes(), compresslevel=9, mtime=0)
    style = "".join((directory / f"{name}.css").read_text() for name in STYLES)
    scripts = "".join(scoped(name, (directory / f"{name}.js").read_text()) for name in SCRIPTS)
    script = f"\n{PARTS}{scripts}"
    # What is not exactly this text does not run.
    policy = (
        f"default-src 'none'; script-src {digest(script)} 'wasm-unsafe-eval'; worker-src blob:; "
        f"style-src {digest(style)}; img-src data:; form-action 'none'; base-uri 'none'"
    )
    page = re.sub(r'(Content-Security-Policy" content=")[^"]*', lambda m: m.group(1) + policy, page)
    links = "\n".join(f'<link rel="stylesheet" href="{name}.css">' for name in STYLES)
    page = page.replace(links, f"<style>{style}</style>")
    page = page.replace('<script type="module" src="app.js"></script>', "")
    data = f'<script type="text/plain" id="module">{base64.b64encode(module).decode()}</script>\n'
    data += f'<script type="text/plain" id="worker">\n{(directory / "worker.js").read_text()}</script>\n'
    return page.replace("</body>", f'{data}<script type="module">{script}</script>\n</body>')


if __name__ == "__main__":
    sys.stdout.write(one_file(Path(sys.argv[1])))
