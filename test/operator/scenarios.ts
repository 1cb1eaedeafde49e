import { z } from 'zod';
import type { ROUTES } from '../../src/contracts/operator-routes';
import { deliveryDetail, newApiKeyView, sendingView } from '../../src/contracts/operator';
import { newSubscriptionView } from '../../src/contracts/ops/subscriptions';
import type { useApp } from '../support/app';
import { imageOf } from '../support/images';
import { api, audited, towIn, towOf, towPath } from './client';
import { formOf, REQUIRED } from './forms';
import { answerHead, deliver, newTow, newViolation, towAfter, violationOf, WHEREABOUTS } from './world';
import { runView } from '../../src/contracts/ops/runs';
import { createRunStore } from '../../src/store/ops/runs';
import { setCircuit } from '../support/stored-records';
import { changeInStore, oddAnswer } from '../support/stores';
import { withhold } from '../../src/domain/outbox/withheld';
import { recordsOf } from '../../src/store/outbox/records';
import { orderKeyOf } from '../../src/workflow/transaction-port';

/** A request with an effect, another valid body for it (null when there is none), and a count of its effects. */
export interface RouteScenario {
  readonly path: string;
  readonly body: object;
  readonly other: object | null;
  readonly effects: () => Promise<number>;
}

type Routes = typeof ROUTES;
type PostedRoute = { [Name in keyof Routes]: Routes[Name]['method'] extends 'post' ? Name : never }[keyof Routes];
/**
 * Without `checkTicket`, a query that is sent as POST to keep plates out of URLs, and without the test of notifications:
 * they change nothing.
 */
export type PostRoute = Exclude<PostedRoute, 'checkTicket' | 'testNotifications' | 'testSubscription'>;

const A_PHOTO = { name: 'b.png', bytes: imageOf(300) };

const KNOWN = { plateNumber: 'ABJ 1234', location: 'Olaya Street', latitude: 24.69, longitude: 46.68 };

export const at = (time: string) => ({ occurred_at: `2024-11-20T${time}:00Z` });

