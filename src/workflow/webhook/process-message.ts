import type { ReadWebhook, TowRequestMessage, WebhookReaders } from '../../contracts/webhook/read-webhook';
import { keepDiffering, settleDelivery, type Delivery } from '../../domain/webhook/delivery';
import type { StoredTow } from '../../domain/outbox/outbox-record';
import type { FieldRule } from '../../domain/refusal';
import { findViolation } from '../violation/match-violation';
import { processInvoice, type InvoiceVerdict } from '../tow/process-invoice';
import { processTowRequest, type RequestOrigin, type RequestVerdict } from '../tow/process-tow-request';
import { differenceOf } from '../service/differences';
import type { Transaction } from '../transaction-port';

/**
 * - differs: it breaks the contract, and its kind of difference is not expected. It is kept until it is judged again.
 * - not_acted_on: it breaks the contract as expected, and nothing can be done with it.
 */
type UnreadVerdict = 'differs' | 'not_acted_on';
export type MessageVerdict = RequestVerdict | InvoiceVerdict | UnreadVerdict;

interface Unjudged {
  readonly delivery: Delivery;
  /** True when the delivery was never processed before. */
  readonly isFirst: boolean;
}

interface UnjudgedWithTow extends Unjudged {
  readonly tow: StoredTow;
}

/**
 * Acts on a delivery that keeps the contract, or that differs in an expected way and can be read without the parts that
 * differ. Keeps another one until it is judged again. Each difference is counted once per delivery.
 */
export async function processMessage(
  transaction: Transaction,
  unjudged: Unjudged,
  readers: WebhookReaders,
): Promise<MessageVerdict> {
  const { delivery } = unjudged;
  const { towingReferenceId: ref, rawBody } = delivery;
  switch (delivery.kind) {
    case 'tow_request': {
      const webhook = readers.tow_request(rawBody);
      const [tow, early] = await Promise.all([
        transaction.tow(ref),
        // Most requests are of a new tow: what it needs is read at the same time.
        webhook.kind === 'message' ? originOf(transaction, ref, webhook.message) : null,
        transaction.preloadCircuits(),
      ]);
      const read = await admit(transaction, { ...unjudged, tow }, webhook);
      if (!read.message) return read.verdict;
      const origin = early ?? (await originOf(transaction, ref, read.message));
      return processTowRequest(transaction, { delivery, request: read.message, origin }, tow);
    }
    case 'tow_invoice': {
      const tow = await transaction.tow(ref);
      const read = await admit(transaction, { ...unjudged, tow }, readers.tow_invoice(rawBody));
      return read.message ? processInvoice(transaction, { delivery, invoice: read.message }, tow) : read.verdict;
    }
  }
}

async function originOf(transaction: Transaction, ref: string, request: TowRequestMessage): Promise<RequestOrigin> {
  const [named, isArchived] = await Promise.all([findViolation(transaction, request), transaction.isArchived(ref)]);
  return { named, isArchived };
}

type Admitted<T> = { readonly message: T } | { readonly message: null; readonly verdict: UnreadVerdict };

async function admit<T>(
  transaction: Transaction,
  unjudged: UnjudgedWithTow,
  read: ReadWebhook<T>,
): Promise<Admitted<T>> {
  const { delivery, tow, isFirst } = unjudged;
  if (read.kind === 'message') {
    const { message, tolerated } = read;
    if (isFirst && tolerated.length > 0) await transaction.recordDifference(seenIn(delivery, tolerated, true));
    return { message };
  }
  // Each webhook counts once, however often it is judged.
  const seen = seenIn(delivery, read.rules, false);
  const openId = await transaction.recordDifference(seen, delivery.differenceId === null ? 1 : 0);
  if (openId !== null) {
    keepDiffering(delivery, tow, openId);
    return { message: null, verdict: 'differs' };
  }
  if (read.rest !== null) return { message: read.rest };
  settleDelivery(delivery, tow, 'not_acted_on', transaction.nowMs);
  return { message: null, verdict: 'not_acted_on' };
}

function seenIn({ kind: name, rawBody: body }: Delivery, rules: readonly FieldRule[], isTolerated: boolean) {
  const texts = rules.map(({ field, rule }) => `${field}: ${rule}`);
  return differenceOf({ source: 'webhook', name }, texts, { body, isTolerated });
}
