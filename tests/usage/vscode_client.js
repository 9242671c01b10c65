// Starts the server as the extension for Visual Studio Code does, opens a file, and prints what it is told of it.
// Arguments: the extension's folder, its settings (JSON), the workspace's folder, the file.
"use strict";

const { spawn } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");
const { pathToFileURL } = require("node:url");

const [extension, given, folder, file] = process.argv.slice(2);
const { serverCommand } = require(path.join(extension, "command.js"));

function talk(server, on) {
  let read = Buffer.alloc(0);
  server.stdout.on("data", (chunk) => {
    read = Buffer.concat([read, chunk]);
    for (;;) {
      const end = read.indexOf("\r\n\r\n");
      const length = end < 0 ? NaN : Number(/Content-Length: (\d+)/i.exec(read.subarray(0, end).toString())[1]);
      if (!(read.length >= end + 4 + length)) return;
      on(JSON.parse(read.subarray(end + 4, end + 4 + length).toString()));
      read = read.subarray(end + 4 + length);
    }
  });
  return (message) => {
    const text = JSON.stringify({ jsonrpc: "2.0", ...message });
    server.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  };
}

async function main() {
  const run = await serverCommand(JSON.parse(given), folder, undefined);
  const server = spawn(run.command, run.args, { cwd: folder, env: { ...process.env, ...run.env } });
  const uri = pathToFileURL(path.join(folder, file)).href;
  const told = { what: run.what };
  const say = talk(server, (message) => {
    if (message.id === 1) {
      told.server = message.result.serverInfo;
      const text = fs.readFileSync(path.join(folder, file), "utf-8");
      say({ method: "initialized", params: {} });
      say({ method: "textDocument/didOpen", params: { textDocument: { uri, languageId: "python", version: 1, text } } });
    } else if (message.method === "textDocument/publishDiagnostics") {
      told.diagnostics = message.params.diagnostics.map((one) => [one.code, one.range.start.line + 1]);
      say({ id: 2, method: "shutdown" });
    } else if (message.id === 2) {
      say({ method: "exit" });
    }
  });
  const workspaceFolders = [{ uri: pathToFileURL(folder).href, name: "workspace" }];
  say({ id: 1, method: "initialize", params: { processId: process.pid, rootUri: workspaceFolders[0].uri, workspaceFolders, capabilities: {} } });
  server.on("exit", (code) => process.stdout.write(JSON.stringify({ ...told, code }) + "\n"));
}

main().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
