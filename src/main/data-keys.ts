import { ConfigurationError } from '../platform/config';
import type { DataKeys } from '../platform/data-keys';
import type { ReadinessCheck } from '../platform/http';
import type { Log } from '../platform/log';
import { repeat, type Repetition } from '../platform/timers';
import { dataKeyFaults, noteDataKeys } from '../store/data-key-record';
import type { Foundation } from './foundation';

const EVERY_MS = 5000;

/**
 * Reads the file of data keys again, notes in Redis which keys it seals with, and logs which ones it lacks. A file that
 * cannot be used leaves the earlier keys in place.
 */
export function watchDataKeys(redis: Foundation['redis'], keys: DataKeys | null, log: Log): Repetition {
  let last = '';
  const work = async () => {
    const before = keys?.first;
    const broken = (await keys?.reload().then(() => [], faultsOf)) ?? [];
    if (keys && keys.first !== before) log.info('data_keys.replaced', { first: keys.first });
    if (keys) await noteDataKeys(redis, keys);
    const faults = [...broken, ...(await dataKeyFaults(redis, keys))];
    const text = JSON.stringify(faults);
    if (faults.length > 0 && text !== last) log.error('data_keys.unusable', { faults });
    last = text;
    return 'wait' as const;
  };
  return repeat({ name: 'data keys', everyMs: EVERY_MS, log, work });
}

function faultsOf(error: unknown): ConfigurationError['faults'] {
  if (error instanceof ConfigurationError) return error.faults;
  throw error;
}

/** The ids of the data keys that stored data needs and this process lacks, or has with another content. */
export async function missingDataKeys({
  redis,
  dataKeys,
}: Pick<Foundation, 'redis' | 'dataKeys'>): Promise<readonly string[]> {
  return (await dataKeyFaults(redis, dataKeys)).map(({ id }) => id).toSorted();
}

/** Names the data keys that a process lacks on a private `/readyz`; always ready: what is not sealed is worked on. */
export function dataKeysCheck(foundation: Pick<Foundation, 'redis' | 'dataKeys'>): ReadinessCheck {
  return async () => {
    const missing = await missingDataKeys(foundation).catch(() => []);
    return { ready: true, details: missing.length === 0 ? {} : { missing_data_keys: missing } };
  };
}
