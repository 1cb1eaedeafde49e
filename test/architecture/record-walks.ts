import { type Circuits, draftOfCircuits, NO_CIRCUITS } from '../../src/domain/service/stored-circuits';
import type { CircuitName } from '../../src/domain/vocabulary';
import {
  beginProbe,
  loseConnection,
  noEffects,
  applyAnswer,
  countFailure,
  countForbidden,
  applyProbe,
  endPause,
} from '../../src/domain/service/circuits';
import {
  type Delivery,
  keepDiffering,
  parkDelivery,
  reopenDelivery,
  settleDelivery,
} from '../../src/domain/webhook/delivery';
import { connectionTask, outageTask, pausedOperationTask } from '../../src/domain/ops/tasks';
import { absentTow } from '../support/absent-tow';
import { randomOf, type RandomSource, Transitions } from './diagrams';

/** Random runs of the rules of circuits and deliveries, without a store. */

const RUNS = 300;
const STEPS = 60;

/** The transitions of all circuits. */
export function circuitTransitions(): string[] {
  const seen = new Transitions();
  for (let seed = 1; seed <= RUNS; seed += 1) {
    const random = randomOf(seed);
    const circuits = draftOfCircuits(NO_CIRCUITS);
    let nowMs = 0;
    for (let step = 0; step < STEPS; step += 1) {
      const names: readonly CircuitName[] = ['connection', 'outage', 'paused.started'];
      const before = names.map((name) => stateOf(circuits, name, nowMs));
      // Either time passes, or something happens: each step is one transition at most.
      if (random.next() < 0.3) nowMs += random.pick([1000, 60_000, 3_600_000]);
      else changeCircuits(circuits, { ...random, nowMs });
      names.forEach((name, index) => seen.note(before[index] ?? '', stateOf(circuits, name, nowMs)));
    }
  }
  return seen.all;
}

function stateOf({ open }: Circuits, name: CircuitName, nowMs: number): string {
  const circuit = open[name];
  if (circuit === undefined) return 'closed';
  return circuit.untilMs > nowMs ? 'open' : 'half_open';
}

function changeCircuits(circuits: Circuits, at: RandomSource & { readonly nowMs: number }): void {
  const { pick, nowMs } = at;
  const effects = noEffects();
  const delayMs = pick([1000, 30_000]);
  const member = pick(['TW-1', 'TW-2', 'TW-3', 'TW-4']);
  const flag = () => pick([true, false]);
  const connectionLost = connectionTask('no token', { kind: 'started', towingReference: member });
  const lost = { delayMs, failures: 1, isSafeOnly: flag(), task: connectionLost, cause: 'token_http_401' };
  const answer = { kind: 'started', wasAnswered: flag(), isAlive: flag(), isForbidden: flag() } as const;
  const failed = { member, delayMs, task: outageTask('HTTP 500'), cause: 'http_500' };
  const forbidden = { kind: 'started', member, task: pausedOperationTask('started', 'Access denied') } as const;
  const changes = [
    () => loseConnection(circuits, lost, nowMs, effects),
    () => applyAnswer(circuits, answer, effects),
    () => countFailure(circuits, failed, nowMs, effects),
    () => countFailure(circuits, failed, nowMs, effects),
    () => countFailure(circuits, failed, nowMs, effects),
    () => countForbidden(circuits, forbidden, nowMs, effects),
    () => applyProbe(circuits, { isAlive: flag(), delayMs }, nowMs, effects),
    () => beginProbe(circuits, pick(['connection', 'outage'] as const), member, { nowMs, leaseMs: 20_000 }, effects),
    () => endPause(circuits, 'started', effects),
  ];
  pick(changes)();
}

/** The transitions of a delivery. */
export function deliveryTransitions(): string[] {
  const seen = new Transitions();
  for (let seed = 1; seed <= RUNS; seed += 1) {
    const { pick } = randomOf(seed);
    const tow = absentTow('TW-1');
    const delivery: Delivery = {
      id: 'D1',
      version: '1',
      kind: 'tow_invoice',
      towingReferenceId: tow.ref,
      rawBody: '{}',
      verified: true,
      signatureId: null,
      signedAtMs: null,
      state: 'waiting',
      verdict: null,
      receivedAtMs: 0,
      processedAtMs: null,
      parkedAtMs: null,
      differenceId: null,
      copies: 1,
      failures: 0,
      replays: 0,
      changeCount: 1,
    };
    seen.watch(delivery, 'state');
    for (let step = 1; step <= STEPS; step += 1) {
      // A worker processes only what is not processed; a person replays anything.
      if (delivery.state === 'processed') reopenDelivery(delivery);
      else
        pick([
          () => settleDelivery(delivery, tow, 'attached', step),
          () => parkDelivery(delivery, tow, step),
          () => keepDiffering(delivery, tow, 'D'),
          () => reopenDelivery(delivery),
        ])();
    }
  }
  return seen.all;
}
