import type { ViolationForm } from '../../src/domain/violation';
import { violationContractTask } from '../../src/domain/violation-tasks';
import { createViolationOutbox } from '../../src/store/outbox';
import { createRecordStore } from '../../src/store/record-store';
import { violationView, type ViolationView } from '../../src/contracts/violations';
import type { App } from '../support/app';
import { result } from '../support/stores';
import { report } from '../support/violations';
import { api } from './client';

/** Violations as the API stores them, written through the project's own store. No worker runs. */

export const FORM: Omit<ViolationForm, 'metadata'> = {
  latitude: 24.7136,
  longitude: 46.6753,
  location: 'King Fahd Road, Riyadh',
  plateNumber: 'ABJ 1235',
  plateType: 'PRIVATE',
  zoneId: '11111111-2222-4333-8444-555555555555',
  violationType: 'WRONG_PARKING',
};

let count = 0;

/** Stores a violation that waits to be sent; returns its id. */
export async function newViolation(
  { foundation }: Pick<App, 'foundation'>,
  metadata: { id?: string } = {},
): Promise<string> {
  count += 1;
  const id = `vio-${String(count).padStart(6, '0')}`;
  const violation = {
    id,
    api: 'reference',
    form: { ...FORM, metadata: { id, ...metadata } },
    images: [],
    warnings: [],
    createdAt: new Date(foundation.clock.nowMs()).toISOString(),
    by: 'tester',
  } as const;
  const stored = await report({ records: createRecordStore(foundation.redis) }, violation);
  if (stored !== 'saved') throw new Error(`the violation is ${stored}`);
  return id;
}

/** Has the service accept a violation with an answer that breaks the contract. */
export async function acceptWithDrift({ foundation }: Pick<App, 'foundation'>, id: string): Promise<void> {
  const limits = { giveUpAfterMs: 3_600_000, violationBudget: { limit: 0, windowMs: 60_000 }, checksTicket: false };
  const settings = { leaseMs: 20_000, proofMs: 60_000, ...limits };
  const outbox = createViolationOutbox(foundation.redis, foundation.clock, settings);
  const claim = await outbox.claim(id);
  if (claim.kind !== 'send') throw new Error(`nothing to send: ${claim.kind}`);
  const task = violationContractTask({ id, httpStatus: 200 });
  await outbox.ack(claim, { ...result({ next: 'accepted', flag: 'contract_broken' }, { task }), named: null });
}

export async function violationOf(app: Pick<App, 'consoleUrl' | 'apiKey'>, id: string): Promise<ViolationView> {
  const response = await api(app).get(`/api/violations/${id}`);
  return violationView.parse(response.body);
}
