// The head's path of two orders side by side, on one clock.

import { counted, duration, element, metres } from "./words.js";

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const KINDS = { m: "move", t: "through", r: "read" };
const DOING = { m: "going to", t: "reading through to", r: "reading" };

/** The first step that begins after a time, by halving. */
function after(begins, time) {
  let [low, high] = [0, begins.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (begins[middle] > time) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** One order's path on a canvas. */
class Player {
  constructor(title, path) {
    this.title = title;
    this.path = path;
    this.end = path.begin_us.at(-1);
    this.canvas = element("canvas", { role: "img", "aria-label": `Path of the head: ${title}, ${duration(this.end)}` });
    this.clock = element("p", { class: "clock" });
    this.box = element("div", {}, element("h3", {}, title), this.canvas, this.clock);
    this.canvas.addEventListener("pointermove", (event) => this.hover(event));
    this.canvas.addEventListener("pointerleave", () => this.show(this.time));
    this.drawn = 0;
    this.time = 0;
  }

  at(step, side) {
    const { lpos, wraps, tape } = this.path;
    const [low, high, count] = tape;
    const x = (lpos[2 * step + side] - low) / Math.max(1, high - low);
    const y = (wraps[2 * step + side] + 0.5) / count;
    return [8 + x * (this.width - 16), this.height - 8 - y * (this.height - 16)];
  }

  /** Draws what is done by a time; only what is new, unless the clock went back or the canvas changed. */
  show(time) {
    const scale = window.devicePixelRatio || 1;
    const { clientWidth, clientHeight } = this.canvas;
    const context = this.canvas.getContext("2d");
    if (this.width !== clientWidth || this.height !== clientHeight || time < this.time || this.stale) {
      [this.width, this.height] = [clientWidth, clientHeight];
      this.canvas.width = clientWidth * scale;
      this.canvas.height = clientHeight * scale;
      this.drawn = 0;
      this.stale = false;
    }
    context.setTransform(scale, 0, 0, scale, 0, 0);
    const { begin_us, kinds, file, files } = this.path;
    const until = Math.min(after(begin_us, time), kinds.length);
    for (const kind of "mtr") {
      context.strokeStyle = colour(KINDS[kind]);
      context.lineWidth = kind === "m" ? 0.7 : 2.2;
      context.globalAlpha = kind === "m" ? 0.5 : 1;
      context.beginPath();
      for (let step = this.drawn; step < until; step += 1) {
        if (kinds[step] !== kind) continue;
        context.moveTo(...this.at(step, 0));
        context.lineTo(...this.at(step, 1));
      }
      context.stroke();
    }
    context.globalAlpha = 1;
    this.drawn = until;
    this.time = time;
    const step = until - 1;
    if (time >= this.end) {
      this.clock.textContent = `done after ${duration(this.end)}: ${counted(this.path.read.at(-1), "file")} read`;
    } else if (step >= 0) {
      this.clock.textContent = `${counted(this.path.read[step], "file")} read; ${DOING[kinds[step]]} ${files[file[step]]}`;
    }
  }

  hover(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let [best, nearest] = [-1, 24 ** 2];
    for (let step = 0; step < this.path.kinds.length; step += 1) {
      if (this.path.kinds[step] !== "r") continue;
      for (const side of [0, 1]) {
        const [a, b] = this.at(step, side);
        const distance = (a - x) ** 2 + (b - y) ** 2;
        if (distance < nearest) [best, nearest] = [step, distance];
      }
    }
    if (best < 0) return;
    const { files, file, begin_us, wraps } = this.path;
    this.clock.textContent = `${files[file[best]]}: read after ${duration(begin_us[best])}, wrap ${wraps[2 * best]}`;
  }
}

/** Two orders played side by side in time: a box to put into the page. */
export function players(tracks) {
  const shown = tracks.map(({ title, path }) => new Player(title, path));
  const end = Math.max(...shown.map((player) => player.end));
  const position = element("input", { type: "range", min: 0, max: 1000, value: 1000, "aria-label": "Time" });
  const now = element("output", {}, duration(end));
  const speed = element("select", {});
  for (const seconds of [60, 30, 15, 5]) {
    speed.append(element("option", { value: seconds, selected: seconds === 15 }, `all in ${seconds} s`));
  }
  let [time, before, running] = [end, 0, false];
  const show = () => {
    shown.forEach((player) => player.show(Math.min(time, player.end)));
    position.value = (time / end) * 1000;
    now.textContent = duration(time);
    position.setAttribute("aria-valuetext", duration(time));
  };
  const frame = (stamp) => {
    if (!running) return;
    time = Math.min(end, time + ((stamp - before) / 1000 / speed.value) * end);
    before = stamp;
    show();
    if (time >= end) pause();
    else requestAnimationFrame(frame);
  };
  const button = element("button", { type: "button", onclick: () => (running ? pause() : play()) }, "Play");
  const pause = () => {
    running = false;
    button.textContent = "Play";
  };
  const play = () => {
    if (time >= end) time = 0;
    running = true;
    button.textContent = "Pause";
    requestAnimationFrame((stamp) => {
      before = stamp;
      frame(stamp);
    });
  };
  position.addEventListener("input", () => {
    pause();
    time = (position.value / 1000) * end;
    show();
  });
  const again = () => {
    shown.forEach((player) => (player.stale = true));
    show();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  new ResizeObserver(again).observe(shown[0].canvas);
  const metresOf = ({ tape, metres_per_lpos: length }) => (length ? `, ${metres((tape[1] - tape[0]) * length)}` : "");
  return element(
    "div",
    {},
    element(
      "p",
      { class: "legend note" },
      // Lines break between them only if there is a blank.
      ...Object.entries({ read: "reading", move: "moving", through: "reading through a gap" }).flatMap(([name, words]) => [
        element("span", {}, element("i", { class: name }), words),
        " ",
      ]),
      `Across: along the tape${metresOf(tracks[0].path)}. Upwards: the wraps.`,
    ),
    element("div", { class: "players" }, ...shown.map((player) => player.box)),
    element("p", { class: "controls" }, button, position, now, element("label", {}, "Speed ", speed)),
  );
}
