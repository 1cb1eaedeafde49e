import { setFlagsFromString } from 'node:v8';
import { createContext, runInNewContext } from 'node:vm';
import { ModuleMocker } from 'jest-mock';
import { restoreProcess, stateOfProcess } from './changed-process';
import { createWorkerResources, type WorkerResources } from './worker-resources';

declare global {
  /** Resources that outlive a test file; see worker-resources.ts. */
  var workerResources: WorkerResources;
}

/**
 * Where test files run (test-runner.ts): in the worker process itself, one after the other, with its global object and
 * its `process`. What a file changes of the process is taken back at its end (changed-process.ts).
 */
export default class WorkerEnvironment {
  readonly global = globalThis;
  readonly moduleMocker = new ModuleMocker(globalThis);
  readonly #before = stateOfProcess();

  async setup(): Promise<void> {}

  async teardown(): Promise<void> {
    restoreProcess(this.#before);
    if (process.memoryUsage().heapUsed > COLLECT_ABOVE_BYTES) runInNewContext('gc()');
  }

  /** Jest demands a context for its own modules. */
  getVmContext() {
    return CONTEXT;
  }
}

const CONTEXT = createContext(globalThis);

/**
 * Without garbage collection between files a worker grows past 800 MB. A collection takes 0.2 s, so it waits for several
 * files. The resident size cannot decide: it stays high after a collection.
 */
const COLLECT_ABOVE_BYTES = 450 * 2 ** 20;

setFlagsFromString('--expose-gc');

globalThis.workerResources = createWorkerResources();

// Jest stops listening for messages when a worker has run its last file, and waits for the process to end by itself.
// Redis and Chromium would keep it running. Their guards end them as soon as the process is gone.
if (process.send !== undefined) {
  process.on('removeListener', (event) => {
    if (event === 'message') setImmediate(() => process.exit());
  });
}
