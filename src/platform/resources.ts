import { errorFacts } from './errors';
import type { Log } from './log/log';

/** The opened resources of a process, closed in reverse order. */
export interface Resources {
  /** Registers how to close a resource and returns the resource. */
  add<T>(name: string, opened: T, close: (opened: T) => Promise<unknown> | void, announceEnd?: () => void): T;
  /** Tells the users of the resources that they close soon. */
  announceEnd(): void;
  /** Closes all resources, last opened first. A failure is logged and does not stop the others. */
  closeAll(): Promise<void>;
}

export function createResources(log: Log): Resources {
  const open: { name: string; close: () => Promise<unknown> | void; announceEnd: () => void }[] = [];
  return {
    add(name, opened, close, announceEnd = () => {}) {
      open.push({ name, close: () => close(opened), announceEnd });
      return opened;
    },
    announceEnd() {
      for (const resource of open) resource.announceEnd();
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
