// The module gives the same plans as the program, byte for byte: `node same.mjs MODULE PROGRAM [BATCHES]`.
//
// Batches are made from a seed: every drive, 10 to 10,000 requests, on a corner of the tape or on all of it. If a batch
// reaches beyond the end of the tape, both refuse it in the same words, and a shorter one takes its place.
// It prints how the times compare: processor seconds of the whole program, and of everything that the module does for
// a batch.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [, , modulePath, program, batches = "200"] = process.argv;
let contents = new Uint8Array();
const page = {
  read_file(_file, offset, pointer, length) {
    const piece = contents.subarray(offset, offset + length);
    new Uint8Array(engine.memory.buffer, pointer >>> 0, piece.length).set(piece);
    return piece.length;
  },
};
const { instance } = await WebAssembly.instantiate(readFileSync(modulePath), { page });
const engine = instance.exports;

function ask(question) {
  const text = new TextEncoder().encode(JSON.stringify(question));
  const pointer = engine.take(text.length) >>> 0;
  new Uint8Array(engine.memory.buffer, pointer, text.length).set(text);
  const packed = BigInt.asUintN(64, engine.answer(pointer, text.length));
  const [at, length] = [Number(packed >> 32n), Number(packed & 0xffffffffn)];
  const answer = JSON.parse(new TextDecoder().decode(new Uint8Array(engine.memory.buffer, at, length)));
  engine.give_back(at, length);
  if (answer.is === "error") throw new Error(answer.error);
  return answer;
}

/** What the module makes of a batch: {plan} or {refusal}, and the processor seconds. */
function inModule(drive, block, seed) {
  const begun = process.cpuUsage();
  const seconds = () => process.cpuUsage(begun).user / 1e6;
  try {
    ask({ ask: "clear" });
    ask({ ask: "read", file: 0, name: "batch.csv" });
    ask({ ask: "place", drive, block_bytes: block, ignore_missing: false });
    ask({ ask: "order", tape: 0, order: "best", seed });
    const { text } = ask({ ask: "write", tape: 0, order: "best", format: "json", from: "", into: "" });
    return { plan: text, seconds: seconds() };
  } catch (error) {
    return { refusal: error.message, seconds: seconds() };
  }
}

/** What the program makes of it, on one core. */
function inProgram(drive, block, seed) {
  // Work limits the search on both sides; a clock would end it anywhere.
  const limits = ["--time-budget", "1h"];
  const options = [
    "order",
    ...limits,
    "--profile",
    drive,
    "--block-size",
    String(block),
    "--seed",
    String(seed),
    "--json",
    "-q",
    file,
  ];
  const timed = ["-c", 'TIMEFORMAT="cpu %U"; time taskset -c 0 "$0" "$@"', program, ...options];
  const { status, stdout, stderr } = spawnSync("bash", timed, { encoding: "utf8", maxBuffer: 1 << 28 });
  const seconds = Number(/cpu ([\d.]+)/.exec(stderr)?.[1]);
  return status === 0 ? { plan: stdout, seconds } : { refusal: stderr, seconds };
}

let state = 1;
const random = (below) => {
  state = (state * 48271) % 2147483647;
  return state % below;
};

const { drives } = ask({ ask: "drives" });
const folder = mkdtempSync(join(tmpdir(), "tapewise-same-"));
const file = join(folder, "batch.csv");
const SIZES = [10, 30, 100, 300, 1000, 3000, 10000];
const BLOCK = 262_144;

/** Blocks of the longest tape, and somewhat more. */
const MOST = 1 << 28;

/** One batch in both, with requests before this block: "same", "refused", or what differs. */
function compare(drive, size, last, seed) {
  const rows = Array.from({ length: size }, (_, row) => `r${row},${random(last)},${1 + random(20)}`);
  writeFileSync(file, `id,start_block,block_count\n${rows.join("\n")}\n`);
  contents = readFileSync(file);
  const [ours, theirs] = [inModule(drive, BLOCK, seed), inProgram(drive, BLOCK, seed)];
  if (ours.refusal !== undefined && theirs.refusal?.replaceAll(folder, "").includes(ours.refusal)) return "refused";
  sums[0] += ours.seconds;
  sums[1] += theirs.seconds;
  if (theirs.seconds > 0.25) ratios.push(ours.seconds / theirs.seconds);
  if (ours.plan !== undefined && ours.plan === theirs.plan) return "same";
  writeFileSync(join(tmpdir(), "tapewise-differs.csv"), contents);
  const [one, other] = [ours, theirs].map(({ plan, refusal }) => (refusal ?? plan).slice(0, 300));
  return `${one}\n  and ${other}`;
}

let [same, refused] = [0, 0];
const [sums, ratios] = [[0, 0], []];
for (let number = 0; number < Number(batches); number += 1) {
  const drive = drives[number % drives.length].name;
  const size = SIZES[number % SIZES.length];
  let last = MOST >> random(16);
  let found = "refused";
  for (; found === "refused" && last > 256; last >>= 1) {
    found = compare(drive, size, last, number + 1);
    if (found === "refused") refused += 1;
  }
  if (found === "same") {
    same += 1;
  } else {
    console.error(`batch ${number}: ${size} requests on ${drive} differ: ${found}`);
    process.exitCode = 1;
  }
}
rmSync(folder, { recursive: true });
console.log(`${same} of ${batches} plans are the same to the byte; ${refused} longer batches were refused by both alike`);
ratios.sort((one, other) => one - other);
const [middle, worst] = [ratios[ratios.length >> 1], ratios.at(-1)].map((ratio) => ratio?.toFixed(2));
console.log(
  `processor: module ${sums[0].toFixed(1)} s, program ${sums[1].toFixed(1)} s, ${(sums[0] / sums[1]).toFixed(2)} times;`,
);
console.log(`of ${ratios.length} batches above 0.25 s: median ${middle} times, worst ${worst}`);
