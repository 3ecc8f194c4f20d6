// A browser with the page, which a server of files serves.
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";
import { chromium } from "playwright-core";

const TYPES = {
  ".css": "text/css", ".html": "text/html", ".js": "text/javascript", ".svg": "image/svg+xml", ".wasm": "application/wasm",
};

// The folder that docs/play/build made.
export const folder = process.env.DTYPE_PLAY ?? new URL("../../../target/book/play", import.meta.url).pathname;

export async function serve() {
  const server = createServer(async (request, response) => {
    const path = normalize(new URL(request.url, "http://host").pathname);
    try {
      const bytes = await readFile(join(folder, path === "/" ? "index.html" : path));
      response.writeHead(200, { "content-type": TYPES[extname(path) || ".html"] ?? "application/octet-stream" }).end(bytes);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return { server, url: `http://127.0.0.1:${server.address().port}/` };
}

export function launch() {
  const executablePath = process.env.DTYPE_CHROMIUM ?? "/usr/bin/chromium";
  // Without a sandbox of its own, for root.
  return chromium.launch({ executablePath, args: ["--no-sandbox"] });
}
