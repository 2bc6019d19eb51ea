// How many drives? A scenario with sliders: responses by the number of drives, as replications are made.

import { chart } from "./chart.js";
import { Engine } from "./engine.js";
import { packed, unpacked } from "./link.js";
import { counted, download, duration, element } from "./words.js";

const at = (id) => document.getElementById(id);
const engine = new Engine();

/** What can be kept below a limit: a percentile, or the mean. */
const METRICS = [
  { key: "mean_s", name: "mean response", percent: null },
  { key: "median_s", name: "median response", percent: 50 },
  { key: "p90_s", name: "90th percentile", percent: 90 },
  { key: "p95_s", name: "95th percentile", percent: 95 },
  { key: "p99_s", name: "99th percentile", percent: 99 },
];

/** A curve has at most this many numbers of drives. */
const POINTS = 9;

/** Replications of each point, one round after the other. */
const ROUNDS = [2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200];

let builtin = [];
let cases = [];
/** Ends what runs when it is no longer the number of the latest run. */
let run = 0;

function say(text, isError = false) {
  at("sizing-status").textContent = text;
  at("sizing-status").className = isError ? "error" : "status";
}

const metric = () => METRICS[at("metric").selectedIndex];
const limit = () => Number(at("limit").value) || undefined;

/** What a slider says; a stated value that lies between its steps stays until the slider is moved. */
function given(id, stated = NaN) {
  const value = Number(at(id).value);
  if (at(id).disabled) return null;
  return Math.abs(value - stated) < Number(at(id).step) ? stated : value;
}

/** What the sliders say. */
function setup(drives) {
  const one = cases[at("case").selectedIndex];
  return {
    text: at("scenario-text").value,
    case: one.name,
    drives: at("drive-count").disabled ? null : drives,
    robots: given("robots"),
    per_hour: given("rate", one.per_hour),
    window_s: given("window", one.window_s),
    mount: at("policy").value,
    seed: given("sizing-seed"),
  };
}

/** Numbers of drives for the curve: around the one that is looked at. */
function counts() {
  const middle = Number(at("drive-count").value);
  if (at("drive-count").disabled) return [null];
  if (middle <= 6) return Array.from({ length: POINTS - 1 }, (_, number) => number + 1);
  const steps = Array.from({ length: POINTS }, (_, number) => Math.round(middle * (0.6 + 0.1 * number)));
  return [...new Set([...steps, middle])].sort((one, other) => one - other);
}

/** Sets a slider, with room on both sides. */
function slide(id, value, most) {
  const input = at(id);
  input.disabled = value == null;
  if (value == null) return;
  input.max = String(most);
  input.value = String(value);
}

/** Shows what a slider says beside it. */
function outputs() {
  const words = {
    rate: (value) => `${value} an hour`,
    "drive-count": (value) => counted(Number(value), "drive"),
    robots: (value) => counted(Number(value), "robot"),
    window: (value) => (Number(value) ? duration(value * 1e6) : "none"),
  };
  for (const [id, word] of Object.entries(words)) {
    const text = at(id).disabled ? "as the scenario says" : word(at(id).value);
    at(`${id}-value`).textContent = text;
    at(id).setAttribute("aria-valuetext", text);
  }
}

/** Puts the sliders where a case has them. */
function takeCase() {
  const one = cases[at("case").selectedIndex];
  at("about").textContent = `${one.about || one.name}: ${counted(one.requests, "request")} in each replication.`;
  slide("rate", one.per_hour, Math.max(10, Math.ceil((one.per_hour ?? 0) * 3)));
  slide("drive-count", one.drives, Math.max(12, (one.drives ?? 0) * 2));
  slide("robots", one.robots, Math.max(4, (one.robots ?? 0) * 2));
  slide("window", one.window_s, Math.max(900, one.window_s * 3));
  at("policy").value = one.mount;
  at("sizing-seed").value = one.seed;
  outputs();
}

/** Reads the text of a scenario and lists its cases. */
async function takeText(text, chosen) {
  cases = (await engine.ask({ ask: "cases", text })).cases;
  at("scenario-text").value = text;
  at("case").replaceChildren(...cases.map(({ name }) => element("option", {}, name)));
  const number = cases.findIndex(({ name }) => name === chosen);
  at("case").selectedIndex = Math.max(0, number);
  takeCase();
}

/** The estimate of a metric in a simulation: {estimate, low, high}, or undefined if it is unstable. */
const estimated = ({ simulation }, { key }) => {
  const percentile = key === "median_s" ? "p50_s" : key;
  return simulation.stable ? (simulation[key] ?? simulation.percentiles[percentile]) : undefined;
};

