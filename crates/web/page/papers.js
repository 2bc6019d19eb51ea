// Figures of the papers, computed anew for what the sliders say.

import { chart, meanOf } from "./chart.js";
import { Engine } from "./engine.js";
import { counted, element } from "./words.js";

const at = (id) => document.getElementById(id);
const engine = new Engine();

/** Requests of a batch in Figures 4 and 5; the paper goes on to 2,048. */
const LENGTHS = [1, 2, 4, 8, 10, 16, 32, 64, 96, 192, 384, 768];

/** Batches of each length are made in these steps; long ones take longer, and vary less. */
const STEPS = [4, 8, 16, 32, 64];

/** READ costs the same for every batch: beyond this it would press all else together. */
const MOST_DRAWN_S = 110;

/** Files of a batch in CERN's results. */
const RECALLED = [10, 20, 50, 100, 200, 500];

async function ask(figure) {
  return (await engine.ask({ ask: "figure", figure })).lines;
}

/** A figure with its sliders: `draw` is called again when one of them is moved, and `isLatest` tells it to stop. */
function figure({ id, sliders, draw }) {
  const values = () =>
    Object.fromEntries(
      sliders.map(({ name, select }) => [name, select ? at(`${id}-${name}`).value : Number(at(`${id}-${name}`).value)]),
    );
  let latest = 0;
  const again = async () => {
    latest += 1;
    const mine = latest;
    for (const { name, words, select } of sliders) {
      if (select) continue;
      const text = words(Number(at(`${id}-${name}`).value));
      at(`${id}-${name}-value`).textContent = text;
      at(`${id}-${name}`).setAttribute("aria-valuetext", text);
    }
    try {
      await draw(values(), at(`${id}-chart`), () => mine === latest);
    } catch (error) {
      at(`${id}-chart`).replaceChildren(element("p", { class: "error" }, error.message));
    }
  };
  const fields = sliders.map(({ name, label, select, min = 0, max, step = 1, value }) =>
    select
      ? element(
          "label",
          {},
          label,
          element(
            "select",
            { id: `${id}-${name}` },
            ...select.map(([key, text]) => element("option", { value: key }, text)),
          ),
        )
      : element(
          "label",
          {},
          label,
          element("input", { type: "range", id: `${id}-${name}`, min, max, step, value }),
          element("output", { id: `${id}-${name}-value` }),
        ),
  );
  at(`${id}-fields`).replaceChildren(...fields);
  for (const { name } of sliders) at(`${id}-${name}`).addEventListener("input", again);
  return again();
}

const percent = (value) => `${Math.round(100 * value)} %`;

async function locateTimes({ from, cartridge }, box) {
  const lines = await ask({ of: "hillyer_locate", cartridge, from });
  const title = `Locate times from ${percent(from)} of the cartridge to all of it`;
  box.replaceChildren(chart({ title, across: "to segment, thousands", up: "seconds", lines }));
}

/** Batches of every length, more and more of them: `draw` gets the values seen by length and name, and how many. */
async function batches(lengths, question, isLatest, draw) {
  const seen = new Map(lengths.map((requests) => [requests, new Map()]));
  let made = 0;
  for (const until of STEPS) {
    for (const requests of lengths) {
      // What would take seconds is left at fewer batches, and its interval shows it.
      if (requests * until > 8000) continue;
      const lines = await ask({ ...question, requests, first: made, batches: until - made });
      if (!isLatest()) return;
      for (const { name, places } of lines) {
        const before = name === "READ" ? [] : (seen.get(requests).get(name) ?? []);
        seen.get(requests).set(name, [...before, ...places.map(([, s]) => s)]);
      }
    }
    made = until;
    draw(seen, made);
  }
}

/** Lines of means with intervals, of what is known so far. */
function means(names, seen, most = Infinity) {
  return names.map((name) => {
    const [places, intervals] = [[], []];
    for (const [requests, orders] of seen) {
      const values = orders.get(name);
      if (!values?.length) continue;
      const [mean, half] = meanOf(values);
      if (mean > most) continue;
      places.push([requests, mean]);
      if (half) intervals.push([requests, mean - half, mean + half]);
    }
    return { name, places, intervals, dashed: name === "READ" };
  });
}

