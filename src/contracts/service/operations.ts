import type { z } from 'zod';
import type { OPERATION_NAMES } from '../../domain/vocabulary';
import * as service from './service';

/**
 * The operations of the service that an operator calls (docs/service-api.md#operations). Client and simulator are driven by
 * this table.
 */
export interface Operation {
  readonly method: 'GET' | 'POST' | 'PATCH';
  /** Appended to the base address; never resolved against it. `SERVICE_PATHS` can replace it. */
  readonly path: string;
  /** How the request travels. */
  readonly encoding: 'json' | 'form' | 'query' | 'credentials';
  readonly request: z.ZodType | null;
  /** The contract of `data`. */
  readonly answer: z.ZodType;
  /**
   * `envelope`: always inside `data`. `bare_or_envelope`: docs/service-api.md#guide-operations does not show it, both
   * are read.
   */
  readonly answerShape: 'envelope' | 'bare_or_envelope';
  /** False if nothing in the answer is used. One without data then counts as accepted. */
  readonly isAnswerUsed: boolean;
  /** False if a second call may create a second thing. It is not repeated while the first may have worked. */
  readonly safeToRepeat: boolean;
  /** The rate limit of the service that it counts against. */
  readonly budget: BudgetName;
  /**
   * Its documented errors (docs/service-api.md#errors); for #guide-operations, where they are "not shown", those common
   * to all.
   */
  readonly refusals: readonly DocumentedRefusal[];
  readonly summary: string;
}

/** The rate limits of the service (`BUDGET_…_PER_MINUTE`). */
export const BUDGET_NAMES = ['auth', 'site', 'violations', 'tickets', 'tow'] as const;
export type BudgetName = (typeof BUDGET_NAMES)[number];

/** A documented error (docs/service-api.md#errors). */
export interface DocumentedRefusal {
  readonly httpStatus: number;
  readonly message: string;
}

// Open question Q22: the errors of the guide operations are not documented; we expect those that all others share.
const common: readonly DocumentedRefusal[] = [
  { httpStatus: 401, message: 'Unauthorized' },
  { httpStatus: 403, message: 'Access denied' },
  { httpStatus: 500, message: 'Internal Server Error' },
];

/** docs/service-api.md#violation-errors. */
const violationRefusals: readonly DocumentedRefusal[] = [
  { httpStatus: 400, message: 'Zone not found' },
  { httpStatus: 400, message: 'Image size exceeds limit' },
  { httpStatus: 400, message: 'Missing required field' },
  { httpStatus: 400, message: 'Invalid enum value' },
  ...common,
];

/** docs/service-api.md#tow-errors. */
const towRefusals: readonly DocumentedRefusal[] = [
  { httpStatus: 400, message: 'Missing required field' },
  { httpStatus: 400, message: 'Invalid enum value' },
  { httpStatus: 404, message: 'Plate number not found' },
  { httpStatus: 404, message: 'Violation not found' },
  ...common,
];

/** What the six operations on a tow share. */
const onTow = { encoding: 'json', answerShape: 'envelope', budget: 'tow', refusals: towRefusals } as const;
// Open question Q4: whether a repeated status update is accepted is not documented; we repeat one that got no answer.
const statusUpdate = {
  ...onTow,
  method: 'PATCH',
  answer: service.towAnswer,
  isAnswerUsed: false,
  safeToRepeat: true,
} as const;

export type OperationName = (typeof OPERATION_NAMES)[number];

// Open question Q20: further operations of the service are not documented; none is called.
/** By the name that the outbox, the API, the simulator's faults and the metrics use. */
export const OPERATIONS = {
  token: {
    method: 'POST',
    path: '/auth/public/token',
    encoding: 'credentials',
    request: null,
    answer: service.tokenAnswer,
    isAnswerUsed: true,
    answerShape: 'envelope',
    safeToRepeat: true,
    budget: 'auth',
    refusals: common,
    summary: 'Get an access token for the client id and secret.',
  },
  started: {
    ...statusUpdate,
    path: '/v1/tow/public/towing-status/started',
    request: service.startedRequest,
    summary: 'Report that the tow has started.',
  },
  detained: {
    ...statusUpdate,
    path: '/v1/tow/public/towing-status/detained',
    request: service.detainedRequest,
    summary: 'Report that the vehicle is in the yard.',
  },
  canceled: {
    ...statusUpdate,
    path: '/v1/tow/public/towing-status/canceled',
    request: service.canceledRequest,
    summary: 'Report that the tow was canceled, with the reason.',
  },
  released: {
    ...statusUpdate,
    path: '/v1/tow/public/towing-status/released',
    request: service.releasedRequest,
    summary: 'Report that the vehicle was released.',
  },
  invoice: {
    ...onTow,
    method: 'POST',
    path: '/v1/tow/public/invoice',
    request: service.invoiceRequest,
    answer: service.invoiceAnswer,
    isAnswerUsed: true,
    // Open question Q5: whether a second create makes a second invoice is not documented; we assume that it does.
    safeToRepeat: false,
    summary: 'Create the tow invoice.',
  },
  payment: {
    ...onTow,
    method: 'PATCH',
    path: '/v1/tow/public/invoice/payment-status',
    request: service.paymentRequest,
    answer: service.towAnswer,
    isAnswerUsed: false,
    safeToRepeat: true,
    summary: 'Report the payment status of the tow invoice.',
  },
  violation: {
    method: 'POST',
    path: '/v1/violations/public',
    encoding: 'form',
    request: service.violationForm,
    answer: service.violationAnswer,
    isAnswerUsed: true,
    answerShape: 'envelope',
    safeToRepeat: false,
    budget: 'violations',
    refusals: violationRefusals,
    summary: 'Report a parking violation with images.',
  },
  violation_guide: {
    method: 'POST',
    path: '/violation/public/create',
    encoding: 'form',
    request: service.guideViolationForm,
    answer: service.guideViolationAnswer,
    isAnswerUsed: true,
    answerShape: 'bare_or_envelope',
    safeToRepeat: false,
    budget: 'violations',
    refusals: violationRefusals,
    summary: 'Report a parking violation (integration guide form).',
  },
  capacity: {
    method: 'GET',
    path: '/sites/public/site-capacity',
    encoding: 'query',
    request: service.capacityRequest,
    answer: service.capacityAnswer,
    isAnswerUsed: true,
    answerShape: 'bare_or_envelope',
    safeToRepeat: true,
    budget: 'site',
    refusals: common,
    summary: 'Free slots of a zone.',
  },
  ticket: {
    method: 'POST',
    path: '/tickets/public/active-ticket',
    encoding: 'json',
    request: service.ticketRequest,
    answer: service.ticketAnswer,
    isAnswerUsed: true,
    answerShape: 'bare_or_envelope',
    safeToRepeat: true,
    budget: 'tickets',
    refusals: common,
    summary: 'Whether a vehicle has an active parking ticket.',
  },
} as const satisfies Record<OperationName, Operation>;

/** The body an operation takes. */
export type RequestOf<N extends OperationName> =
  (typeof OPERATIONS)[N]['request'] extends z.ZodType<infer T> ? T : null;
/** The data an operation answers. */
export type AnswerOf<N extends OperationName> = z.infer<(typeof OPERATIONS)[N]['answer']>;