async function simulate() {
  run += 1;
  const mine = run;
  const [wish, now] = [{ percent: metric().percent, limit_s: limit() ?? null }, counts()];
  const found = new Map();
  const chosen = at("drive-count").disabled ? null : Number(at("drive-count").value);
  const most = cases[at("case").selectedIndex].replications;
  at("sizing-stop").hidden = false;
  at("picture").replaceChildren();
  try {
    for (const replications of [...ROUNDS.filter((round) => round < most), most]) {
      for (const drives of now) {
        const answer = await engine.ask({ ask: "response", setup: setup(drives), replications, wish });
        if (run !== mine) return;
        found.set(drives, answer);
        say(`${replications} of ${most} replications …`);
        show(found, chosen);
      }
    }
    say(`${counted(most, "replication")} of ${now.length > 1 ? "each number of drives" : "the scenario"}.`);
    await picture(found.get(chosen), chosen, mine);
  } catch (error) {
    if (run === mine) say(error.message, true);
  }
  if (run === mine) at("sizing-stop").hidden = true;
}

/** Draws what is known so far. */
function show(found, chosen) {
  const { key, name } = metric();
  const [places, intervals, formula] = [[], [], []];
  for (const [drives, answer] of found) {
    const s = estimated(answer, metric());
    const x = drives ?? 0;
    if (s) places.push([x, s.estimate]);
    if (s) intervals.push([x, s.low, s.high]);
    if (answer.simulation.formula) formula.push([x, answer.simulation.formula[key]]);
  }
  const least = Math.min(...places.map(([, y]) => y));
  if (found.size > 1) {
    const title = `${name} by the number of drives`;
    const lines = [
      { name: "simulated, with its 95 % interval", places, intervals },
      { name: "formula", places: formula, dashed: true },
    ];
    const most = Math.max(8 * least, 2 * (limit() ?? 0));
    at("curve").replaceChildren(
      chart({ title, across: "drives", up: "seconds", lines, limit: limit(), most, whole: true }),
    );
  } else {
    at("curve").replaceChildren();
  }
  at("sizing-answer").textContent = verdict(found);
  at("sizing-table").replaceChildren(details(found.get(chosen), chosen));
  at("sizing-command").textContent = command();
}

/** The fewest drives that meet the target, in words. */
function verdict(found) {
  const { name } = metric();
  if (limit() === undefined || found.size < 2) return "";
  const met = [...found].find(([, answer]) => answer.meets === "met");
  const below = `${name} below ${duration(limit() * 1e6)}`;
  if (!met) return `None of these numbers of drives keeps the ${below}.`;
  const [drives, answer] = met;
  const { low, high } = estimated(answer, metric());
  const unsure = [...found].find(([, other]) => other.meets === "unsure");
  const perhaps =
    unsure && unsure[0] < drives ? ` ${counted(unsure[0], "drive")} may do: more replications would tell.` : "";
  const where = `it is between ${low.toFixed(1)} and ${high.toFixed(1)} s`;
  return `${counted(drives, "drive")} keep the ${below}: ${where}.${perhaps}`;
}

/** What one number of drives comes to, as a table. */
function details(answer, drives) {
  const title = drives === null ? "The scenario" : `With ${counted(drives, "drive")}`;
  if (!answer) return element("p", { class: "note" }, `${title}: not simulated yet.`);
  const { simulation } = answer;
  if (!simulation.stable) return element("p", { class: "note" }, `${title}: ${simulation.why}`);
  const seconds = ({ estimate, low, high }) => [estimate, low, high].map((value) => value.toFixed(1));
  const share = ({ estimate, low, high }) => [estimate, low, high].map((value) => `${(100 * value).toFixed(1)} %`);
  const rows = [["mean response, s", ...seconds(simulation.mean_s), simulation.formula?.mean_s.toFixed(1) ?? "-"]];
  for (const percent of [50, 90, 95, 99]) {
    const key = percent === 50 ? "median_s" : `p${percent}_s`;
    const named = percent === 50 ? "median, s" : `${percent}th percentile, s`;
    rows.push([
      named,
      ...seconds(simulation.percentiles[`p${percent}_s`]),
      simulation.formula?.[key].toFixed(1) ?? "-",
    ]);
  }
  for (const library of simulation.libraries) {
    const of = simulation.libraries.length > 1 ? `${library.name}: ` : "";
    rows.push([`${of}drives held`, ...share(library.drives_held), percentage(simulation.formula?.drives)]);
    rows.push([`${of}robots at work`, ...share(library.robots_at_work), percentage(simulation.formula?.robots)]);
  }
  for (const [part, value] of Object.entries(simulation.parts)) {
    rows.push([`of the mean: ${part.replace(/_s$/, "").replaceAll("_", " ")}, s`, ...seconds(value), ""]);
  }
  const heads = ["", "estimate", "from", "to", "formula"].map((head) =>
    element(head ? "th" : "td", head ? { scope: "col" } : {}, head),
  );
  const body = rows.map(([first, ...rest]) =>
    element("tr", {}, element("th", { scope: "row" }, first), ...rest.map((cell) => element("td", {}, cell))),
  );
  const caption = `${title}, ${counted(simulation.replications, "replication")} (95 % intervals)`;
  const table = element(
    "table",
    {},
    element("caption", {}, caption),
    element("thead", {}, element("tr", {}, ...heads)),
    element("tbody", {}, ...body),
  );
  const none = simulation.no_formula ? [element("p", { class: "note" }, `No formula: ${simulation.no_formula}.`)] : [];
  return element(
    "div",
    {},
    element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption }, table),
    ...none,
  );
}