async function hillyerOrders({ start, cartridge }, box, isLatest) {
  const question = { of: "hillyer_orders", cartridge, from_bot: start === "bot" };
  const names = ["FIFO", "SORT", "SCAN", "WEAVE", "SLTF", "LOSS", "OPT", "READ"];
  await batches(LENGTHS, question, isLatest, (seen, made) => {
    const title = `Mean time per locate by requests, up to ${made} batches of each length`;
    const lines = means(names, seen, MOST_DRAWN_S);
    box.replaceChildren(
      chart({ title, across: "requests of a batch", up: "seconds per locate", lines, doubling: true }),
    );
  });
}

async function cernOrders({ drive, files }, box, isLatest) {
  const question = { of: "cern_orders", lto8: drive === "lto8", files: files * 1000 };
  const names = ["RANDOM", "LINEAR", "SCAN", "SLTF", "CTA's, in windows", "tapewise best"];
  await batches(RECALLED, question, isLatest, (seen, made) => {
    const title = `Mean positioning time for each file, up to ${made} batches of each length`;
    const lines = means(names, seen);
    box.replaceChildren(
      chart({ title, across: "files recalled", up: "seconds per file", lines, doubling: true }),
    );
  });
}

async function seeks({ from, track }, box) {
  const lines = await ask({ of: "johnson_miller_seek", from, track: Number(track) });
  const title = `Seeks of six drives from ${percent(from)} of the first track`;
  box.replaceChildren(chart({ title, across: "to this share of the tape or track", up: "seconds", lines }));
}

async function responses({ robot_s, load_s, search_s, drives }, box) {
  const lines = await ask({ of: "gniewek_response", robot_s, load_s, search_s, drives });
  const title = "Mean response by the rate of requests";
  box.replaceChildren(chart({ title, across: "requests an hour", up: "seconds", lines, most: 120 }));
}

const seconds = (value) => `${value} s`;

/** Shows the view. */
export async function begin() {
  const cartridge = {
    name: "cartridge",
    label: "Cartridge",
    min: 1,
    max: 50,
    value: 1,
    words: (value) => `number ${value}`,
  };
  const from = { name: "from", label: "The head is at", max: 1, step: 0.01, value: 0.5, words: percent };
  await figure({ id: "hillyer-1", sliders: [from, cartridge], draw: locateTimes });
  await figure({
    id: "johnson-miller",
    sliders: [
      { ...from, value: 0 },
      {
        name: "track",
        label: "Seek in",
        select: [
          ["0", "a track read forward"],
          ["1", "a track read in reverse"],
        ],
      },
    ],
    draw: seeks,
  });
  await figure({
    id: "gniewek",
    sliders: [
      { name: "robot_s", label: "Robot, each put and get", min: 1, max: 12, step: 0.5, value: 5, words: seconds },
      { name: "load_s", label: "Load", min: 1, max: 40, step: 0.5, value: 11, words: seconds },
      { name: "search_s", label: "Search and read", min: 1, max: 60, step: 0.5, value: 13, words: seconds },
      {
        name: "drives",
        label: "Drives beside 2, 4 and 6",
        min: 1,
        max: 16,
        value: 8,
        words: (value) => counted(value, "drive"),
      },
    ],
    draw: responses,
  });
  await figure({
    id: "hillyer-4",
    sliders: [
      {
        name: "start",
        label: "The head begins",
        select: [
          ["random", "at random (Figure 4)"],
          ["bot", "at the beginning of tape (Figure 5)"],
        ],
      },
      cartridge,
    ],
    draw: hillyerOrders,
  });
  await figure({
    id: "cern",
    sliders: [
      {
        name: "drive",
        label: "Tape",
        select: [
          ["m8", "LTO-7 of type M8, as in the slides"],
          ["lto8", "LTO-8"],
        ],
      },
      {
        name: "files",
        label: "Files on the full tape",
        min: 5,
        max: 40,
        step: 5,
        value: 20,
        words: (value) => `${value},000`,
      },
    ],
    draw: cernOrders,
  });
}
