// The page in a browser.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { gzipSync } from "node:zlib";
import { folder, launch, serve } from "./browser.mjs";

const examples = new URL("../../../dtype-cli/examples/", import.meta.url).pathname;
let browser, server, url, page, said, requests;

before(async () => {
  ({ server, url } = await serve());
  browser = await launch();
});
after(async () => {
  await browser.close();
  server.close();
});
beforeEach(() => opened());
afterEach(async () => {
  await page.context().close();
  assert.deepEqual(said, [], "the browser reports nothing");
  for (const request of requests) assert.ok(/^(blob|data):/.test(request) || request.startsWith(url), request);
});

// Opens the page, with a link's options and a browser's.
async function opened(link = {}, options = {}) {
  await page?.context().close();
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  page = await context.newPage();
  page.setDefaultTimeout(10_000);
  [said, requests] = [[], []];
  page.on("console", (message) => said.push(message.text()));
  page.on("pageerror", (error) => said.push(error.message));
  context.on("request", (request) => requests.push(request.url()));
  await done(() => page.goto(`${url}#${new URLSearchParams(link)}`));
}

// Does something, and waits until what it starts is done.
async function done(action) {
  const count = () => Number(document.body.dataset.done ?? 0);
  const earlier = page.url().startsWith(url) ? await page.evaluate(count) : 0;
  await action();
  await page.waitForFunction((earlier) => Number(document.body.dataset.done ?? 0) > earlier, earlier);
}

const write = (text, key = "a") => done(() => page.fill(`#text-${key}`, text));

// The titles of the boxes in a picture: the fields and the gaps.
const boxes = (view = 0) => page.evaluate((view) => {
  const { shadowRoot } = document.querySelectorAll(".view:not([hidden]) .picture")[view];
  return [...shadowRoot.querySelectorAll("rect > title")].map((title) => title.textContent);
}, view);

const shown = (selector) => page.textContent(selector);

const drop = (name, bytes) => done(() => page.evaluate(([name, bytes]) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([new Uint8Array(bytes)], name));
  document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
}, [name, [...bytes]]));

test("a text becomes a picture, in every language", async () => {
  const fields = ["x: f64 × 3; bytes 0 to 23", "k: u8; byte 24", "gap; bytes 25 to 27", "id: i32; bytes 28 to 31"];
  const basic = (text) => text.replace("c_int", "i32").replace("c_uchar", "u8");
  for (const text of [
    "#[repr(C)] struct P { x: [f64; 3], k: u8, id: i32 }",
    "struct P { double x[3]; unsigned char k; int id; };",
    "[('x', 'f8', (3,)), ('k', 'u1'), ('', 'V3'), ('id', 'i4')]",
    "struct{x: [f64; 3], k: u8, id: i32}",
  ]) {
    await write(text);
    assert.deepEqual((await boxes()).map(basic), fields, text);
  }
});

test("sizes are those of x86-64", async () => {
  await write("struct P { char x; long a; size_t b; long double c; };");
  assert.match(await shown(".numbers"), /^33 bytes of data in an extent of 48, alignment 16\.$/);
});

test("gaps, a better order, and other languages", async () => {
  await write("#[repr(C)] struct S { kind: u8, position: [f64; 3], flags: u16 }");
  assert.equal(await shown(".gaps"), "13 bytes of padding: 7 after kind, 6 at the end.");
  assert.equal(await shown(".order"), "In the order position, flags, kind it has 32 bytes, 8 less.");
  for (const [form, part] of [
    ["Rust struct", "pub struct S"], ["C struct", "struct S {"], ["MPI calls in C", "MPI_Type_create_struct"],
    ["calls in Rust", "Type::structure"], ["NumPy dtype", "np.dtype({"], ["MPI notation", "struct{kind: u8@0"],
    ["how it is packed", "bytes"],
  ]) {
    await done(() => page.getByLabel(form, { exact: true }).check());
    const text = await shown("#written pre");
    assert.ok(text.includes(part), `${form}: ${text}`);
  }
});

