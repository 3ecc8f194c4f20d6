// Runs the command. Each run is a process of its own: arguments, files, and what it prints.
import { ConsoleStdout, File, OpenFile, PreopenDirectory, WASI } from "./wasi/index.js";

// What the page shows of one run.
const MOST = 1 << 20;

// A file of which only those parts are read that the command asks for.
function file(blob) {
  const made = new File([], { readonly: true });
  made.data = {
    byteLength: blob.size,
    slice: (from, to) => new Uint8Array(new FileReaderSync().readAsArrayBuffer(blob.slice(from, to))),
  };
  return made;
}

function printer() {
  const parts = [];
  let length = 0;
  const write = (bytes) => {
    if (length < MOST) parts.push(bytes.slice());
    length += bytes.length;
  };
  const text = async () => (await new Blob(parts).text()) + (length > MOST ? "\n… and more\n" : "");
  return { out: new ConsoleStdout(write), text };
}

async function run(module, files, args) {
  const [out, err] = [printer(), printer()];
  const folder = new PreopenDirectory(".", new Map(Object.entries(files).map(([name, blob]) => [name, file(blob)])));
  const process = new WASI(["dtype", ...args], ["NO_COLOR=1"], [new OpenFile(new File([])), out.out, err.out, folder], { debug: false });
  let status;
  try {
    const instance = await WebAssembly.instantiate(module, { wasi_snapshot_preview1: process.wasiImport });
    status = process.start(instance);
  } catch (error) {
    return { status: -1, out: "", err: `the command stopped: ${error.message}` };
  }
  return { status, out: await out.text(), err: await err.text() };
}

onmessage = async ({ data: { module, files, runs } }) => {
  for (const [key, args] of Object.entries(runs)) {
    postMessage({ key, ...(await run(module, files, args)) });
  }
  postMessage({ key: null });
};
