import type { ProcessDocument } from '../../src/contracts/ops/metrics';
import type { Heartbeat } from '../../src/workflow/ops/metrics-port';

export const NOTHING = { added: {}, highest: {} };

/** A process that could send heartbeats. */
export function beatingProcess(id: string, document: Partial<ProcessDocument> = {}): Heartbeat {
  return {
    id,
    uptimeMs: 60_000,
    document: {
      role: 'receiver',
      mode: 'live',
      hostName: 'host-of-the-tests',
      processId: 17,
      version: '1.2.3',
      schema: 1,
      nodeVersion: 'v20.0.0',
      problems: [],
      missingDataKeys: [],
      service: null,
      clockOffsetSeconds: 0,
      queues: [],
      ...document,
    },
  };
}