test("a picture appears within 50 ms of a key", async () => {
  const times = await page.evaluate(async () => {
    const area = document.querySelector("#text-a");
    const { shadowRoot } = document.querySelector(".picture");
    const times = [];
    for (let n = 1; n <= 30; n += 1) {
      const drawn = new Promise((drawn) => new MutationObserver((_, observer) => {
        observer.disconnect();
        drawn();
      }).observe(shadowRoot, { childList: true }));
      area.value = `#[repr(C)] struct S { kind: u8, position: [f64; ${n}], flags: u16 }`;
      const start = performance.now();
      area.dispatchEvent(new Event("input"));
      await drawn;
      times.push(performance.now() - start);
      await new Promise((later) => setTimeout(later, 60));
    }
    return times.sort((a, b) => a - b);
  });
  console.log(`from a key to the picture: median ${times[15].toFixed(1)} ms, slowest ${times.at(-1).toFixed(1)} ms`);
  assert.ok(times[15] <= 50, times.join(" "));
});

test("mistakes are at their places", async () => {
  await write("# ≠ 𝛼\nvector(4, 5, 6, u46)");
  assert.equal(await shown(".editor mark"), "u46");
  assert.equal(await page.getAttribute("#text-a", "aria-invalid"), "true");
  assert.match(await shown(".mistakes"), /2:17 unknown type `u46`/);
  await page.click(".mistakes button");
  const selected = await page.evaluate(() => {
    const { value, selectionStart, selectionEnd } = document.activeElement;
    return value.slice(selectionStart, selectionEnd);
  });
  assert.equal(selected, "u46");
  await done(() => page.click("text=write u64"));
  assert.equal(await page.inputValue("#text-a"), "# ≠ 𝛼\nvector(4, 5, 6, u64)");
  assert.equal(await page.locator(".editor mark, .mistakes li").count(), 0);
  // Two at once, at the end of the text, and the picture of before stays.
  await write("#[repr(C)] struct A { x: f63, y: Option<u8> }");
  assert.deepEqual(await page.locator(".editor mark").allTextContents(), ["f63", "Option<u8>"]);
  assert.ok((await boxes()).length);
  await write("vector(4, 5, 6, u64");
  assert.match(await shown(".mistakes"), /1:20 `\(` is not closed/);
});

test("one of several structs is chosen", async () => {
  await write("struct A { int x; };\nstruct B { char y; };");
  await done(() => page.click(".mistakes >> text=B"));
  assert.deepEqual(await boxes(), ["y: c_char; byte 0"]);
});

test("two texts are compared", async () => {
  await done(() => page.check("#compare"));
  await write("struct{a: f64, b: u8}");
  await write("struct P { unsigned char b; double a; };", "b");
  assert.match(await shown("#comparison pre"), /different signatures/);
  assert.deepEqual(await boxes(0), ["a: f64; bytes 0 to 7", "b: u8; byte 8", "gap; bytes 9 to 15"]);
  assert.deepEqual(await boxes(1), ["b: c_uchar; byte 0", "gap; bytes 1 to 7", "a: f64; bytes 8 to 15"]);
  await write("struct P { nothing };", "b");
  assert.equal(await page.getAttribute("#text-b", "aria-invalid"), "true");
  assert.equal(await page.getAttribute("#text-a", "aria-invalid"), "false");
});

test("a link keeps everything", async () => {
  await write("vector(4, 1, 6, f64) # é & +");
  await page.click("#input summary");
  await page.fill("#row", "48");
  await done(() => page.fill("#unit", "8"));
  await done(() => page.getByLabel("NumPy dtype").check());
  const drawn = await boxes();
  await page.waitForFunction(() => location.hash.includes("as=numpy"));
  const hash = new URL(page.url()).hash.slice(1);
  await opened(Object.fromEntries(new URLSearchParams(hash)));
  assert.equal(await page.inputValue("#text-a"), "vector(4, 1, 6, f64) # é & +");
  assert.deepEqual(await boxes(), drawn);
  assert.ok(await page.getByLabel("NumPy dtype").isChecked());
  // Another link in the same tab.
  await done(() => page.evaluate(() => (location.hash = "#a=u8")));
  assert.deepEqual(await boxes(), ["data: u8; byte 0"]);
});

