// Runs the command. Each run is a process of its own: arguments, files, and what it prints.
import { ConsoleStdout, File, OpenFile, PreopenDirectory, WASI } from "./wasi/index.js";

// The greatest length of what a run prints.
const MOST = 64 << 20;

// The bytes of the files. A file that was dropped is read once.
const kept = new Map();

function file(bytes) {
  const made = new File([], { readonly: true });
  made.data = bytes;
  return made;
}

function printer() {
  const parts = [];
  let length = 0;
  const write = (bytes) => {
    if (length < MOST) parts.push(bytes.slice());
    length += bytes.length;
  };
  const text = () => new Blob(parts).text();
  return { out: new ConsoleStdout(write), text };
}

async function run(module, args) {
  const [out, err] = [printer(), printer()];
  const folder = new PreopenDirectory(".", new Map([...kept].map(([name, bytes]) => [name, file(bytes)])));
  const process = new WASI(["dtype", ...args], ["NO_COLOR=1"], [new OpenFile(new File([])), out.out, err.out, folder], { debug: false });
  let status;
  try {
    const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: process.wasiImport });
    status = process.start(instance);
  } catch (error) {
    return { status: -1, out: "", err: `${await err.text()}the command stopped: ${error.message}` };
  }
  return { status, out: await out.text(), err: await err.text() };
}

// A file without bytes is one of the message before.
onmessage = async ({ data: { module, files, runs } }) => {
  try {
    for (const name of kept.keys()) if (!(name in files)) kept.delete(name);
    for (const [name, blob] of Object.entries(files)) {
      if (blob) kept.set(name, new Uint8Array(await blob.arrayBuffer()));
    }
    for (const [key, args] of Object.entries(runs)) postMessage({ key, ...(await run(module, args)) });
    postMessage({ key: null });
  } catch (error) {
    postMessage({ key: null, failed: error.message });
  }
};
