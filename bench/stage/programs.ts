import { fork } from 'node:child_process';
import type { z } from 'zod';
import { compiledFile } from '../../test/support/compiled';
import { reply } from '../programs/protocol';

/** A program of the bench in a process of its own. It ends with the bench. */
export interface Program {
  readonly processId: number;
  /** Sends a command and resolves with its parsed result. Rejects when the command fails or the program ends. */
  ask<T extends z.ZodType>(command: object, result: T): Promise<z.output<T>>;
  end(): Promise<void>;
}

export type ProgramName = 'service-stub' | 'load' | 'pace' | 'express-rival' | 'xadd-rival' | 'call-loop';

/** Starts a program of `bench/programs`, compiled as towhook is. */
export function startProgram(name: ProgramName): Program {
  const child = fork(compiledFile(`bench/programs/${name}.ts`), [], {
    env: { PATH: process.env['PATH'], NODE_ENV: 'production' },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const open = new Map<number, { resolve: (result: unknown) => void; reject: (error: Error) => void }>();
  let lastId = 0;
  let hasEnded = false;
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => {
      hasEnded = true;
      for (const { reject } of open.values()) reject(new Error(`${name} ended`));
      resolve();
    });
  });
  child.on('message', (message) => {
    const { id, result, error } = reply.parse(message);
    const call = open.get(id);
    open.delete(id);
    if (error === undefined) call?.resolve(result);
    else call?.reject(new Error(`${name}: ${error}`));
  });
  return {
    processId: child.pid ?? 0,
    async ask(command, result) {
      if (hasEnded) throw new Error(`${name} has ended`);
      lastId += 1;
      const id = lastId;
      const answered = new Promise<unknown>((resolve, reject) => open.set(id, { resolve, reject }));
      child.send({ id, command });
      return result.parse(await answered);
    },
    async end() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
