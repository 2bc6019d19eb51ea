// Plan a tape: files in, orders out.

import { Engine, Stopped } from "./engine.js";
import { example } from "./example.js";
import { players } from "./players.js";
import { bytes, counted, download, duration, element, metres } from "./words.js";

const at = (id) => document.getElementById(id);
const engine = new Engine();

/** Orders of the table, as `--algorithm` names them, from the quickest to find. */
const ORDERS = ["fifo", "sort", "cta", "best"];
const FORMATS = {
  list: "list",
  script: "copy script (sh)",
  powershell: "copy script (PowerShell)",
  json: "JSON plan",
  csv: "CSV",
};

/** Files that were read: {file, name, kind}. */
let read = [];

/** What the reader asks for is done one after the other: a second file waits until the first is read. */
let latest = Promise.resolve();
const inTurn = (work) => {
  latest = latest.catch(() => undefined).then(work);
};

function say(text, isError = false) {
  at("status").textContent = text;
  at("status").className = isError ? "error" : "status";
}

function busy(on) {
  at("plan").disabled = on || read.length === 0;
  at("stop").hidden = !on;
  at("clear").hidden = read.length === 0;
}

/** The size of a block, if somebody gave it. */
const blockBytes = () => Number(at("block").value) || null;

/** Starts the engine, again if need be, and reads what had been read. */
async function restart() {
  await engine.start();
  engine.give(read.map(({ file }) => file));
  for (const [file, { name }] of read.entries()) {
    await engine.ask({ ask: "read", file, name, block_bytes: blockBytes() });
  }
}

async function take(files) {
  for (const file of files) {
    say(`reading ${file.name} …`);
    const number = read.length;
    engine.give([file]);
    // The engine counts every file that it was given, also those that it could not read.
    read.push({ file, name: file.name });
    at("stop").hidden = false;
    engine.onProgress = ({ offset }) => say(`reading ${file.name}: ${bytes(offset)} of ${bytes(file.size)} …`);
    try {
      const { recognised, kind } = await engine.ask({
        ask: "read",
        file: number,
        name: file.name,
        block_bytes: blockBytes(),
      });
      read[number].kind = kind;
      at("read").append(element("li", {}, `${file.name}: ${recognised}`));
      say("");
    } catch (error) {
      read.pop();
      if (error instanceof Stopped) say(`stopped: ${file.name} was not read`);
      else say(error.message, true);
      await restart();
      return busy(false);
    }
  }
  busy(false);
  if (isComplete()) await plan();
}

/** Whether it is clear what is wanted. Of an index alone that would be every file, which nobody may have meant. */
function isComplete() {
  const has = (kind) => read.some((one) => one.kind === kind);
  return has("requests") || (has("index") && has("names"));
}

async function clear() {
  read = [];
  at("read").replaceChildren();
  at("result").hidden = true;
  say("");
  await restart();
  busy(false);
}

async function plan() {
  const number = (id) => Number(at(id).value);
  const result = at("result");
  busy(true);
  say("finding the files …");
  try {
    const placed = await engine.ask({
      ask: "place",
      drive: at("drive").value,
      block_bytes: blockBytes(),
      ignore_missing: at("missing").checked,
    });
    result.hidden = false;
    result.replaceChildren(element("h2", {}, "3. The order"));
    const headline = element("p", { class: "answer" });
    result.append(headline);
    for (const notice of placed.notices) result.append(element("p", { class: "note" }, notice));
    const sums = { fifo: 0, best: 0 };
    for (const [tape, about] of placed.tapes.entries()) {
      const orders = await oneTape(result, tape, about, number("seed"));
      sums.fifo += orders.fifo?.total_us ?? 0;
      sums.best += orders.best.total_us;
      headline.replaceChildren(...answer(sums, placed.tapes.length));
    }
    if (placed.tapes.length > 1) headline.after(await pullList(placed.tapes, number("drives")));
    say("");
    result.focus();
  } catch (error) {
    if (error instanceof Stopped) say("stopped: the rows that are there are complete");
    else say(error.message, true);
    if (error.fatal || error instanceof Stopped) await restart();
  }
  busy(false);
}

/** The answer in one line. */
function answer({ fifo, best }, tapes) {
  const saved = fifo - best;
  const where = tapes > 1 ? ` for the ${tapes} tapes` : "";
  if (saved <= 0) return [`${duration(best)}${where}: your list is already in the fastest order.`];
  return [
    `${duration(best)}${where} instead of ${duration(fifo)} as listed: saves `,
    element("b", {}, duration(saved)),
    ` (${Math.round((100 * saved) / fifo)} %).`,
  ];
}

