import type { StoredViolation } from '../src/domain/outbox/outbox-record';
import type { Violation } from '../src/domain/violation/violation';
import { errorName } from '../src/platform/errors';
import type { Log } from '../src/platform/log/log';
import { isSettledWithin } from '../src/platform/timers';
import type { ImageOnDisk } from '../src/workflow/service/service-port';
import type { Spool, SpoolState } from '../src/workflow/ops/spool-port';
import type { Claimed, Outbox } from '../src/workflow/outbox/outbox-port';

export interface ImageTools {
  readonly spool: Pick<Spool, 'sourceOf' | 'state' | 'drop'>;
  readonly outbox: Outbox<StoredViolation>;
  readonly log: Log;
}

interface Found {
  readonly kind: 'found';
  readonly files: readonly ImageOnDisk[];
}

type Images = Found | { readonly kind: 'given_back'; readonly what: string };

/** Another worker may see the disk. */
const FOREIGN_DISK_DELAY_MS = 5000;

/**
 * How long a disk may take, as a part of the lease: beyond the lease, the attempt would count as unanswered although
 * nothing was sent. Images may be read to their end, which takes a slow disk seconds.
 */
const DISK_MAX = 0.25;

/**
 * Finds the images of a claimed violation on this machine. A worker that does not see the shared disk, or whose disk
 * hangs, gives the claim back; missing or changed images escalate. Never throws: an unreleased claim would count as a
 * send.
 */
export async function imagesOf(claimed: Claimed<StoredViolation>, tools: ImageTools): Promise<Images> {
  const { id, violation } = claimed.record;
  if (violation.api === 'guide') return { kind: 'found', files: [] };
  try {
    const looking = lookFor(violation, tools.spool);
    if (!(await isSettledWithin(claimed.leaseMs * DISK_MAX, looking))) {
      tools.log.warn('violation.images_unseen', { violation_id: id, problem: 'the disk does not answer' });
      return { kind: 'given_back', what: await giveBack(claimed, tools) };
    }
    const seen = await looking;
    if (seen.kind === 'found') return seen;
    tools.log.warn('violation.images_unseen', { violation_id: id, spool: seen.state });
    if (seen.state !== 'shared') return { kind: 'given_back', what: await giveBack(claimed, tools) };
    await tools.outbox.giveBack(claimed, { kind: 'images_missing' });
    return { kind: 'given_back', what: 'images missing' };
  } catch (error) {
    const facts = { violation_id: id, error_name: errorName(error) };
    tools.log.warn('violation.images_unseen', facts);
    return { kind: 'given_back', what: await giveBack(claimed, tools) };
  }
}

type ImageLookup = Found | { readonly kind: 'missing'; readonly state: SpoolState };

/** The images; if one is missing, the state of the disk. Rejects when the disk fails. */
async function lookFor({ id, images }: Violation, spool: ImageTools['spool']): Promise<ImageLookup> {
  const files: ImageOnDisk[] = [];
  for (const image of images) {
    const source = await spool.sourceOf({ kind: 'violation', id }, image);
    if (source === null) return { kind: 'missing', state: await spool.state() };
    const { name: fileName, contentType, sizeBytes } = image;
    files.push({ ...source, fileName, contentType, sizeBytes });
  }
  return { kind: 'found', files };
}

/**
 * Removes the images of a settled violation; false while this worker does not see their disk. The removal comes
 * first, since a full disk may need it.
 */
export async function areImagesGone(
  { violation }: Pick<StoredViolation, 'violation'>,
  { spool, log }: Pick<ImageTools, 'spool' | 'log'>,
): Promise<boolean> {
  const { id, images } = violation;
  await spool.drop({ kind: 'violation', id });
  if (images.length === 0) return true;
  const state = await spool.state();
  if (state === 'shared') return true;
  log.warn('violation.images_unseen', { violation_id: id, spool: state });
  return false;
}

async function giveBack(claimed: Claimed<StoredViolation>, { outbox, log }: ImageTools): Promise<string> {
  try {
    await outbox.giveBack(claimed, { kind: 'images_unseen', delayMs: FOREIGN_DISK_DELAY_MS });
  } catch (error) {
    log.warn('violation.not_given_back', {
      violation_id: claimed.record.id,
      error_name: errorName(error),
    });
  }
  return 'images unseen';
}
