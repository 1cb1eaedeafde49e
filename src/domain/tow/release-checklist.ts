import { isInvoiced, isPaid, paymentIsMissing, paymentIsNeeded } from './billing';
import { blockedByHold } from './dispatch-rules';
import type { FactContext } from './fact-command';
import type { ReportStatus } from '../outbox/outbox';
import { transitionAllowed, type Tow } from './tow';

/** What a release depends on, in the order in which people do it. */
export const RELEASE_ITEMS = [
  /** The tow is in a state from which a vehicle can be handed back. */
  'state',
  'invoice_requested',
  'invoice_accepted',
  'payment_recorded',
  'no_open_hold',
] as const;
type ReleaseItem = (typeof RELEASE_ITEMS)[number];

/** `needed` is false for information only: it does not prevent a release. */
interface ReleaseCheck {
  readonly item: ReleaseItem;
  readonly met: boolean;
  readonly needed: boolean;
}

/**
 * The checklist of a release, by the rules of `release` (movement.ts): every needed item is met exactly if no conflict would
 * refuse the release.
 */
export function releaseChecklist(tow: Tow, context: Pick<FactContext, 'reports' | 'rules'>): ReleaseCheck[] {
  const { reports } = context;
  return [
    { item: 'state', met: transitionAllowed(tow.state, 'released'), needed: true },
    // A payment needs an invoice. After the payment the invoice is not needed any more.
    { item: 'invoice_requested', met: isInvoiced(tow, reports), needed: paymentIsMissing(tow, context) },
    { item: 'invoice_accepted', met: isInvoiceAccepted(tow, reports), needed: false },
    { item: 'payment_recorded', met: isPaid(tow, reports), needed: paymentIsNeeded(tow, context) },
    { item: 'no_open_hold', met: blockedByHold(tow) === null, needed: true },
  ];
}

/** The items that can block a release in a state that allows it, in the order in which they are shown. */
const RELEASE_BLOCKERS = [
  'no_open_hold',
  'invoice_requested',
  'payment_recorded',
] as const satisfies readonly ReleaseItem[];
export type ReleaseBlocker = (typeof RELEASE_BLOCKERS)[number];

/** The items of a checklist that block a release now; empty if the state does not allow one. */
export function releaseBlockers(checklist: readonly ReleaseCheck[]): ReleaseBlocker[] {
  const unmet = checklist.filter(({ needed, met }) => needed && !met);
  if (unmet.some(({ item }) => item === 'state')) return [];
  return RELEASE_BLOCKERS.filter((blocker) => unmet.some(({ item }) => item === blocker));
}

/** True if the service has answered the request, or posted the invoice. */
function isInvoiceAccepted(tow: Tow, reports: readonly ReportStatus[]): boolean {
  return (
    tow.invoiceWebhooks.length > 0 || reports.some(({ kind, state }) => kind === 'invoice' && state === 'accepted')
  );
}