/** A tape's table, row by row as orders are found, its pictures and its files to save. */
async function oneTape(result, tape, about, seed) {
  const caption = `${about.title}: ${counted(about.files, "file")}, ${bytes(about.bytes)}`;
  const body = element("tbody");
  const heads = ["order", "likely", "at worst", "locating", "reading", "tape moved"];
  const table = element(
    "table",
    {},
    element("caption", {}, caption),
    element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", { scope: "col" }, head)))),
    body,
  );
  result.append(element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption }, table));
  const found = {};
  for (const order of ORDERS) {
    say(`${about.title}: ${order === "best" ? "looking for the fastest order" : "pricing orders"} …`);
    try {
      found[order] = await engine.ask({ ask: "order", tape, order, seed });
    } catch (error) {
      if (error instanceof Stopped || error.fatal || order === "best") throw error;
      continue; // An order that does not apply to this drive has no row.
    }
    const one = found[order];
    const cells = [
      one.title,
      duration(one.total_us),
      duration(one.worst_us),
      duration(one.locate_us),
      duration(one.read_us),
    ];
    cells.push(one.tape_m == null ? "-" : metres(one.tape_m));
    body.append(element("tr", { class: order === "best" && "ours" }, ...cells.map((cell) => element("td", {}, cell))));
  }
  result.append(element("p", { class: "note" }, sureness(found.best, about)));
  result.append(saves(tape));
  const [one, other] = [found.fifo ? "fifo" : "sort", "best"];
  const tracks = [];
  for (const order of [one, other]) {
    tracks.push({
      title: `${found[order].title}: ${duration(found[order].total_us)}`,
      path: await engine.ask({ ask: "path", tape, order }),
    });
  }
  result.append(players(tracks));
  return found;
}

/** How sure the times are, and how far the order can be from the best one. */
function sureness(best, about) {
  let bound = "How far the order is from the shortest one is not known.";
  if (best.optimal) bound = "No order is shorter, for these positions and times.";
  else if (best.bound_us) {
    const above = (100 * (best.total_us - best.bound_us)) / best.bound_us;
    const least = `No order takes less than ${duration(best.bound_us)}`;
    bound = `${least}: this one is at most ${above.toPrecision(2)} % longer.`;
  }
  const measured = about.measured
    ? ""
    : " They are estimates, not measured on this cartridge; the command “tapewise drive map” would measure them.";
  return `${bound} Positions: ${about.provenance}.${measured}`;
}

/** Buttons that save the order in a format, and where a copy script finds the tape. */
function saves(tape) {
  const place = (label, value) => {
    const input = element("input", { value, spellcheck: "false", autocomplete: "off" });
    return [input, element("label", {}, label, input)];
  };
  const [from, fromLabel] = place("Copy scripts: the tape is at", ".");
  const [into, intoLabel] = place("and files go into", "recalled");
  const buttons = Object.entries(FORMATS).map(([format, title]) => {
    const onclick = () => save(tape, format, from.value, into.value);
    return element("button", { type: "button", onclick }, `Save ${title}`);
  });
  return element(
    "div",
    {},
    element("p", { class: "controls" }, ...buttons),
    element("p", { class: "fields" }, fromLabel, intoLabel),
  );
}

async function save(tape, format, from, into) {
  try {
    const { name, text } = await engine.ask({ ask: "write", tape, order: "best", format, from, into });
    download(name, text);
  } catch (error) {
    say(error.message, true);
  }
}

/** Which tape goes into which drive, and when. */
async function pullList(tapes, drives) {
  const { turns, end_us, optimal } = await engine.ask({ ask: "rota", drives });
  const rows = turns.map((turn) =>
    element(
      "tr",
      {},
      ...[tapes[turn.tape].title, turn.drive, duration(turn.begin_us), duration(turn.read_us)].map((cell) =>
        element("td", {}, String(cell)),
      ),
    ),
  );
  const heads = ["tape", "drive", "insert at", "read by"].map((head) => element("th", { scope: "col" }, head));
  const proof = optimal ? ", and no division of the tapes ends sooner" : "";
  const caption = `Pull list: everything is read after ${duration(end_us)}${proof}`;
  return element(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": "Pull list" },
    element(
      "table",
      {},
      element("caption", {}, caption),
      element("thead", {}, element("tr", {}, ...heads)),
      element("tbody", {}, ...rows),
    ),
  );
}

/** `LTO-8` is what people have; the profile is called `lto8`. */
function fillDrives(drives) {
  for (const { name, title } of drives)
    at("drive").append(element("option", { value: name, selected: name === "lto8" }, title));
}

/** Shows the view. */
export async function begin() {
  say("loading …");
  await engine.start();
  fillDrives((await engine.ask({ ask: "drives" })).drives);
  at("form").addEventListener("submit", (event) => {
    event.preventDefault();
    inTurn(plan);
  });
  at("files").addEventListener("change", () => {
    const files = [...at("files").files];
    // The same file can be chosen again.
    at("files").value = "";
    inTurn(() => take(files));
  });
  at("example").addEventListener("click", () =>
    inTurn(async () => {
      await clear();
      await take(example());
    }),
  );
  at("clear").addEventListener("click", () => {
    engine.stop();
    inTurn(clear);
  });
  // Whatever waits for an answer hears of it, and starts the engine again.
  at("stop").addEventListener("click", () => engine.stop());
  const drop = at("drop");
  for (const name of ["dragover", "dragleave", "drop"]) {
    document.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.toggle("over", name === "dragover");
      if (name !== "drop" || at("plan-view").hidden) return;
      const files = [...event.dataTransfer.files];
      inTurn(() => take(files));
    });
  }
  say("");
  busy(false);
}
