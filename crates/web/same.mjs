// The module gives the same plans as the program, byte for byte: `node same.mjs MODULE PROGRAM [BATCHES]`.
//
// Batches are made from a seed: every drive, 10 to 10,000 requests. What both refuse, they refuse in the same words.
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
    ask({ ask: "place", drive, block_bytes: block, ignore_missing: false, unload: false });
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
let same = 0;
const refusals = new Map();
const [sums, ratios] = [[0, 0], []];
for (let number = 0; number < Number(batches); number += 1) {
  const drive = drives[number % drives.length].name;
  const size = SIZES[number % SIZES.length];
  // The oldest tapes hold few blocks.
  const [last, block] = random(2) ? [20_000 + random(40_000), 32_768] : [3_000 + random(12_000), 262_144];
  const rows = Array.from({ length: size }, (_, row) => `r${row},${random(last)},${1 + random(20)}`);
  writeFileSync(file, `id,start_block,block_count\n${rows.join("\n")}\n`);
  contents = readFileSync(file);
  const [ours, theirs] = [inModule(drive, block, number + 1), inProgram(drive, block, number + 1)];
  sums[0] += ours.seconds;
  sums[1] += theirs.seconds;
  if (theirs.seconds > 0.25) ratios.push(ours.seconds / theirs.seconds);
  if (ours.refusal !== undefined && theirs.refusal?.replaceAll(folder, "").includes(ours.refusal)) {
    refusals.set(`${drive}: ${ours.refusal}`, (refusals.get(`${drive}: ${ours.refusal}`) ?? 0) + 1);
  } else if (ours.plan !== undefined && ours.plan === theirs.plan) {
    same += 1;
  } else {
    writeFileSync(join(tmpdir(), "tapewise-differs.csv"), contents);
    const [one, other] = [ours, theirs].map(({ plan, refusal }) => (refusal ?? plan).slice(0, 300));
    console.error(`batch ${number}: ${size} requests on ${drive} differ: ${one}\n  and ${other}`);
    process.exitCode = 1;
  }
}
rmSync(folder, { recursive: true });
const refused = [...refusals.values()].reduce((sum, count) => sum + count, 0);
console.log(`${same} of ${batches} plans are the same to the byte, ${refused} were refused by both in the same words`);
for (const [words, count] of refusals) console.log(`  ${count}: ${words}`);
ratios.sort((one, other) => one - other);
const [middle, worst] = [ratios[ratios.length >> 1], ratios.at(-1)].map((ratio) => ratio?.toFixed(2));
console.log(
  `processor: module ${sums[0].toFixed(1)} s, program ${sums[1].toFixed(1)} s, ${(sums[0] / sums[1]).toFixed(2)} times;`,
);
console.log(`of ${ratios.length} batches above 0.25 s: median ${middle} times, worst ${worst}`);