const elsewhere = process.arch !== "x64" && "the page reads programs for x86-64, and this machine's compiler makes others";
test("a dropped program has its structs", { skip: elsewhere }, async () => {
  const source = "struct Particle { double x[3]; char kind; int id; } p; struct Node { struct Node *next; char c; } n;";
  const object = join(mkdtempSync(join(tmpdir(), "dtype-")), "program.o");
  execFileSync("cc", ["-g", "-c", "-x", "c", "-", "-o", object], { input: source });
  await drop("a program.o", readFileSync(object));
  rmSync(dirname(object), { recursive: true });
  assert.deepEqual(await page.locator("#list td:first-child").allTextContents(), ["Node", "Particle"]);
  await done(() => page.click("#list >> text=Particle"));
  assert.deepEqual((await boxes()).slice(0, 3), ["x: f64 × 3; bytes 0 to 23", "kind: c_char; byte 24", "gap; bytes 25 to 27"]);
  // What is no data is drawn, and left out of what is written.
  await done(() => page.click("#list >> text=Node"));
  assert.equal((await boxes())[0], "next: struct Node *; bytes 0 to 7");
  assert.match(await shown(".numbers"), /^16 bytes, alignment 8\. Declared at /);
  assert.deepEqual(await page.locator(".view:not([hidden]) tr:nth-child(2) td").allTextContents(), ["next", "struct Node *", "0", "8", ""]);
  assert.equal(await shown("#written p"), "left out: `next` at byte 0: a pointer");
  await done(() => page.click("#close"));
  assert.ok(await page.isVisible("#text-a"));
});

test("a dropped file of arrays, of records, of messages, a text", async () => {
  const header = "{'descr': [('id', '<i4'), ('x', '<f8')], 'fortran_order': False, 'shape': (1,), }".padEnd(117) + "\n";
  const values = new Uint8Array(12);
  new DataView(values.buffer).setInt32(0, 77, true);
  await drop("a.npy", Buffer.concat([Buffer.from("\x93NUMPY\x01\x00v\x00", "latin1"), Buffer.from(header), values]));
  assert.deepEqual(await boxes(), ["id: i32; bytes 0 to 3", "x: f64; bytes 4 to 11"]);
  assert.match(await shown("#values pre"), /record\s+id\s+x\n\s+0\s+77\s+0.0/);

  await drop("samples.frames", readFileSync(join(examples, "samples.frames")));
  assert.match(await shown("#values pre"), /^frame 0 at 0: 65 bytes[^]*3 frames\n$/);

  await drop("sample.dtype", readFileSync(join(examples, "sample.dtype")));
  assert.match(await page.inputValue("#text-a"), /tags/);
  await drop("samples.bin", readFileSync(join(examples, "samples.bin")));
  assert.match(await shown("#values pre"), /2\s+NaN\s+invalid 0x07/);
  await done(() => page.selectOption("#form", "hex"));
  assert.match(await shown("#values pre"), /9a 99 99 99/);
});

test("hostile texts and files do no harm", async () => {
  await write("struct{\"<img src=x onerror=alert(1)>\": u8, \"</style><script>alert(1)</script>\": f64}");
  assert.equal(await page.locator("img, script:not([src])").count(), 0);
  assert.match((await boxes())[0], /^<img src=x/);
  for (const deep of [["&", "u8"], ["[", ""], ["Option<", "u8"], ["fn() -> ", "u8"], ["*const ", "u8"]]) {
    await write(`#[repr(C)] struct A { x: ${deep[0].repeat(30_000)}${deep[1]} }`);
    assert.ok((await shown(".mistakes")) || (await shown("#status")), deep[0]);
  }
  await write("[[[[u8; 4000000000]; 4000000000]; 1]; 3]");
  const noise = Uint8Array.from({ length: 5000 }, (_, i) => (i * i * 31) >> 3);
  await drop("noise.o", Buffer.concat([Buffer.from("\x7fELF\x02\x01\x01"), noise]));
  assert.ok(await shown("#status"));
  await done(() => page.click("#close"));
  await write("u16");
  assert.deepEqual(await boxes(), ["data: u16; bytes 0 to 1"]);
});

test("a run that takes too long is ended, and the next one works", async () => {
  // Nothing in the command runs for ever, so a worker that does stands for it.
  await page.evaluate(() => {
    const Real = Worker;
    let first = true;
    window.Worker = class extends Real {
      constructor(start, options) {
        super(first ? URL.createObjectURL(new Blob(["for (;;);"], { type: "text/javascript" })) : start, options);
        first = false;
      }
    };
    const { setTimeout } = window;
    window.setTimeout = (call, time) => {
      if (time === 5000) window.setTimeout = setTimeout;
      return setTimeout(call, time === 5000 ? 500 : time);
    };
  });
  // The worker of the page is ended by two texts at once.
  await done(() => page.evaluate(() => {
    for (const text of ["u8", "u16"]) {
      document.querySelector("#text-a").value = text;
      document.querySelector("#text-a").dispatchEvent(new Event("input"));
    }
  }));
  assert.match(await shown("#status"), /takes longer than 5 s and was ended/);
  await write("u32");
  assert.deepEqual(await boxes(), ["data: u32; bytes 0 to 3"]);
  assert.equal(await shown("#status"), "");
});

