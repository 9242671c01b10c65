// The extension: starts and restarts the server, and says in the status bar how it is.
"use strict";

const vscode = require("vscode");
const { LanguageClient, RevealOutputChannelOn, State, Trace } = require("vscode-languageclient/node");
const { serverCommand } = require("./command");

const STATES = {
  [State.Starting]: ["$(sync~spin) xlalint", "starting"],
  [State.Running]: ["$(check) xlalint", "running"],
  [State.Stopped]: ["$(circle-slash) xlalint", "stopped"],
};

let client;
let output;
let status;
let turn = Promise.resolve(); // one start or stop after another

function show([text, state], what) {
  status.text = text;
  status.tooltip = [`xlalint is ${state}`, what].filter(Boolean).join("\n");
}

function settings() {
  const all = vscode.workspace.getConfiguration("xlalint");
  return Object.fromEntries(
    ["enable", "importStrategy", "interpreter", "path", "args"].map((name) => [name, all.get(name)]),
  );
}

/** The interpreter that the Python extension has selected; nothing without that extension. */
async function selectedInterpreter(folder) {
  const python = vscode.extensions.getExtension("ms-python.python");
  if (!python) return undefined;
  const environments = (await python.activate())?.environments;
  const active = environments?.getActiveEnvironmentPath(folder?.uri);
  return active && (await environments.resolveEnvironment(active))?.executable.uri?.fsPath;
}

async function stop() {
  const running = client;
  client = undefined;
  await running?.dispose();
}

async function start() {
  await stop();
  const given = settings();
  if (!given.enable) {
    show(STATES[State.Stopped], "xlalint.enable is off");
    return;
  }
  show(STATES[State.Starting]);
  try {
    const folder = vscode.workspace.workspaceFolders?.[0];
    const run = await serverCommand(given, folder?.uri.fsPath, await selectedInterpreter(folder));
    output.appendLine(`${run.what}: ${[run.command, ...run.args].join(" ")}`);
    const options = { cwd: folder?.uri.fsPath, env: { ...process.env, ...run.env } };
    client = new LanguageClient(
      "xlalint",
      "xlalint",
      { command: run.command, args: run.args, options },
      {
        documentSelector: [{ language: "python" }],
        outputChannel: output,
        revealOutputChannelOn: RevealOutputChannelOn.Never,
      },
    );
    client.onDidChangeState(({ newState }) => show(STATES[newState], run.what));
    await client.start();
    const trace = vscode.workspace.getConfiguration("xlalint").get("trace.server");
    await client.setTrace(Trace.fromString(trace ?? "off"));
  } catch (error) {
    output.appendLine(String(error));
    show(["$(error) xlalint", "not running"], error.message);
    const choice = await vscode.window.showErrorMessage(`xlalint: ${error.message}`, "Show the output");
    if (choice) output.show();
  }
}

function restart() {
  turn = turn.then(start);
}

async function activate(context) {
  output = vscode.window.createOutputChannel("xlalint");
  status = vscode.window.createStatusBarItem("xlalint.status", vscode.StatusBarAlignment.Right);
  status.name = "xlalint";
  status.command = "xlalint.showOutput";
  status.show();
  const python = vscode.extensions.getExtension("ms-python.python");
  context.subscriptions.push(
    output,
    status,
    vscode.commands.registerCommand("xlalint.restart", restart),
    vscode.commands.registerCommand("xlalint.showOutput", () => output.show()),
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration("xlalint") && restart()),
  );
  restart();
  const environments = (await python?.activate())?.environments;
  if (environments) context.subscriptions.push(environments.onDidChangeActiveEnvironmentPath(restart));
}

function deactivate() {
  return stop();
}

module.exports = { activate, deactivate };
