import type { ProcessDocument } from '../../src/contracts/figures';
import type { BeatingProcess } from '../../src/workflow/figures-port';

export const NOTHING = { added: {}, highest: {} };

/** A process that could say of itself that it lives. */
export function beatingProcess(id: string, document: Partial<ProcessDocument> = {}): BeatingProcess {
  return {
    id,
    uptimeMs: 60_000,
    document: {
      role: 'receiver',
      hostName: 'host-of-the-tests',
      processId: 17,
      version: '1.2.3',
      nodeVersion: 'v20.0.0',
      problems: [],
      queues: [],
      ...document,
    },
  };
}
