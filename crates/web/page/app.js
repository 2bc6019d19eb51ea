// The page: three views, one at a time, by the part of the address behind the #.

import * as drives from "./drives.js";
import * as papers from "./papers.js";
import * as plan from "./plan.js";

const VIEWS = { plan, drives, papers };
const begun = new Set();

function show() {
  const [name, code] = location.hash.slice(1).split("=", 2);
  // A link within a view, such as that to its content.
  if (!Object.hasOwn(VIEWS, name) && begun.size > 0) return;
  const view = Object.hasOwn(VIEWS, name) ? name : "plan";
  for (const each of Object.keys(VIEWS)) {
    document.getElementById(`${each}-view`).hidden = each !== view;
    const link = document.querySelector(`nav a[href="#${each}"]`);
    if (each === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  // A link that was opened in a page that is there already.
  if (begun.has(view) && code) location.reload();
  if (begun.has(view)) return;
  begun.add(view);
  VIEWS[view].begin(code).catch((error) => {
    const box = document.getElementById(`${view}-view`).querySelector("[role=status]");
    box.className = "error";
    box.textContent = `This browser cannot run the engine: ${error.message}`;
  });
}

addEventListener("hashchange", show);
show();
