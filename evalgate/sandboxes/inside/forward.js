// Inside a sandbox: one port of the loopback, carried over standard input and output.
// The same frames and the same end as forward.py, for images with Node and without Python.
"use strict";
const net = require("net");
const { spawn } = require("child_process");

const [port, program, ...words] = process.argv.slice(2);
const connections = new Map();
let last = 0;
// In place of a length: the connection was not ended but reset.
const RESET = 0xffffffff;

function say(number, chunk) {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(number, 0);
  head.writeUInt32BE(chunk.length, 4);
  return process.stdout.write(Buffer.concat([head, chunk]));
}

function reset(number) {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(number, 0);
  head.writeUInt32BE(RESET, 4);
  process.stdout.write(head);
}

const server = net.createServer({ allowHalfOpen: true }, (connection) => {
  const number = ++last;
  connections.set(number, connection);
  connection.setNoDelay(true);
  say(number, Buffer.alloc(0));
  connection.on("data", (chunk) => {
    for (let at = 0; at < chunk.length; at += 65536) {
      if (!say(number, chunk.subarray(at, at + 65536))) {
        connection.pause();
        process.stdout.once("drain", () => connection.resume());
      }
    }
  });
  let ended = false;
  connection.on("end", () => { ended = true; say(number, Buffer.alloc(0)); });
  connection.on("error", () => connection.destroy());
  connection.on("close", () => {
    connections.delete(number);
    if (!ended) reset(number);
  });
});

let held = Buffer.alloc(0);
process.stdin.on("data", (chunk) => {
  held = held.length ? Buffer.concat([held, chunk]) : chunk;
  while (held.length >= 8) {
    const length = held.readUInt32BE(4) === RESET ? 0 : held.readUInt32BE(4);
    if (held.length < 8 + length) break;
    const connection = connections.get(held.readUInt32BE(0));
    if (connection && !connection.destroyed) {
      if (held.readUInt32BE(4) === RESET) {
        if (connection.resetAndDestroy) connection.resetAndDestroy();
        else connection.destroy();
      } else if (length) connection.write(held.subarray(8, 8 + length));
      else connection.end();
    }
    held = held.subarray(8 + length);
  }
});

server.listen(Number(port), "127.0.0.1", () => {
  const child = spawn(program, words, { stdio: ["ignore", 2, 2] });
  child.on("spawn", () => say(0, Buffer.alloc(0)));
  child.on("error", (error) => {
    say(0, Buffer.from(`${program}: ${error.code}`));
    process.stderr.write(`${program}: ${error.code}\n`, () => process.exit(127));
  });
  child.on("exit", (code, signal) => {
    process.exit(code === null ? 128 + require("os").constants.signals[signal] : code);
  });
});
