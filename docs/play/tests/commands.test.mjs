// The command as WebAssembly prints what the command prints: dtype-cli/tests/commands/*.trycmd.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { folder } from "./browser.mjs";

const crate = new URL("../../../dtype-cli/", import.meta.url).pathname;

// The words of a line, as a shell has them.
function words(line) {
  return [...line.matchAll(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g)].map(([word]) => word.replace(/'([^']*)'|"([^"]*)"/g, "$1$2"));
}

// A process for each run: Node crashes after some runs in one.
function run(args) {
  const script = `
    import { readFileSync } from "node:fs";
    import { WASI } from "node:wasi";
    const [path, ...args] = process.argv.slice(1);
    const wasi = new WASI({ version: "preview1", args, preopens: { ".": "." } });
    process.exitCode = wasi.start(new WebAssembly.Instance(new WebAssembly.Module(readFileSync(path)), wasi.getImportObject()));`;
  const node = ["--no-warnings", "--input-type=module", "-e", script, "--", join(folder, "dtype.wasm"), ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, node, { cwd: crate, encoding: "utf8" });
  return { status, text: stderr + stdout };
}

// Numbers of the system's errors differ, and trycmd takes backslashes for slashes.
const known = (text) => text.replace(/os error \d+/g, "os error").replaceAll("\\", "/").trimEnd();

for (const name of readdirSync(join(crate, "tests/commands"))) {
  test(name, () => {
    const blocks = [...readFileSync(join(crate, "tests/commands", name), "utf8").matchAll(/^```console\n(.*?)^```$/gms)];
    assert.ok(blocks.length > 0);
    for (const [, block] of blocks) {
      const [, line, status, expected] = block.match(/^\$ (.*)\n(?:\? (\d+)\n)?([^]*)$/);
      const result = run(words(line));
      assert.equal(known(result.text), known(expected), line);
      assert.equal(result.status, Number(status ?? 0), line);
    }
  });
}