const percentage = (share) => (share === undefined ? "-" : `${(100 * share).toFixed(1)} %`);

/** What happened around the slowest response. */
async function picture(answer, drives, mine) {
  const slowest = answer?.simulation.slowest?.[0];
  if (!slowest) return;
  const { svg } = await engine.ask({ ask: "timeline", setup: setup(drives), replication: slowest.replication });
  if (run !== mine) return;
  const took = `The slowest response took ${duration(slowest.response_s * 1e6)}`;
  const words = `${took}, in replication ${slowest.replication}. Its cause: ${slowest.cause}.`;
  const source = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  at("picture").replaceChildren(
    element("h3", {}, "What the drives did around the slowest response"),
    element("p", {}, words),
    element(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": "Timeline" },
      element("img", { class: "timeline", src: source, alt: words }),
    ),
  );
}

/** The same question for the command line. */
function command() {
  const { case: name, drives, robots, per_hour, window_s, mount, seed } = setup(Number(at("drive-count").value));
  const words = [cases.length > 1 && `--case "${name}"`, per_hour !== null && `--set rate=${per_hour}`];
  words.push(`--set policy.mount=${mount}`, `--seed ${seed}`);
  const { percent } = metric();
  const short = percent === null ? "mean" : percent === 50 ? "median" : `p${percent}`;
  const isSized = limit() !== undefined && drives !== null;
  if (isSized)
    words.push(
      `--robots ${robots} --window ${window_s}s --target "${short} < ${limit()} s" --drives ${counts().join(",")}`,
    );
  else words.push(drives !== null && `--set drives=${drives} --set robots=${robots}`, `--set window=${window_s}`);
  return `tapewise ${isSized ? "capacity" : "simulate"} scenario.toml ${words.filter(Boolean).join(" ")}`;
}

/** Everything that a link has to say. */
const state = () => {
  const text = at("scenario-text").value;
  const known = builtin.find((one) => one.text === text);
  const values = Object.fromEntries(
    ["rate", "drive-count", "robots", "window", "policy", "sizing-seed", "metric", "limit"].map((id) => [
      id,
      at(id).value,
    ]),
  );
  return { ...(known ? { name: known.name } : { text }), case: at("case").value, values };
};

async function copyLink() {
  const code = await packed(state());
  if (code === null) return say("The scenario is too long for a link: save it as a file instead.", true);
  history.replaceState(null, "", `#drives=${code}`);
  await navigator.clipboard?.writeText(location.href).catch(() => undefined);
  say("The link is in the address bar, and copied if your browser allows it. It holds the whole scenario.");
}

/** Takes up what a link says. */
async function takeLink(code) {
  const { name, text, case: chosen, values } = await unpacked(code);
  const known = builtin.find((one) => one.name === name);
  if (known) at("scenario").value = name;
  await takeText(text ?? known.text, chosen);
  for (const [id, value] of Object.entries(values)) {
    if (at(id).type === "range") at(id).max = String(Math.max(Number(at(id).max), Number(value)));
    at(id).value = value;
  }
  outputs();
}

/** Shows the view, with what a link says if it came by one. */
export async function begin(code) {
  say("loading …");
  const { scenarios, policies } = await engine.ask({ ask: "scenarios" });
  builtin = scenarios;
  at("scenario").replaceChildren(
    ...scenarios.map(({ name }) => element("option", { value: name, selected: name === "gniewek-1999" }, name)),
  );
  at("policy").replaceChildren(...policies.map((name) => element("option", {}, name)));
  at("metric").replaceChildren(
    ...METRICS.map(({ name }) => element("option", { selected: name === "95th percentile" }, name)),
  );
  const text = () => builtin.find(({ name }) => name === at("scenario").value).text;
  const guarded = (work) => () => work().then(simulate, (error) => say(error.message, true));
  at("scenario").addEventListener(
    "change",
    guarded(() => takeText(text())),
  );
  at("use-text").addEventListener(
    "click",
    guarded(() => takeText(at("scenario-text").value)),
  );
  at("case").addEventListener(
    "change",
    guarded(async () => takeCase()),
  );
  at("scenario-file").addEventListener(
    "change",
    guarded(async () => takeText(await at("scenario-file").files[0].text())),
  );
  let soon;
  for (const id of ["rate", "drive-count", "robots", "window", "policy", "sizing-seed", "metric", "limit"]) {
    at(id).addEventListener("input", () => {
      outputs();
      clearTimeout(soon);
      soon = setTimeout(simulate, 200);
    });
  }
  at("sizing-stop").addEventListener("click", () => {
    run += 1;
    at("sizing-stop").hidden = true;
    say("Stopped: what is shown is of the replications made so far.");
  });
  at("copy-link").addEventListener("click", copyLink);
  at("save-scenario").addEventListener("click", () => download("scenario.toml", at("scenario-text").value));
  await takeText(text(), "150-4");
  if (code) await takeLink(code);
  simulate();
}
