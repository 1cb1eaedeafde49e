import { isInvoiced, isPaid, paymentIsMissing, paymentIsNeeded } from './billing';
import { blockedByHold } from './dispatch-rules';
import type { FactContext } from './fact-command';
import type { ReportStanding } from './outbox';
import { transitionAllowed, type Tow } from './tow';

/** What stands between a vehicle and its owner, in the order in which people see to it. */
export const RELEASE_ITEMS = [
  /** The tow is in a state from which a vehicle can be handed back. */
  'state',
  'invoice_requested',
  'invoice_accepted',
  'payment_recorded',
  'no_open_hold',
] as const;
export type ReleaseItem = (typeof RELEASE_ITEMS)[number];

/** `needed` false: good to know, and no reason why a release would be refused. */
export interface ReleaseCheck {
  readonly item: ReleaseItem;
  readonly met: boolean;
  readonly needed: boolean;
}

/**
 * The checklist of a release, by the rules of `release` (movement.ts): all that is needed is met exactly when no conflict
 * would refuse it.
 */
export function releaseChecklist(tow: Tow, context: Pick<FactContext, 'reports' | 'rules'>): ReleaseCheck[] {
  const { reports } = context;
  return [
    { item: 'state', met: transitionAllowed(tow.state, 'released'), needed: true },
    // Without an invoice there is nothing to pay; what is paid already needs none any more.
    { item: 'invoice_requested', met: isInvoiced(tow, reports), needed: paymentIsMissing(tow, context) },
    { item: 'invoice_accepted', met: isInvoiceAccepted(tow, reports), needed: false },
    { item: 'payment_recorded', met: isPaid(tow, reports), needed: paymentIsNeeded(tow, context) },
    { item: 'no_open_hold', met: blockedByHold(tow) === null, needed: true },
  ];
}

/** What people must see to before a release that its state would allow, in the order in which it is said. */
export const RELEASE_BLOCKERS = [
  'no_open_hold',
  'invoice_requested',
  'payment_recorded',
] as const satisfies readonly ReleaseItem[];
export type ReleaseBlocker = (typeof RELEASE_BLOCKERS)[number];

/** What of the checklist would refuse a release now; empty where there is none to think of. */
export function releaseBlockers(tow: Tow, context: Pick<FactContext, 'reports' | 'rules'>): ReleaseBlocker[] {
  if (!transitionAllowed(tow.state, 'released')) return [];
  const unmet = releaseChecklist(tow, context).filter(({ needed, met }) => needed && !met);
  return RELEASE_BLOCKERS.filter((blocker) => unmet.some(({ item }) => item === blocker));
}

/** The service has answered our request, or posted the invoice. */
function isInvoiceAccepted(tow: Tow, reports: readonly ReportStanding[]): boolean {
  return (
    tow.invoiceWebhooks.length > 0 || reports.some(({ kind, state }) => kind === 'invoice' && state === 'accepted')
  );
}
