// Which program is the server: nothing here knows Visual Studio Code.
"use strict";

const { execFile } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");

const BUNDLED = path.join(__dirname, "bundled");

/** Whether an interpreter has xlalint with what its server needs. */
function hasServer(interpreter) {
  return new Promise((resolve) => {
    const asked = ["-c", "import importlib.util as u, sys; sys.exit(not (u.find_spec('xlalint') and u.find_spec('pygls')))"];
    execFile(interpreter, asked, { timeout: 20_000 }, (error) => resolve(!error));
  });
}

/** The interpreter of a folder: as set, as the Python extension has it, its .venv, or the one on the path. */
function interpreterOf(settings, folder, selected) {
  const set = settings.interpreter.replaceAll("${workspaceFolder}", folder ?? "");
  const windows = process.platform === "win32";
  const own = folder && path.join(folder, ".venv", ...(windows ? ["Scripts", "python.exe"] : ["bin", "python"]));
  return set || selected || (own && fs.existsSync(own) ? own : windows ? "python" : "python3");
}

/**
 * The command line and the environment of the server, and in words what it is. `settings`: those of package.json;
 * `folder`: the workspace's; `selected`: the interpreter that the Python extension has selected, if it is there.
 * Rejects where there is nothing to run, with a message for the person.
 */
async function serverCommand(settings, folder, selected) {
  const rest = ["server", ...settings.args];
  if (settings.path) {
    return { command: settings.path, args: rest, env: {}, what: settings.path };
  }
  const interpreter = interpreterOf(settings, folder, selected);
  const module = ["-m", "xlalint", ...rest];
  if (settings.importStrategy !== "useBundled" && (await hasServer(interpreter))) {
    return { command: interpreter, args: module, env: {}, what: `xlalint of ${interpreter}` };
  }
  if (fs.existsSync(path.join(BUNDLED, "xlalint"))) {
    const env = { PYTHONPATH: BUNDLED };
    return { command: interpreter, args: module, env, what: `xlalint of the extension, run by ${interpreter}` };
  }
  throw new Error(`${interpreter} has no xlalint: run \`${interpreter} -m pip install "xlalint[server]"\``);
}

module.exports = { serverCommand };
