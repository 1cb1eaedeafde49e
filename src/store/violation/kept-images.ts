import type { Redis } from 'ioredis';
import type { OutboxRecord } from '../../domain/outbox/outbox-record';
import { mayBeSent } from '../../domain/outbox/outbox-schedule';
import type { SpoolPlace } from '../../workflow/ops/spool-port';
import { readHashes } from '../redis/batch-reads';
import { violationKey } from '../keys';
import { entriesAfter, ledgerEnds, type LedgerEntry } from '../ops/ledger';
import { decodeRecord, RECORD_KEYS } from '../outbox/record-kinds';

/** A file that a record refers to. */
interface KeptImage {
  readonly place: SpoolPlace;
  readonly file: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

const RECORDS_PER_READ = 200;

/**
 * The files that the records need: photos of tows, and images of violations that may still be sent. Images of which a
 * task says that they are missing are left out, and so are replaced ones, which are never sent. A record that cannot be
 * decoded gives `unreadable`.
 */
export async function* keptImages(redis: Redis): AsyncGenerator<KeptImage | 'unreadable'> {
  const ends = await ledgerEnds(redis);
  let place: LedgerEntry | null = { index: 'tows', score: 0, member: '' };
  while (place !== null) {
    const entries: LedgerEntry[] = await entriesAfter(redis, { place, ends }, RECORDS_PER_READ);
    for (const record of await recordsAt(redis, entries)) {
      if (record === 'unreadable') yield record;
      else yield* imagesOf(record);
    }
    place = entries.at(-1) ?? null;
  }
}

/**
 * Looks up the files that single records refer to, for the sweep of the disk. A record that cannot be decoded keeps its
 * files in place. Rejects when Redis does not answer.
 */
export function createImageReferences(redis: Redis) {
  return {
    violation: async (id: string): Promise<boolean> => (await redis.exists(violationKey(id))) === 1,
    async photosOf(towingReference: string): Promise<readonly string[] | null> {
      const [record] = await recordsAt(redis, [{ index: 'tows', member: towingReference }]);
      if (record === 'unreadable' || record?.kind !== 'tow') return null;
      return record.tow?.dispatch.photos.map(({ file }) => file) ?? null;
    },
  };
}

async function recordsAt(
  redis: Redis,
  entries: readonly Pick<LedgerEntry, 'index' | 'member'>[],
): Promise<(OutboxRecord | 'unreadable')[]> {
  const named = entries.map(({ index, member }) => [index === 'tows' ? 'tow' : 'violation', member] as const);
  const keys = named.map(([kind, id]) => RECORD_KEYS[kind].record(id));
  const hashes = await readHashes(redis, keys);
  return named.flatMap(([kind, id], at) => {
    try {
      return decodeRecord(kind, id, hashes[at] ?? {}) ?? [];
    } catch {
      // Decoding reads nothing from Redis, so the error is that of the record.
      return 'unreadable';
    }
  });
}

function imagesOf(record: OutboxRecord): KeptImage[] {
  if (record.kind === 'tow') {
    const place = { kind: 'photos', towingReference: record.ref } as const;
    return (record.tow?.dispatch.photos ?? []).map((photo) => keptAt(place, photo));
  }
  const isMissing = Object.values(record.tasks).some(({ task }) => task.type === 'images_missing');
  if (isMissing || !mayBeSent(record)) return [];
  return record.violation.images.map((image) => keptAt({ kind: 'violation', id: record.id }, image));
}

function keptAt(place: SpoolPlace, { file, sizeBytes, sha256 }: Omit<KeptImage, 'place'>): KeptImage {
  return { place, file, sizeBytes, sha256 };
}
