// The module gives the same plans as the program, byte for byte: `node same.mjs MODULE PROGRAM [BATCHES]`.
//
// Batches are made from a seed: all profiles that order needs no map for, 10 to 10,000 requests. Prints the ratio of
// times too; both run on one core, and the module's figure has no start of a process in it.

import { execFileSync } from "node:child_process";
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

let state = 1;
const random = (below) => {
  state = (state * 48271) % 2147483647;
  return state % below;
};

const { drives } = ask({ ask: "drives" });
const folder = mkdtempSync(join(tmpdir(), "tapewise-same-"));
const file = join(folder, "batch.csv");
let [same, refused, moduleMs, programMs] = [0, 0, 0, 0];
for (let number = 0; number < Number(batches); number += 1) {
  const drive = drives[number % drives.length].name;
  const size = [10, 30, 100, 300, 1000, 3000, 10000][random(number % 20 === 0 ? 7 : 5)];
  const last = 20_000 + random(60_000);
  const rows = Array.from({ length: size }, (_, row) => `r${row},${random(last)},${1 + random(20)}`);
  writeFileSync(file, `id,start_block,block_count\n${rows.join("\n")}\n`);
  contents = readFileSync(file);
  let ours, theirs;
  try {
    ask({ ask: "clear" });
    ask({ ask: "read", file: 0, name: "batch.csv" });
    ask({ ask: "place", drive, block_bytes: 65536, ignore_missing: false, unload: false });
    const began = performance.now();
    ask({ ask: "order", tape: 0, order: "best", seed: number + 1 });
    moduleMs += performance.now() - began;
    ours = ask({ ask: "write", tape: 0, order: "best", format: "json", from: "", into: "" }).text;
  } catch (error) {
    ours = `refused: ${error.message}`;
  }
  try {
    const began = performance.now();
    const options = ["order", "--profile", drive, "--block-size", "65536", "--seed", String(number + 1), "--json", "-q", file];
    theirs = execFileSync(program, options, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1 << 28 });
    programMs += performance.now() - began;
  } catch {
    theirs = "refused";
  }
  if (ours.startsWith("refused") && theirs === "refused") {
    refused += 1;
  } else if (ours === theirs) {
    same += 1;
  } else {
    writeFileSync(join(tmpdir(), "tapewise-differs.csv"), contents);
    console.error(`batch ${number}: ${size} requests on ${drive} differ: ${ours.slice(0, 200)}`);
    process.exitCode = 1;
  }
}
rmSync(folder, { recursive: true });
console.log(`${same} of ${batches} plans are the same to the byte, ${refused} were refused by both;`);
console.log(`search in the module ${(moduleMs / 1000).toFixed(1)} s, the whole program ${(programMs / 1000).toFixed(1)} s`);
