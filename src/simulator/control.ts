import { pipeline, Readable } from 'node:stream';
import express, { Router, type NextFunction, type Request, type Response } from 'express';
import { z } from 'zod';
import { jsonObject, metadata, NO_SUCH_ADDRESS } from '../contracts/common';
import { failedRules } from '../contracts/rules';
import { errorFacts } from '../platform/errors';
import type { Log } from '../platform/log/log';
import type { CallLog } from './calls';
import { faultRules, type FaultRules } from './answer/faults';
import type { Ordering } from './ordering';
import { profileChanges, type ActiveProfile } from './profile';
import type { WebhookSender } from './webhooks';
import type { SimulatedTow, SimulatedViolation, SimulatedWorld } from './world';

export interface Control {
  readonly log: Log;
  readonly calls: CallLog;
  readonly faults: FaultRules;
  readonly ordering: Ordering;
  readonly profile: ActiveProfile;
  readonly webhooks: WebhookSender;
  readonly world: SimulatedWorld;
}

const towRequests = z.strictObject({
  violation_reference_id: z.string().min(1).optional(),
  metadata: metadata.optional(),
  count: z.int().min(1).max(10_000).default(1),
  /** False: the tow is created and its webhook waits for `…/send`. */
  send: z.boolean().default(true),
  /** Of a violation that this call creates; null creates it without a plate. */
  plate_number: z.string().min(1).nullable().optional(),
});
const invoices = z.strictObject({
  towing_reference_id: z.string().min(1),
  /** Fields that differ from the created invoice, to simulate a mismatch. */
  towing_invoice: jsonObject.optional(),
  delay_invoice: jsonObject.optional(),
});
const emptyBody = z.strictObject({});
const callFilter = z.object({ towing_reference_id: z.string().optional() });

/** The control API of the simulator, below `/simulator`. Errors: 400 with field and rule, 404. */
export function controlRouter(control: Control): Router {
  const router = Router();
  router.use(express.json({ limit: '10mb', strict: false, type: () => true }));
  triggers(router, control);
  settings(router, control);
  views(router, control);
  router.use((_request, response) => {
    response.status(404).json({ ...NO_SUCH_ADDRESS, details: [] });
  });
  router.use((error: unknown, _request: Request, response: Response, next: NextFunction) => {
    if (response.headersSent) next(error);
    else answerError(error, response, control.log);
  });
  return router;
}

/** Routes that send webhooks. */
function triggers(router: Router, { ordering }: Control): void {
  router.post('/tow-requests', (request, response) => {
    const wanted = read(towRequests, request.body);
    const items = Array.from({ length: wanted.count }, () => shownOrder(ordering.orderTow(wanted)));
    response.status(201).json({ items });
  });
  router.post('/tow-requests/:towing_reference_id/send', (request, response) => {
    read(emptyBody, request.body);
    const towingReference = request.params.towing_reference_id;
    const webhookId = ordering.sendTowRequest(towingReference);
    if (webhookId === null) {
      response.status(404).json({ code: 'not_found', message: 'No such tow.', details: [] });
    } else {
      response.status(202).json({ towing_reference_id: towingReference, webhook_id: webhookId });
    }
  });
  router.post('/invoices', (request, response) => {
    const { towing_reference_id: towingReference, ...changes } = read(invoices, request.body);
    const webhookId = ordering.sendInvoice(towingReference, changes);
    response.status(202).json({ towing_reference_id: towingReference, webhook_id: webhookId });
  });
}

/** Routes that change how the service behaves. */
function settings(router: Router, { faults, profile }: Control): void {
  const options = () => ({ ...profile.current, faults: faults.rules() });
  router.put('/options', (request, response) => {
    profile.current = read(profileChanges, request.body);
    faults.replace(profile.current.faults);
    response.json(options());
  });
  router.get('/options', (_request, response) => {
    response.json(options());
  });
  router.put('/faults', (request, response) => {
    faults.replace(read(faultRules, request.body));
    response.json({ items: faults.rules() });
  });
  router.get('/faults', (_request, response) => {
    response.json({ items: faults.rules() });
  });
}

/** Routes that show what the service received, sent and knows. */
function views(router: Router, { calls, webhooks, world }: Control): void {
  router.get('/calls', (request, response) => {
    const texts = calls.texts(read(callFilter, request.query).towing_reference_id ?? null);
    response.type('json');
    // A reader may close the connection before the end.
    pipeline(Readable.from(listed(texts)), response, () => {});
  });
  router.delete('/calls', (_request, response) => {
    calls.clear();
    response.status(204).end();
  });
  router.get('/webhooks', (_request, response) => {
    response.json({ items: webhooks.attempts() });
  });
  router.delete('/webhooks', (_request, response) => {
    webhooks.clearAttempts();
    response.status(204).end();
  });
  router.get('/violations', (_request, response) => {
    response.type('json');
    const texts = world.reportedViolations().map((violation) => JSON.stringify(shownViolation(violation)));
    pipeline(Readable.from(listed(texts)), response, () => {});
  });
  router.get('/world', (_request, response) => {
    const counts = { ...world.counts(), calls: calls.size, webhooks: webhooks.attempts().length };
    response.json({ counts, tows: world.tows().map(shownTow) });
  });
}

/** The list in pieces of JSON text: in one piece it could exceed the longest string. */
function* listed(texts: readonly string[]): Generator<string> {
  yield '{"items":[';
  for (const [index, text] of texts.entries()) yield index === 0 ? text : `,${text}`;
  yield ']}';
}

function shownOrder(tow: SimulatedTow): object {
  return {
    violation_reference_id: tow.violationReference,
    towing_reference_id: tow.towingReference,
    metadata: tow.metadata,
  };
}

function shownViolation({ reference, plateNumber, metadata, towed, form }: SimulatedViolation): object {
  const { fields, images } = form ?? { fields: {}, images: [] };
  return { violation_reference_id: reference, plate_number: plateNumber, metadata, towed, fields, images };
}

function shownTow(tow: SimulatedTow): object {
  const { statuses, invoices: invoiceCount, paymentStatus } = tow;
  return { ...shownOrder(tow), statuses, invoices: invoiceCount, payment_status: paymentStatus };
}

/** Throws ZodError for a body or query that breaks a rule. */
function read<S extends z.ZodType>(schema: S, given: unknown): z.output<S> {
  return schema.parse(given ?? {});
}

function answerError(error: unknown, response: Response, log: Log): void {
  if (error instanceof z.ZodError) {
    const message = 'The request breaks a rule.';
    response.status(400).json({ code: 'invalid_request', message, details: failedRules(error) });
    return;
  }
  const status = error instanceof Error && 'status' in error ? error.status : undefined;
  if (typeof status === 'number' && status >= 400 && status < 500) {
    const details = [{ field: 'body', rule: status === 413 ? 'is too large' : 'must be JSON' }];
    response.status(status).json({ code: 'invalid_request', message: 'The body cannot be read.', details });
    return;
  }
  log.error('simulator.control_failed', errorFacts(error));
  response.status(500).json({ code: 'internal_error', message: 'The simulator failed.', details: [] });
}
