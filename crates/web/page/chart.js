// Lines, dots and intervals as SVG, in the page's own colours.

/** Width and height: on a phone the words would be too small in a wide picture. */
const size = () => (innerWidth < 600 ? [380, 300] : [720, 400]);
const [LEFT, RIGHT, TOP, BOTTOM] = [64, 16, 14, 46];

/** An SVG element with attributes and children. */
function svg(name, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/** Round values from 0 or the least on, at most six of them. */
function ticks(low, high) {
  const raw = (high - low) / 5 || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((factor) => factor * power >= raw) * power;
  const found = [];
  for (let at = Math.ceil(low / step); at * step <= high + step / 1e6; at += 1) found.push(at * step);
  return found;
}

const written = (value) => Number(value.toPrecision(6)).toLocaleString("en", { maximumFractionDigits: 3 });

/**
 * A chart of lines: {name, places: [[x, y]], dots, dashed, intervals: [[x, low, high]]}. `across` and `up` name the
 * axes, `doubling` gives each doubling of x the same room, `limit` is a value of y to be kept below, `most` the highest
 * y shown.
 */
export function chart({ title, across, up, lines, doubling = false, limit, most = Infinity, whole = false }) {
  const [width, height] = size();
  const shown = lines.filter(({ places }) => places.length > 0);
  const all = shown.flatMap(({ places, intervals = [] }) => [...places, ...intervals.map(([x, , high]) => [x, high])]);
  if (limit !== undefined) all.push([all[0]?.[0] ?? 0, limit * 1.05]);
  const scale = doubling ? Math.log2 : (x) => x;
  const xs = all.map(([x]) => scale(x));
  const [low, high] = all.length ? [Math.min(...xs), Math.max(...xs)] : [0, 1];
  const top = Math.min(most, Math.max(1e-9, ...all.map(([, y]) => y))) * 1.04;
  const right = (x) => LEFT + ((scale(x) - low) / (high - low || 1)) * (width - LEFT - RIGHT);
  const down = (y) => height - BOTTOM - (Math.min(y, top) / top) * (height - TOP - BOTTOM);
  const drawn = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-label": title });
  for (const y of ticks(0, top)) {
    drawn.append(svg("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: down(y), y2: down(y) }));
    drawn.append(svg("text", { x: LEFT - 8, y: down(y) + 4, "text-anchor": "end" }, written(y)));
  }
  const stops = doubling ? ticks(Math.ceil(low), high).map((power) => 2 ** Math.round(power)) : ticks(low, high);
  for (const x of new Set(whole ? stops.map(Math.round) : stops)) {
    drawn.append(svg("text", { x: right(x), y: height - BOTTOM + 18, "text-anchor": "middle" }, written(x)));
  }
  drawn.append(svg("text", { x: (LEFT + width) / 2, y: height - 8, "text-anchor": "middle" }, across));
  const middle = (height - BOTTOM) / 2;
  drawn.append(svg("text", { x: 14, y: middle, "text-anchor": "middle", transform: `rotate(-90 14 ${middle})` }, up));
  if (limit !== undefined) {
    drawn.append(svg("line", { class: "limit", x1: LEFT, x2: width - RIGHT, y1: down(limit), y2: down(limit) }));
  }
  for (const line of shown) drawn.append(one(line, lines.indexOf(line), right, down, top));
  const box = document.createElement("figure");
  box.className = "figure";
  box.append(drawn, readout(drawn, width, shown, right, across), legend(shown, lines));
  return box;
}

/** One line with its dots and intervals. */
function one({ places, dots, dashed, intervals = [] }, number, right, down, top) {
  const group = svg("g", { class: `line c${number % 8}${dashed ? " dashed" : ""}` });
  if (!dots) {
    // A line ends where it leaves the picture.
    let path = "";
    for (const [at, [x, y]] of places.entries()) {
      const outside = y > top && (at === 0 || places[at - 1][1] > top);
      path += `${path === "" || outside ? "M" : "L"}${right(x).toFixed(1)} ${down(y).toFixed(1)}`;
    }
    group.append(svg("path", { d: path, fill: "none" }));
  }
  for (const [x, least, highest] of intervals) {
    group.append(svg("line", { x1: right(x), x2: right(x), y1: down(least), y2: down(highest) }));
    for (const y of [least, highest]) {
      group.append(svg("line", { x1: right(x) - 5, x2: right(x) + 5, y1: down(y), y2: down(y) }));
    }
  }
  if (dots || intervals.length) {
    for (const [x, y] of places) if (y <= top) group.append(svg("circle", { cx: right(x), cy: down(y), r: 4 }));
  }
  return group;
}

function legend(shown, lines) {
  const list = document.createElement("figcaption");
  for (const line of shown) {
    const mark = svg("svg", {
      viewBox: "0 0 28 10",
      class: `mark line c${lines.indexOf(line) % 8}`,
      "aria-hidden": "true",
    });
    if (line.dashed) mark.classList.add("dashed");
    mark.append(line.dots ? svg("circle", { cx: 14, cy: 5, r: 4 }) : svg("path", { d: "M1 5L27 5", fill: "none" }));
    const item = document.createElement("span");
    item.append(mark, line.name);
    list.append(item);
  }
  return list;
}

/** The values below the pointer, in words. */
function readout(drawn, width, shown, right, across) {
  const words = document.createElement("p");
  words.className = "note readout";
  drawn.addEventListener("pointermove", (event) => {
    const box = drawn.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * width;
    const nearest = shown.map(({ name, places }) => {
      const [x, y] = places.reduce((best, place) =>
        Math.abs(right(place[0]) - at) < Math.abs(right(best[0]) - at) ? place : best,
      );
      return `${name} ${written(y)} at ${written(x)}`;
    });
    words.textContent = `${across}: ${nearest.join("; ")}`;
  });
  drawn.addEventListener("pointerleave", () => (words.textContent = ""));
  return words;
}

/** The mean of values and how far the truth may be off it (95 %, by the normal distribution): [mean, half width]. */
export function meanOf(values) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return [mean, values.length > 1 ? 1.96 * Math.sqrt(squares / (values.length - 1) / values.length) : 0];
}
