import { z } from 'zod';
import { emptyBody, rotateKeyBody } from '../operator';
import {
  newSubscriptionBody,
  newSubscriptionView,
  replayBody,
  replayView,
  subscriptionView,
  testedView,
} from '../ops/subscriptions';
import { CHANGE, READ, type Route } from './route';

const PATH = '/api/subscriptions';
const ONE = `${PATH}/:subscription_id`;
const SHOWN = `
  id name url types include paused_by lag_seconds behind.subject behind.attempts behind.next_attempt_at
  last_answer.at last_answer.http_status last_answer.problem
`;
const SECRET_NOTE = 'The secret is shown once. For a new one: towhook subscription rotate <id>';
const changed = { ...CHANGE, role: 'ops', body: emptyBody, answer: subscriptionView, shows: SHOWN } as const;

/** Subscriptions: changes posted to an address. */
export const SUBSCRIPTION_ROUTES = {
  listSubscriptions: {
    ...READ,
    path: PATH,
    role: 'ops',
    summary: 'The subscriptions, how far each has come and what its receiver answered; never their secrets.',
    answer: z.object({ items: z.array(subscriptionView) }),
    command: 'subscription list',
    shows: 'id name url paused_by lag_seconds last_answer.http_status',
  },
  createSubscription: {
    method: 'post',
    path: PATH,
    role: 'ops',
    summary:
      'Have changes posted to an address from now on, signed as Standard Webhooks. The secret is in this answer and never again.',
    body: newSubscriptionBody,
    status: 201,
    answer: newSubscriptionView,
    again: subscriptionView,
    command: 'subscription create <name> <url>',
    note: SECRET_NOTE,
  },
  rotateSubscription: {
    ...CHANGE,
    path: `${ONE}/rotate`,
    role: 'ops',
    summary: 'Give a subscription a new secret, shown in this answer and never again. Both sign for a while.',
    body: rotateKeyBody,
    answer: newSubscriptionView,
    again: subscriptionView,
    command: 'subscription rotate <subscription_id>',
    note: SECRET_NOTE,
  },
  pauseSubscription: {
    ...changed,
    path: `${ONE}/pause`,
    summary: 'Send nothing until it is resumed. Nothing is lost for KEEP_CHANGES_HOURS.',
    command: 'subscription pause <subscription_id>',
  },
  resumeSubscription: {
    ...changed,
    path: `${ONE}/resume`,
    summary: 'Send what has waited, and everything that follows.',
    command: 'subscription resume <subscription_id>',
  },
  testSubscription: {
    method: 'post',
    path: `${ONE}/test`,
    role: 'ops',
    summary: 'Post a change of the type `test` now, and answer with what became of it.',
    body: emptyBody,
    status: 200,
    answer: testedView,
    command: 'subscription test <subscription_id>',
    succeeds: 'delivered',
  },
  replaySubscription: {
    ...CHANGE,
    path: `${ONE}/replay`,
    role: 'ops',
    summary: 'Count the changes since a cursor or a time (`preview`), or send them again, in order.',
    body: replayBody,
    answer: replayView,
    command: 'subscription replay <subscription_id>',
  },
  deleteSubscription: {
    method: 'delete',
    path: ONE,
    role: 'ops',
    summary: 'End a subscription. What it has not sent is never sent.',
    status: 204,
    answer: z.null(),
    command: 'subscription delete <subscription_id>',
  },
} as const satisfies Record<string, Route>;
