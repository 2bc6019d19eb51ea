"""Put the page, its scripts and the module into one HTML file that works from disk: `one_file.py DIRECTORY`."""

import base64
import re
import sys
from pathlib import Path

# In the order in which they use each other.
SCRIPTS = ("words.js", "engine.js", "players.js", "example.js", "app.js")

PARTS = """globalThis.tapewiseParts = {
  module: async () => Uint8Array.from(atob(document.getElementById("module").textContent), (c) => c.charCodeAt(0)),
  worker: () => new Worker(URL.createObjectURL(new Blob([document.getElementById("worker").textContent]))),
};
"""


def joined(directory: Path) -> str:
    """The scripts as one, without their imports and exports."""
    text = PARTS
    for name in SCRIPTS:
        script = (directory / name).read_text()
        script = re.sub(r"^import .*?;\n", "", script, flags=re.MULTILINE)
        text += re.sub(r"^export ", "", script, flags=re.MULTILINE)
    return text


def one_file(directory: Path) -> str:
    """The whole page as one text."""
    page = (directory / "index.html").read_text()
    style = (directory / "style.css").read_text()
    module = base64.b64encode((directory / "tapewise.wasm").read_bytes()).decode()
    policy = (
        "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; worker-src blob:; "
        "style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'"
    )
    page = re.sub(r'(Content-Security-Policy" content=")[^"]*', lambda m: m.group(1) + policy, page)
    page = page.replace('<link rel="stylesheet" href="style.css">', f"<style>\n{style}</style>")
    script = f'<script type="module">\n{joined(directory)}</script>'
    page = page.replace('<script type="module" src="app.js"></script>', "")
    data = f'<script type="text/plain" id="module">{module}</script>\n'
    data += f'<script type="text/plain" id="worker">\n{(directory / "worker.js").read_text()}</script>\n'
    return page.replace("</body>", data + script + "\n</body>")


if __name__ == "__main__":
    sys.stdout.write(one_file(Path(sys.argv[1])))
