import { ARCHIVE_LOCK } from '../archive/archiver';
import type { ArchiveBroken } from '../archive/read-file';
import { archiveKeys, resealArchive } from '../archive/reseal';
import type { CommandOutput, LocalCommands, ResealOptions } from '../cli';
import { systemClock } from '../platform/clock';
import { ConfigurationError, loadConfig } from '../platform/config/config';
import { openDataKeys, type DataKeys } from '../platform/data-keys';
import { silentLog } from '../platform/log/log';
import type { Redis } from '../store/redis/connect';
import { dataKeyFaults, forgetDataKeys, neededDataKeys, noteDataKeys } from '../store/encryption/data-key-record';
import { createSpool } from '../spool';
import { layoutOf } from '../spool/folders';
import { imageKeys, resealImages } from '../spool/reseal';
import { ownedEpoch } from '../store/redis/locks';
import { countSealed, resealAll, type SealedCounts } from '../store/encryption/reseal';
import { createSpoolMarker } from '../store/ops/spool-marker';
import { withRedis } from './with-redis';
import { errorCode, errorMessage } from '../platform/errors';

/** `remaining`: values remain that are plain, sealed under another key than the first, or in a broken file. */
const EXIT = { done: 0, remaining: 1, unavailable: 3 } as const;

/**
 * `towhook reseal` seals all personal data in Redis and DATA_DIR under the first data key, or with --check only counts
 * what is sealed under which key. What was sealed when Redis fails stays so.
 */
export const resealData: LocalCommands['reseal'] = async (options) => {
  const config = loadConfig();
  const keys = openDataKeys(config);
  if (keys === null)
    throw new ConfigurationError([{ variable: 'DATA_KEYS_FILE', rule: 'is required by this command' }]);
  try {
    const { dataDir } = config;
    const counts = await withRedis(config, (redis) => reseal(redis, { dataDir, keys, options }), keys);
    return outputOf(counts, keys);
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    const text = resealProblem(error);
    return { json: { problem: text }, lines: [], problems: [text], exitCode: EXIT.unavailable };
  }
};

interface ResealTools {
  readonly dataDir: string;
  readonly keys: DataKeys;
  readonly options: ResealOptions;
}

async function reseal(redis: Redis, { dataDir, keys, options }: ResealTools): Promise<AllCounts> {
  await noteDataKeys(redis, keys);
  await requireSameKeys(redis, keys);
  await requireSharedDisk(redis, dataDir);
  let unopened: readonly ArchiveBroken[] = [];
  if (!options.isCheck) {
    const step = counting(options);
    await resealAll(redis, keys, step);
    await resealImages(dataDir, { keys, clock: systemClock, onImage: () => step(1) });
    unopened = await resealFiles(redis, { dataDir, keys, onFile: () => step(1) });
  }
  const counts = await countAll(redis, dataDir, unopened);
  const unused = (await neededDataKeys(redis)).filter((id) => keys.isReplaced(id) && !counts.byKey.has(id));
  // Behind the broken batch of a file there may be batches under any key.
  if (!options.isCheck && counts.broken.length === 0) await forgetDataKeys(redis, unused);
  return counts;
}

/** @throws ConfigurationError for another key of an id: with it the processes could not open what is sealed here. */
async function requireSameKeys(redis: Redis, keys: DataKeys): Promise<void> {
  const others = (await dataKeyFaults(redis, keys)).filter(({ fault }) => fault === 'different').map(({ id }) => id);
  if (others.length === 0) return;
  const rule = `has another key of the id ${others.join(', ')} than the stored data: use the file of the running processes`;
  throw new ConfigurationError([{ variable: 'DATA_KEYS_FILE', rule }]);
}

/** A disk that is not in use yet has no images. @throws Error for another disk than the one in use. */
async function requireSharedDisk(redis: Redis, dataDir: string): Promise<void> {
  const marker = createSpoolMarker(redis);
  if ((await marker.read()) === null) return;
  const spool = createSpool({ dataDir, marker, keepMs: 0, clock: systemClock, log: silentLog });
  const state = await spool.state();
  if (state !== 'shared')
    throw new Error(`DATA_DIR is not the disk that this Redis knows (${state}): run towhook doctor`);
}

