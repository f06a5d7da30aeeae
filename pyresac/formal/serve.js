// What stands before the published lean.js: the process checks one file after the other.
//
// A request is a line of JSON on the standard input, {mounts, options, source}; the reply is a line of JSON behind a mark
// on the standard output, {status, output, heap}. The end of the input ends the process. Lean is compiled and
// initialised once; each file is elaborated as by a `lean` of its own, with its own options and its own environment.

const leanServer = {
  mark: '\x1e',
  main: require('worker_threads').isMainThread,
  mounted: {},
  said: [],
  started: false,

  // Serve until the input ends. A file's reply is sent before the next line is looked at, and between the two the
  // event loop hears what the worker threads report.
  serve(callMain) {
    const lines = require('readline').createInterface({input: process.stdin});
    lines.on('line', line => this.reply(callMain, JSON.parse(line)));
    lines.on('close', () => process.exit(0));
  },

  reply(callMain, {mounts, options, source}) {
    for (const [real, seen] of mounts) this.mount(real, seen);
    this.said.length = 0;
    const status = this.check(callMain, options, source);
    growMemViews();
    const answer = {status, output: this.said.join('\n'), heap: HEAP8.length};
    // Not fs.writeSync, which writes a part of what is longer than the pipe's buffer.
    process.stdout.write(`\n${this.mark}${JSON.stringify(answer)}\n`);
  },

  mount(real, seen) {
    if (this.mounted[seen] === real) return;
    if (seen in this.mounted) FS.unmount(seen);
    else FS.mkdirTree(seen);
    FS.mount(NODEFS, {root: real}, seen);
    this.mounted[seen] = real;
  },

  // Lean's main ends by an exit, which is a status thrown: the stack is put back where it was.
  check(callMain, options, source) {
    const stack = stackSave();
    try {
      if (this.started) return this.again(options, source);
      this.started = true;
      return callMain([...options, source]);
    } catch (thrown) {
      if (thrown instanceof ExitStatus) return thrown.status;
      throw thrown;
    } finally {
      stackRestore(stack);
    }
  },

  // What Lean's main does once it has initialised Lean: read the options, run the shell.
  again(options, source) {
    const lean = wasmExports, parsed = stackAlloc(16), status = stackAlloc(16), argv = stackAlloc(16);
    lean._ZN4lean16mk_shell_optionsEv(parsed);
    for (const option of options) {
      const value = stringToUTF8OnStack(option.slice(2));
      lean._ZN4lean20process_shell_optionERNS_10object_refEiPKcRi(parsed, option.charCodeAt(1), value, status);
    }
    const file = stringToUTF8OnStack(source);
    growMemViews();
    HEAPU32[argv >> 2] = file;
    HEAPU32[(argv >> 2) + 1] = 0;
    return lean._ZN4lean14run_shell_mainEiPPcRKNS_10object_refE(1, argv, parsed);
  },
};

if (leanServer.main) {
  // Not enumerable, so that the worker threads do not send their own lines here after the reply.
  const print = {value: text => leanServer.said.push(text)};
  // argv[0]'s folder must exist in the virtual file system: Lean looks for its own installation beside it.
  const preRun = [() => { FS.mkdirTree(__dirname); ENV.LEAN_PATH = process.env.LEAN_PATH || ''; }];
  globalThis.Module = Object.defineProperties({preRun}, {print, printErr: print});
}