/** A prepared request for each route that changes something, on this process. */
export function scenariosOn(app: ReturnType<typeof useApp>): Readonly<Record<PostRoute, () => Promise<RouteScenario>>> {
  function onTow(ref: string, more: string, body: object, other: object | null): RouteScenario {
    const effects = async () => (await towOf(app, ref)).version;
    return { path: towPath(ref, more), body, other, effects };
  }

  async function onRefused(action: string, body: object, other: object | null): Promise<RouteScenario> {
    const ref = await towAfter(app, 'started', 'detained');
    return onTow(ref, `/reports/${await answerHead(app, ref, 'refused')}/${action}`, body, other);
  }

  async function onViolation(action: string, body: object, other: object | null): Promise<RouteScenario> {
    const id = await newViolation(app);
    const effects = async () => (await violationOf(app, id)).version;
    return { path: `/api/violations/${id}/${action}`, body, other, effects };
  }

  async function previewedRun(): Promise<string> {
    const { id } = await deliver(app, 'tow_request', { violation_reference_id: 'V-1', towing_reference_id: 'TW-1' });
    const response = await api(app)
      .post('/api/runs')
      .send({ action: 'replay', delivery_ids: [id] });
    return runView.parse(response.body).id;
  }

  async function onHeldTow(action: string, body: object, other: object | null): Promise<RouteScenario> {
    const ref = await newTow(app);
    await changeInStore(app.foundation.redis, ref, withhold);
    return onTow(ref, `/shadow/${action}`, body, other);
  }

  async function onHeldViolation(action: string, body: object, other: object | null): Promise<RouteScenario> {
    const id = await newViolation(app);
    await recordsOf(app.foundation.redis).transact(orderKeyOf('violation', id), async (transaction) => {
      const draft = await transaction.violation(id);
      if (draft) withhold(draft);
    });
    const effects = async () => (await violationOf(app, id)).version;
    return { path: `/api/violations/${id}/shadow/${action}`, body, other, effects };
  }

  /** Counts the audit entries of an action. */
  function actsOf(action: string): () => Promise<number> {
    return async () => (await audited(app)).items.filter((entry) => entry.action === action).length;
  }

  async function onSubscription(
    action: string,
    body: object,
    other: object | null,
    audit: string,
  ): Promise<RouteScenario> {
    const made = { name: `receiver ${action}`, url: 'https://receiver.example/changes' };
    const { id } = newSubscriptionView.parse((await api(app).post('/api/subscriptions').send(made)).body);
    return { path: `/api/subscriptions/${id}/${action}`, body, other, effects: actsOf(audit) };
  }

  return {
    started: async () => onTow(await towAfter(app), '/started', WHEREABOUTS, { ...WHEREABOUTS, plate_number: 'KLM 7' }),
    detained: async () => onTow(await towAfter(app, 'started'), '/detained', {}, at('08:00')),
    released: async () => onTow(await towAfter(app, 'started'), '/released', {}, at('08:00')),
    canceled: async () =>
      onTow(await towAfter(app), '/canceled', { cancellation_reason: 'gone' }, { cancellation_reason: 'away' }),
    invoice: async () =>
      onTow(
        await towAfter(app, 'started'),
        '/invoice',
        { vehicle_type: 'HEAVY' },
        { vehicle_type: 'HEAVY', delay_in_days: 1 },
      ),
    payment: async () =>
      onTow(await towAfter(app, 'started', 'invoice'), '/payment', {}, { external_reference: 'receipt 17' }),
    assignTow: async () => onTow(await towAfter(app), '/assignment', { crew: 'Crew 7' }, { crew: 'Crew 8' }),
    recordStep: async () => onTow(await towAfter(app), '/steps', { step: 'accepted' }, { step: 'en_route' }),
    setYard: async () => onTow(await towAfter(app, 'started'), '/yard', { yard: 'North' }, { yard: 'South' }),
    placeHold: async () => onTow(await towAfter(app), '/holds', { reason: 'police' }, { reason: 'owner disputes' }),
    liftHold: async () => {
      const ref = await newTow(app);
      const { dispatch } = towIn(await api(app).post(towPath(ref, '/holds')).send({ reason: 'police' }));
      const more = `/holds/${dispatch.holds[0]?.id}/lift`;
      return onTow(ref, more, { reason: 'settled' }, { reason: 'withdrawn' });
    },
    addNote: async () => onTow(await towAfter(app), '/notes', { text: 'gate B' }, { text: 'gate C' }),
    retryReport: () => onRefused('retry', {}, null),
    correctReport: () => onRefused('correct', { plate_number: 'KLM 7' }, { plate_number: 'KLM 8' }),
    waiveReport: () => onRefused('waive', { reason: 'by phone' }, { reason: 'by mail' }),
    acceptReport: () => onRefused('accept', { reason: 'by phone' }, { reason: 'by mail' }),
    linkViolation: async () => {
      const [first, second] = [await newViolation(app), await newViolation(app)];
      return onTow(await newTow(app), '/violation', { violation_id: first }, { violation_id: second });
    },
    addPhotos: async () => {
      const [photo, other] = [formOf({}, [{ name: 'a.png', bytes: imageOf(200) }]), formOf({}, [A_PHOTO])];
      return onTow(await newTow(app), '/photos', photo, other);
    },
    reportViolation: async () => ({
      path: '/api/violations',
      body: formOf(REQUIRED, [A_PHOTO]),
      other: formOf(REQUIRED, [{ ...A_PHOTO, bytes: imageOf(300, 2) }]),
      effects: actsOf('violation.reported'),
    }),
    addKnownViolations: async () => ({
      path: '/api/violations/known',
      body: { violations: [{ ...KNOWN, metadata_id: 'other-1' }] },
      other: { violations: [{ ...KNOWN, metadata_id: 'other-2' }] },
      effects: actsOf('violation.known_added'),
    }),
    retryViolation: () => onViolation('retry', {}, null),
    correctViolation: () => onViolation('correct', { location: 'Olaya Street' }, { location: 'King Road' }),
    replaceViolationImages: () =>
      onViolation('images', formOf({}, [A_PHOTO]), formOf({}, [{ ...A_PHOTO, bytes: imageOf(300, 2) }])),
    waiveViolation: () => onViolation('waive', { reason: 'by phone' }, { reason: 'by mail' }),
    acceptViolation: () => onViolation('accept', { reason: 'by phone' }, { reason: 'by mail' }),
    changeMode: async () => {
      const body = { mode: 'shadow', reason: 'by phone' };
      return { path: '/api/mode', body, other: { ...body, reason: 'by mail' }, effects: actsOf('sending.stopped') };
    },
    sendWithheldTow: () => onHeldTow('send', {}, { reason: 'by phone' }),
    declineWithheldTow: () => onHeldTow('decline', { reason: 'by phone' }, { reason: 'by mail' }),
    sendWithheldViolation: () => onHeldViolation('send', {}, { reason: 'by phone' }),
    declineWithheldViolation: () => onHeldViolation('decline', { reason: 'by phone' }, { reason: 'by mail' }),
    resolveTask: async () => {
      const ref = await newTow(app);
      await deliver(app, 'tow_request', { violation_reference_id: 'V-other', towing_reference_id: ref });
      const scenario = onTow(ref, '', {}, { reason: 'seen' });
      return { ...scenario, path: `/api/tasks/rival_request.${ref}/resolve` };
    },
    expectDifference: async () => {
      const ref = await towAfter(app, 'started');
      await answerHead(app, ref, 'drift');
      const path = `/api/differences/${encodeURIComponent(oddAnswer('started').id)}/expect`;
      return { path, body: {}, other: { reason: 'seen' }, effects: actsOf('difference.expected') };
    },
    previewRun: async () => {
      const { id } = await deliver(app, 'tow_request', { violation_reference_id: 'V-1', towing_reference_id: 'TW-1' });
      const body = { action: 'replay', delivery_ids: [id] };
      const effects = async () => (await createRunStore(app.foundation.redis).recent(100)).length;
      return { path: '/api/runs', body, other: { ...body, reason: 'seen' }, effects };
    },
    startRun: async () => ({
      path: `/api/runs/${await previewedRun()}/start`,
      body: {},
      other: null,
      effects: actsOf('run.started'),
    }),
    abortRun: async () => ({
      path: `/api/runs/${await previewedRun()}/abort`,
      body: {},
      other: null,
      effects: actsOf('run.aborted'),
    }),
    resumeOperation: async () => {
      await setCircuit(app.foundation.redis, 'paused.invoice', { untilMs: Date.now() + 3_600_000 });
      const effects = async () => {
        const { operations } = sendingView.parse((await api(app).get('/api/operations')).body);
        return operations.filter(({ state }) => state === 'open').length;
      };
      return { path: '/api/operations/invoice/resume', body: {}, other: { reason: 'granted now' }, effects };
    },
    replayDelivery: async () => {
      const { id } = await deliver(app, 'tow_request', { violation_reference_id: 'V-1', towing_reference_id: 'TW-1' });
      const effects = async () => deliveryDetail.parse((await api(app).get(`/api/deliveries/${id}`)).body).replays;
      return { path: `/api/deliveries/${id}/replay`, body: {}, other: null, effects };
    },
    pauseQueue: async () => ({
      path: '/api/queues/reports/pause',
      body: { reason: 'deploying' },
      other: { reason: 'testing' },
      effects: actsOf('queue.paused'),
    }),
    resumeQueue: async () => ({
      path: '/api/queues/reports/resume',
      body: { reason: 'deployed' },
      other: { reason: 'tested' },
      effects: actsOf('queue.resumed'),
    }),
    rotateApiKey: async () => {
      const { id } = newApiKeyView.parse((await api(app).post('/api/keys').send({ name: 'yard', role: 'crew' })).body);
      const body = { grace_hours: 1 };
      return { path: `/api/keys/${id}/rotate`, body, other: { grace_hours: 2 }, effects: actsOf('key.rotated') };
    },
    createSubscription: async () => ({
      path: '/api/subscriptions',
      body: { name: 'dispatch', url: 'https://receiver.example/changes' },
      other: { name: 'dispatch', url: 'https://other.example/changes' },
      effects: actsOf('subscription.created'),
    }),
    rotateSubscription: () => onSubscription('rotate', { grace_hours: 1 }, { grace_hours: 2 }, 'subscription.rotated'),
    pauseSubscription: () => onSubscription('pause', {}, null, 'subscription.paused'),
    resumeSubscription: () => onSubscription('resume', {}, null, 'subscription.resumed'),
    replaySubscription: () => {
      const since = new Date(app.foundation.clock.nowMs()).toISOString();
      return onSubscription('replay', { since, preview: false }, { since }, 'subscription.replayed');
    },
    createApiKey: async () => ({
      path: '/api/keys',
      body: { name: 'yard', role: 'crew' },
      other: { name: 'yard', role: 'viewer' },
      effects: async () => {
        const response = await api(app).get('/api/keys');
        return z.object({ items: z.array(z.unknown()) }).parse(response.body).items.length;
      },
    }),
  };
}
