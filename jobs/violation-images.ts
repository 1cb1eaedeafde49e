import type { StoredViolation } from '../src/domain/outbox-record';
import { errorName } from '../src/platform/errors';
import type { Log } from '../src/platform/log';
import type { ImageOnDisk } from '../src/workflow/service-port';
import type { Spool } from '../src/workflow/spool-port';
import type { Claimed, Outbox } from '../src/workflow/outbox-port';

export interface ImageTools {
  readonly spool: Pick<Spool, 'sourceOf' | 'state' | 'drop'>;
  readonly outbox: Outbox<StoredViolation>;
  readonly log: Log;
}

type Images =
  | { readonly kind: 'found'; readonly files: readonly ImageOnDisk[] }
  | { readonly kind: 'given_back'; readonly what: string };

/** Another worker may see the disk. */
const FOREIGN_DISK_DELAY_MS = 5000;

/**
 * Finds the images of a claimed violation on this machine. A worker that does not see the shared disk gives the claim
 * back; missing or changed images escalate. Never throws: an unreleased claim would count as a send.
 */
export async function imagesOf(claimed: Claimed<StoredViolation>, tools: ImageTools): Promise<Images> {
  const { id, violation } = claimed.record;
  if (violation.api === 'guide') return { kind: 'found', files: [] };
  try {
    const files: ImageOnDisk[] = [];
    for (const image of violation.images) {
      const source = await tools.spool.sourceOf({ kind: 'violation', id }, image);
      if (source === null) return { kind: 'given_back', what: await giveBackWithoutImages(claimed, tools) };
      const { name: fileName, contentType, sizeBytes } = image;
      files.push({ ...source, fileName, contentType, sizeBytes });
    }
    return { kind: 'found', files };
  } catch (error) {
    const facts = { violation_id: id, error_name: errorName(error) };
    tools.log.warn('violation.images_unseen', facts);
    return { kind: 'given_back', what: await giveBack(claimed, tools) };
  }
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

async function giveBackWithoutImages(claimed: Claimed<StoredViolation>, tools: ImageTools): Promise<string> {
  const state = await tools.spool.state();
  tools.log.warn('violation.images_unseen', { violation_id: claimed.record.id, spool: state });
  if (state !== 'shared') return giveBack(claimed, tools);
  await tools.outbox.giveBack(claimed, { kind: 'images_missing' });
  return 'images missing';
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