test("the keyboard is enough", async () => {
  const reached = new Set();
  for (let i = 0; i < 40; i += 1) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => {
      const one = document.activeElement;
      return one.id || one.textContent.trim() || one.name || one.className;
    }));
  }
  for (const one of ["examples", "from", "text-a", "compare", "packed", "share", "file", "Copy", "The fields as a table"]) {
    assert.ok(reached.has(one), `${one}: ${[...reached].join(", ")}`);
  }
  await page.focus("#text-a");
  await page.keyboard.press("Control+A");
  await done(() => page.keyboard.insertText("u8"));
  assert.deepEqual(await boxes(), ["data: u8; byte 0"]);
  await page.getByLabel("C struct", { exact: true }).focus();
  await done(() => page.keyboard.press("ArrowRight"));
  assert.ok(await page.getByLabel("Rust struct").isChecked());
});

test("everything has a name for screen readers", async () => {
  await done(() => page.check("#compare"));
  const nameless = await page.evaluate(() => {
    const all = document.querySelectorAll("input, select, textarea, button, [role=figure], pre[tabindex]");
    return [...all].filter((one) => !one.labels?.length && !one.textContent.trim() && !one.ariaLabel).map((one) => one.outerHTML);
  });
  assert.deepEqual(nameless, []);
  assert.equal(await page.getByRole("textbox", { name: "Another type" }).count(), 1);
  assert.equal(await page.evaluate(() => document.documentElement.lang), "en");
});

test("a phone shows everything in its width, in one column", async () => {
  await opened({}, { viewport: { width: 360, height: 740 }, isMobile: true });
  const { scroll, below } = await page.evaluate(() => ({
    scroll: document.documentElement.scrollWidth,
    below: document.querySelector("#output").getBoundingClientRect().top >=
      document.querySelector("#input").getBoundingClientRect().bottom,
  }));
  assert.equal(scroll, 360);
  assert.ok(below);
  const widest = await page.evaluate(() => {
    const { shadowRoot } = document.querySelector(".picture");
    return Math.max(...[...shadowRoot.querySelectorAll("rect[x]")].map((box) => +box.getAttribute("x") + +box.getAttribute("width")));
  });
  assert.ok(widest <= 360, `${widest}`);
});

test("the picture is dark where the page is", async () => {
  const colours = () => page.evaluate(() => {
    const paper = document.querySelector(".picture").shadowRoot.querySelector(".dt-paper");
    return [getComputedStyle(paper).fill, getComputedStyle(document.body).backgroundColor];
  });
  const light = await colours();
  await opened({}, { colorScheme: "dark" });
  const dark = await colours();
  assert.deepEqual(light, ["rgb(255, 255, 255)", "rgb(255, 255, 255)"]);
  assert.deepEqual(dark, ["rgb(15, 18, 22)", "rgb(15, 18, 22)"]);
});

test("nothing leaves the page", async () => {
  const refused = await page.evaluate(async () => {
    const outside = "https://example.org/";
    const tries = [() => fetch(outside), () => new Promise((_, fail) => {
      const socket = new WebSocket("wss://example.org/");
      socket.onerror = fail;
      setTimeout(fail, 500);
    })];
    const results = await Promise.allSettled(tries.map((each) => each()));
    // A worker like the page's has the same policy.
    const source = "fetch('https://example.org/').then(() => postMessage('sent'), () => postMessage('refused'))";
    const worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })), { type: "module" });
    const inWorker = await new Promise((said) => (worker.onmessage = ({ data }) => said(data)));
    return [...results.map(({ status }) => status), inWorker];
  });
  assert.deepEqual(refused, ["rejected", "rejected", "refused"]);
  assert.ok(said.every((text) => text.includes("Content Security Policy")), said.join("\n"));
  said = [];
  requests = requests.filter((request) => !request.includes("example.org"));
});

test("the folder is small", () => {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const sizes = files.map((entry) => gzipSync(readFileSync(join(entry.parentPath, entry.name))).length);
  const size = sizes.reduce((a, b) => a + b);
  console.log(`${Math.round(size / 1000)} KB compressed`);
  assert.ok(size < 1_500_000, `${size}`);
});
