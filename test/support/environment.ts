import { join, relative, sep } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { createContext, runInNewContext, type Context } from 'node:vm';
import type { JestEnvironmentConfig } from '@jest/environment';
import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';
import { restoreProcess, stateOfProcess } from './changed-process';
import { compiledFile } from './compiled';
import { createWorkerResources, type WorkerResources } from './worker-resources';

declare global {
  /** Resources that outlive a test file; see worker-resources.ts. */
  var workerResources: WorkerResources;
}

/**
 * Where test files run: in the worker process itself, one after the other, with its global object and its `process`.
 * Jest's own environment has a global object per test file. Each access to a global then takes a detour, and no module
 * can be shared between test files (runtime.js); both together took a quarter of the time of all tests.
 * What a file changes of the process is taken back at its end (changed-process.ts).
 */
export default class WorkerEnvironment {
  readonly global = globalThis;
  readonly moduleMocker = new ModuleMocker(globalThis);
  readonly fakeTimers = null;
  readonly fakeTimersModern: ModernFakeTimers;
  readonly #before = stateOfProcess();
  #context: Context | null = UNUSED_CONTEXT;

  constructor({ projectConfig }: JestEnvironmentConfig) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  async setup(): Promise<void> {}

  async teardown(): Promise<void> {
    this.fakeTimersModern.dispose();
    this.#context = null;
    restoreProcess(this.#before);
    if (process.memoryUsage().heapUsed > COLLECT_ABOVE_BYTES) runInNewContext('gc()');
  }

  exportConditions(): string[] {
    return ['node', 'node-addons'];
  }

  /** What Node loads once per worker for `filename`; null when each test file loads it for itself. */
  sharedFile(filename: string): string | null {
    if (filename.startsWith(PACKAGES)) return filename;
    const source = relative(PROJECT, filename);
    return SOURCES.some((folder) => source.startsWith(folder)) ? compiledFile(source) : null;
  }

  /** Null tells jest that the test file has ended. No code runs in the context: runtime.js runs all in the process. */
  getVmContext(): Context | null {
    return this.#context;
  }
}

const UNUSED_CONTEXT = createContext();
const PROJECT = join(__dirname, '..', '..');
const PACKAGES = join(PROJECT, 'node_modules') + sep;
const SOURCES = ['src', 'jobs'].map((folder) => folder + sep);

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
