import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { TestEnvironment } from 'jest-environment-node';
import { createWorkerResources, type WorkerResources } from './worker-resources';

declare global {
  /** Resources that outlive a test file; see worker-resources.ts. */
  var workerResources: WorkerResources;
}

/**
 * Jest's Node environment plus `workerResources`. Jest loads this module once per worker process and outside the module
 * registry of the test files, so what it holds is shared by all files that the worker runs.
 */
export default class WorkerEnvironment extends TestEnvironment {
  override async setup(): Promise<void> {
    await super.setup();
    this.global['workerResources'] = globalThis.workerResources;
  }

  override async teardown(): Promise<void> {
    await super.teardown();
    if (process.memoryUsage().heapUsed > COLLECT_ABOVE_BYTES) runInNewContext('gc()');
  }
}

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