/** Rewrites the files of the archive. Drafts are beside the marker, where the sweep removes what an ended process left. */
async function resealFiles(
  redis: Redis,
  { dataDir, keys, onFile }: { readonly dataDir: string; readonly keys: DataKeys; readonly onFile: () => void },
): Promise<readonly ArchiveBroken[]> {
  const { spool: draftFolder } = layoutOf(dataDir);
  const activeEpoch = () => ownedEpoch(redis, ARCHIVE_LOCK);
  return resealArchive(dataDir, { keys, clock: systemClock, draftFolder, activeEpoch, onFile });
}

interface AllCounts extends SealedCounts {
  /** What is broken in the archive: files that cannot be read to their end, and batches that do not open. */
  readonly broken: readonly string[];
}

/** An image, and a batch of the archive, count as one value. */
async function countAll(redis: Redis, dataDir: string, unopened: readonly ArchiveBroken[]): Promise<AllCounts> {
  const { byKey, plain } = await countSealed(redis);
  const archive = await archiveKeys(dataDir);
  const broken = [...new Set([...archive.broken, ...unopened].map(({ message }) => message))];
  const counts = { byKey: new Map(byKey), plain, broken };
  const count = (id: string | null) => {
    if (id === null) counts.plain += 1;
    else counts.byKey.set(id, (counts.byKey.get(id) ?? 0) + 1);
  };
  for await (const id of imageKeys(dataDir)) count(id);
  for (const id of archive.ids) count(id);
  return counts;
}

function counting({ onStep }: ResealOptions): (keys: number) => void {
  let done = 0;
  return (keys) => {
    done += keys;
    onStep(done);
  };
}

function outputOf({ byKey, plain, broken }: AllCounts, keys: DataKeys): CommandOutput {
  const ids = [...new Set([...keys.ids, ...byKey.keys()])];
  const items = ids.map((id) => ({ id, values: byKey.get(id) ?? 0, known: keys.ids.includes(id) }));
  const remaining = items.filter(({ id, values }) => id !== keys.first && values > 0);
  const unused = broken.length > 0 ? [] : items.filter(({ id, values }) => id !== keys.first && values === 0);
  return {
    json: { first: keys.first, keys: items, plain, ...(broken.length > 0 ? { broken } : {}) },
    lines: [
      ...items.map(({ id, values, known }) => `${id}: ${values} values${known ? '' : ' (the key is missing)'}`),
      `not sealed: ${plain} values`,
      ...(unused.length === 0 ? [] : [`Nothing needs these keys: ${unused.map(({ id }) => id).join(', ')}.`]),
    ],
    problems: broken.map((problem) => `Not as it was written, and left as it is: ${problem}`),
    exitCode: remaining.length === 0 && plain + broken.length === 0 ? EXIT.done : EXIT.remaining,
  };
}

const MAKE_ROOM = 'make room on the disk of DATA_DIR, and run the command again';
const OTHER_USER = 'run the command again as the user of the roles, or as root';

/** What to do when the disk refuses, by the code of the error. */
const REMEDIES: ReadonlyMap<string, string> = new Map([
  ['ENOSPC', MAKE_ROOM],
  ['EDQUOT', MAKE_ROOM],
  ['EACCES', OTHER_USER],
  ['EPERM', OTHER_USER],
  ['EROFS', 'mount DATA_DIR with the permission to write, and run the command again'],
  ['EXDEV', 'mount the folders of DATA_DIR as one disk, and run the command again'],
]);

/** The problem that ended `towhook reseal`. Names the remedy if the disk refused; files are replaced as a whole or not. */
export function resealProblem(error: unknown): string {
  const remedy = REMEDIES.get(errorCode(error) ?? '');
  return remedy === undefined ? errorMessage(error) : `${errorMessage(error)}. No data is lost: ${remedy}.`;
}
