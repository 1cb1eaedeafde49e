import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { compiledFile } from '../support/compiled';
import { reply, type Answer, type CoreOperation } from './operations';

/** A process of the product, asked by a test. */
export interface Process {
  /** Rejects when the product throws. */
  run(operation: CoreOperation): Promise<Answer>;
  stop(): Promise<void>;
}

/** Starts a process with a connection of its own. It ends with this process at the latest. */
export async function startProcess(redisUrl: string): Promise<Process> {
  const child = fork(compiledFile('test/interleave/process.ts'), [redisUrl]);
  const asked = new Map<number, { resolve: (answer: Answer) => void; reject: (error: Error) => void }>();
  let count = 0;
  await started(child);
  child.on('message', (message) => {
    const { id, answer, error } = reply.parse(message);
    const waiting = asked.get(id);
    asked.delete(id);
    if (answer) waiting?.resolve(answer);
    else waiting?.reject(new Error(error ?? 'no answer'));
  });
  child.on('exit', () => asked.forEach(({ reject }) => reject(new Error('the process has ended'))));
  return {
    run: (operation) =>
      new Promise((resolve, reject) => {
        count += 1;
        asked.set(count, { resolve, reject });
        child.send({ id: count, operation });
      }),
    async stop() {
      const exited = once(child, 'exit');
      child.disconnect();
      await exited;
    },
  };
}

async function started(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit').then(() => {
    throw new Error('the process did not start');
  });
  await Promise.race([once(child, 'message'), ended]);
}
