import { errorFacts, type Log } from './log';

/** What a process has opened: filled as things open, emptied in reverse. */
export interface Resources {
  /** Remembers how to close something. Returns it, so that opening and remembering are one expression. */
  add<T>(name: string, opened: T, close: (opened: T) => Promise<unknown> | void): T;
  /** Closes everything, last opened first; a failure is logged and stops nothing. */
  closeAll(): Promise<void>;
}

export function createResources(log: Log): Resources {
  const open: { name: string; close: () => Promise<unknown> | void }[] = [];
  return {
    add(name, opened, close) {
      open.push({ name, close: () => close(opened) });
      return opened;
    },
    async closeAll() {
      for (let next = open.pop(); next; next = open.pop()) {
        try {
          await next.close();
        } catch (error) {
          log.error('close.failed', { resource: next.name, ...errorFacts(error) });
        }
      }
    },
  };
}
