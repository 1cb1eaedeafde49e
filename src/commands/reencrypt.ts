import { ARCHIVE_LOCK } from '../archive/archiver';
import { batchKeys, reencryptArchive } from '../archive/reencrypt';
import type { CommandOutput, LocalCommands } from '../cli';
import { systemClock } from '../platform/clock';
import { ConfigurationError, loadConfig } from '../platform/config/config';
import { openDataKeys, type DataKeys } from '../platform/data-keys';
import { silentLog } from '../platform/log/log';
import type { Redis } from '../store/redis/connect';
import { dataKeyFaults, forgetDataKeys, neededDataKeys, noteDataKeys } from '../store/ops/data-keys';
import { createSpool } from '../spool';
import { layoutOf } from '../spool/folders';
import { imageKeys, reencryptImages } from '../spool/reencrypt';
import { ownedEpoch } from '../store/redis/locks';
import { reencryptValues, valueKeys } from '../store/ops/reencrypt';
import { createSpoolMarker } from '../store/ops/spool-marker';
import { withRedis } from './with-redis';
import { errorCode, errorMessage } from '../platform/errors';

/** `remaining`: values remain that are plain, under another key than the first, or in a broken file. */
const EXIT = { done: 0, remaining: 1, unavailable: 3 } as const;

/**
 * `towhook re-encrypt` encrypts all personal data in Redis and DATA_DIR under the first data key, or with --check only
 * counts what is under which key. What was encrypted when Redis fails stays so.
 */
export const reencryptData: LocalCommands['reencrypt'] = async (options) => {
  const config = loadConfig();
  const keys = openDataKeys(config);
  if (keys === null)
    throw new ConfigurationError([{ variable: 'DATA_KEYS_FILE', rule: 'is required by this command' }]);
  try {
    const { dataDir } = config;
    const counts = await withRedis(config, (redis) => reencrypt({ redis, dataDir, keys }, options), keys);
    return outputOf(counts, keys);
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    const text = reencryptProblem(error);
    return { json: { problem: text }, lines: [], problems: [text], exitCode: EXIT.unavailable };
  }
};

interface ReencryptTools {
  readonly redis: Redis;
  readonly dataDir: string;
  readonly keys: DataKeys;
}

/** Values of one kind that are encrypted, such as images. */
interface EncryptedPart {
  /** The id of the key of each value; null for a plain one. */
  readonly keyIds: () => AsyncIterable<string | null>;
  readonly reencrypt: (onStep: (done?: number) => void) => Promise<void>;
}

/** `onBroken` is called for a file of the archive that cannot be read to its end, or has a batch that is broken. */
function partsOf({ redis, dataDir, keys }: ReencryptTools, onBroken: (broken: Error) => void): EncryptedPart[] {
  // Drafts are beside the marker, where the sweep removes what an ended process left.
  const { spool: draftFolder } = layoutOf(dataDir);
  const activeEpoch = () => ownedEpoch(redis, ARCHIVE_LOCK);
  const archive = { keys, clock: systemClock, draftFolder, activeEpoch, onBroken };
  return [
    { keyIds: () => valueKeys(redis), reencrypt: (onStep) => reencryptValues(redis, { keys, onStep }) },
    {
      keyIds: () => imageKeys(dataDir),
      reencrypt: (onStep) => reencryptImages(dataDir, { keys, clock: systemClock, onStep }),
    },
    {
      keyIds: () => batchKeys(dataDir, onBroken),
      reencrypt: (onStep) => reencryptArchive(dataDir, { ...archive, onStep }),
    },
  ];
}

/** How many values there are under which key. An image, and a batch of the archive, count as one value. */
interface KeyCounts {
  readonly byKey: ReadonlyMap<string, number>;
  readonly plain: number;
  readonly broken: readonly string[];
}

async function reencrypt(
  tools: ReencryptTools,
  { isCheck, onStep }: Parameters<LocalCommands['reencrypt']>[0],
): Promise<KeyCounts> {
  const { redis, dataDir, keys } = tools;
  await noteDataKeys(redis, keys);
  await requireSameKeys(redis, keys);
  await requireSharedDisk(redis, dataDir);
  const broken = new Set<string>();
  const parts = partsOf(tools, ({ message }) => broken.add(message));
  let done = 0;
  const step = (more = 1) => onStep((done += more));
  if (!isCheck) for (const part of parts) await part.reencrypt(step);
  const byKey = new Map<string, number>();
  let plain = 0;
  for (const { keyIds } of parts) {
    for await (const id of keyIds()) {
      if (id === null) plain += 1;
      else byKey.set(id, (byKey.get(id) ?? 0) + 1);
    }
  }
  const unused = (await neededDataKeys(redis)).filter((id) => keys.isReplaced(id) && !byKey.has(id));
  // Behind the broken batch of a file there may be batches under any key.
  if (!isCheck && broken.size === 0) await forgetDataKeys(redis, unused);
  return { byKey, plain, broken: [...broken] };
}

/** @throws ConfigurationError for another key of an id: with it the processes could not read what is encrypted here. */
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

function outputOf({ byKey, plain, broken }: KeyCounts, keys: DataKeys): CommandOutput {
  const ids = [...new Set([...keys.ids, ...byKey.keys()])];
  const items = ids.map((id) => ({ id, values: byKey.get(id) ?? 0, known: keys.ids.includes(id) }));
  const remaining = items.filter(({ id, values }) => id !== keys.first && values > 0);
  const unused = broken.length > 0 ? [] : items.filter(({ id, values }) => id !== keys.first && values === 0);
  return {
    json: { first: keys.first, keys: items, plain, ...(broken.length > 0 ? { broken } : {}) },
    lines: [
      ...items.map(({ id, values, known }) => `${id}: ${values} values${known ? '' : ' (the key is missing)'}`),
      `plain: ${plain} values`,
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

/** The problem that ended `towhook re-encrypt`. Names the remedy if the disk refused; files are replaced as a whole or not. */
export function reencryptProblem(error: unknown): string {
  const remedy = REMEDIES.get(errorCode(error) ?? '');
  return remedy === undefined ? errorMessage(error) : `${errorMessage(error)}. No data is lost: ${remedy}.`;
}
