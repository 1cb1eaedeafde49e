import { ConfigurationError, faultsOf } from '../platform/config/config';
import type { DataKeys } from '../platform/data-keys';
import { errorFacts } from '../platform/errors';
import type { ReadinessCheck } from '../platform/http';
import type { Log } from '../platform/log/log';
import { throwUnhandled } from '../platform/process';
import { AFTER_START_MS, repeat, type Repetition } from '../platform/timers';
import { dataKeyFaults, noteDataKeys } from '../store/ops/data-keys';
import type { Foundation } from './foundation';

const EVERY_MS = 5000;

/**
 * Refuses a file of keys in which a key that encrypts differs from the key of stored data with the same id, such as a file
 * that was made a second time. What it encrypts could not be read once the right file is back.
 *
 * @throws ConfigurationError that names the id.
 */
export async function checkDataKeysOf(redis: Foundation['redis'], keys: DataKeys | null, log: Log): Promise<void> {
  if (keys === null) return;
  try {
    // Noted before anything is encrypted: of two processes with different keys of one id, the second does not start.
    await noteDataKeys(redis, keys);
    await refuseDifferent(redis, keys, keys.currentChecks().keys());
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    log.warn('data_keys.unchecked', { ...errorFacts(error), stack: undefined });
  }
}

/**
 * Reads the file of data keys again, notes in Redis which keys this process encrypts with, and logs which ones it lacks.
 * A file that cannot be used, or has another key under a known id, leaves the earlier keys in place. Ends the process, as
 * an unhandled failure does, when one of the earlier keys is not that of the stored data.
 */
export function watchDataKeys(redis: Foundation['redis'], keys: DataKeys | null, log: Log): Repetition {
  let last = '';
  const work = async () => {
    const before = keys?.first;
    const known = (candidate: DataKeys) => refuseDifferent(redis, candidate, candidate.allIds);
    const broken = (await keys?.reload(known).then(() => [], faultsOf)) ?? [];
    if (keys && keys.first !== before) log.info('data_keys.replaced', { first: keys.first });
    if (keys) {
      await noteDataKeys(redis, keys);
      await endOnDifferent(redis, keys);
    }
    const faults = [...broken, ...(await dataKeyFaults(redis, keys))];
    const text = JSON.stringify(faults);
    if (faults.length > 0 && text !== last) log.error('data_keys.unusable', { faults });
    last = text;
  };
  return repeat({ name: 'data_keys', everyMs: EVERY_MS, firstAfterMs: AFTER_START_MS, log, work });
}

async function refuseDifferent(redis: Foundation['redis'], keys: DataKeys, ids: Iterable<string>): Promise<void> {
  const refused = new Set(ids);
  const different = (await dataKeyFaults(redis, keys)).filter(
    ({ id, fault }) => fault === 'different' && refused.has(id),
  );
  if (different.length === 0) return;
  const rule = (id: string) => `names a file whose key ${id} is not the one that encrypted the stored data`;
  throw new ConfigurationError(different.map(({ id }) => ({ variable: 'DATA_KEYS_FILE', rule: rule(id) })));
}

async function endOnDifferent(redis: Foundation['redis'], keys: DataKeys): Promise<void> {
  await refuseDifferent(redis, keys, keys.currentChecks().keys()).catch((error: unknown) => {
    if (!(error instanceof ConfigurationError)) throw error;
    throwUnhandled(error);
  });
}

/**
 * The ids of the data keys that stored data needs and this process lacks, or has with another content; with them
 * `DATA_KEYS_FILE` while that file cannot be used: the next start of the process would fail.
 */
export async function missingDataKeys({
  redis,
  dataKeys,
}: Pick<Foundation, 'redis' | 'dataKeys'>): Promise<readonly string[]> {
  const ids = (await dataKeyFaults(redis, dataKeys)).map(({ id }) => id).toSorted();
  return dataKeys?.isFileUnusable === true ? ['DATA_KEYS_FILE', ...ids] : ids;
}

/** Names the data keys that a process lacks on a private `/readyz`; always ready: what is plain is worked on. */
export function dataKeysCheck(foundation: Pick<Foundation, 'redis' | 'dataKeys'>): ReadinessCheck {
  return async () => {
    const missing = await missingDataKeys(foundation).catch(() => []);
    return { ready: true, details: missing.length === 0 ? {} : { missing_data_keys: missing } };
  };
}
