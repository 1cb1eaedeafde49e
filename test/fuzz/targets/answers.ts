import * as fc from 'fast-check';
import { z } from 'zod';
import { differenceOfAnswer } from '../../../src/workflow/service/differences';
import { attemptResultOf } from '../../../jobs/attempt-result';
import { OPERATIONS, type OperationName } from '../../../src/contracts/service/operations';
import { errorOf } from '../../../src/domain/outbox/exchange-message';
import { judge } from '../../../src/domain/service/policy';
import { outageDelayMs } from '../../../src/domain/service/service-health';
import { classify, type TransportOutcome } from '../../../src/service/exchange';
import { answerBodyOf } from '../../../src/service/read-answer';
import { readToken } from '../../../src/service/read-answer';
import { freshToken } from '../../../src/service/token-renewal';
import { edited, editedText, perhapsEdits } from '../bytes';
import { messagesOf } from '../from-schema';
import { anyJson, bulkyJson, hostileText } from '../hostile';
import { judgeApi } from '../judge';
import { createTarget } from '../target';

/** What the service answers: statuses, headers and bodies of every operation. */

interface AnswerInput {
  readonly operation: OperationName;
  readonly status: number;
  readonly ended: 'complete' | 'broken_off' | 'too_long';
  readonly headers: Readonly<Record<'contentType' | 'retryAfter' | 'rateLimitReset', string | undefined>>;
  readonly body: Buffer;
  /** The zone of the question over HTTP; each question has its own. */
  readonly zoneId: string;
  /** How the answer is changed: its first line, its headers, its framing. */
  readonly head: string;
  readonly framing: 'length' | 'short' | 'long' | 'chunked' | 'broken_chunk' | 'until_closed';
}

/** In a body: the zone that was asked about. */
const ZONE = '(zone)';
const ANSWER_LIMIT_BYTES = 256 * 1024;
/** A message about an attempt is stored with the report and shown in its task. */
const MESSAGE_MAX = 64 * 1024;
const NOW_MS = Date.parse('2026-11-20T10:00:00Z');
const DAY_MS = 86_400_000;
const SETTINGS = {
  retryBaseMs: 1000,
  retryCapMs: 300_000,
  notFoundRetries: 3,
  notFoundRetryMs: 5000,
  unknownGraceMs: 15_000,
};
const HISTORY = { failures: 0, notFound: 0, unanswered: 0, connectionFailures: 0, connectionLosses: 0 };
/** What the API may answer about a service that answers like this (src/operator/ops/lookups.ts). */
const DOCUMENTED_5XX = [
  'service_unavailable',
  'service_connection_lost',
  'service_forbids',
  'answer_broken',
  'budget_spent',
];

const names: readonly OperationName[] = [
  ...(['token', 'started', 'detained', 'canceled', 'released', 'invoice'] as const),
  ...(['payment', 'violation', 'violation_guide', 'capacity', 'ticket'] as const),
  // These two go over HTTP; for other operations their answers are invalid too.
  ...(['capacity', 'ticket', 'capacity', 'ticket'] as const),
];

const wait = fc.oneof(
  fc.constantFrom(
    '0',
    '1',
    '-5',
    '1e99',
    'NaN',
    '9'.repeat(400),
    '2592000',
    '1.5',
    'Fri, 20 Nov 2026 10:00:30 GMT',
    '',
  ),
  fc.constantFrom('Fri, 31 Feb 9999 99:99:99 GMT', '99999999999999', '1795000000', ' 5 ', '5, 6'),
  hostileText,
);

const bodyOf = (operation: OperationName): fc.Arbitrary<Buffer> => {
  const data = messagesOf(OPERATIONS[operation].answer, { zoneId: fc.constant(ZONE) });
  const enveloped = fc.record({
    code: fc.constantFrom<unknown>(200, '200', 400, null),
    message: fc.constantFrom('Success', ''),
    data,
  });
  const errors = fc.record(
    { message: anyJson, error: anyJson, errors: fc.array(anyJson, { maxLength: 3 }), code: anyJson },
    { requiredKeys: [] },
  );
  const answered =
    '{"code":200,"message":"","data":{"towing_reference_id":"TW-1","violation_reference_id":"V-1","status":"x",';
  const start = fc.constantFrom(
    answered,
    `${answered}"metadata":{`,
    '{',
    '{"message":{',
    '{"data":{"zoneId":"z","availableSlots":1,',
  );
  return fc.oneof(
    {
      weight: 40,
      arbitrary: fc
        .tuple(fc.oneof({ weight: 3, arbitrary: enveloped }, data, errors), perhapsEdits)
        .map(([value, changes]) => edited(Buffer.from(JSON.stringify(value) ?? ''), changes)),
    },
    {
      weight: 8,
      arbitrary: fc
        .constantFrom('', '<!DOCTYPE html><html>Sign in</html>', '\ufeff{}', '[]', 'null', '"x"', 'Zone not found')
        .map((text) => Buffer.from(text)),
    },
    { weight: 4, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
    { weight: 1, arbitrary: bulkyJson(ANSWER_LIMIT_BYTES, start) },
  );
};

const statuses = fc.oneof(
  { weight: 6, arbitrary: fc.constant(200) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(201, 204, 301, 302, 307, 400, 401, 403, 404, 408, 409, 429, 500, 502, 503, 504),
  },
  fc.integer({ min: 200, max: 999 }),
);

const inputs: fc.Arbitrary<AnswerInput> = fc.oneof(
  ...names.map((operation) =>
    fc.record({
      operation: fc.constant(operation),
      status: statuses,
      ended: fc.oneof(
        { weight: 8, arbitrary: fc.constant('complete' as const) },
        fc.constantFrom('broken_off' as const, 'too_long' as const),
      ),
      headers: fc.record({
        contentType: fc.option(fc.constantFrom('application/json', 'text/html', 'application/problem+json', ''), {
          nil: undefined,
        }),
        retryAfter: fc.option(wait, { nil: undefined }),
        rateLimitReset: fc.option(wait, { nil: undefined }),
      }),
      body: bodyOf(operation),
      zoneId: fc.uuid(),
      head: fc
        .tuple(
          fc.constantFrom('HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2'),
          fc.oneof({ weight: 8, arbitrary: fc.constant([]) }, perhapsEdits),
        )
        .map(([version, changes]) => editedText(version, changes)),
      framing: fc.oneof(
        { weight: 6, arbitrary: fc.constant('length' as const) },
        fc.constantFrom(
          'short' as const,
          'long' as const,
          'chunked' as const,
          'broken_chunk' as const,
          'until_closed' as const,
        ),
      ),
    }),
  ),
);

/** The answer as bytes. */
function wireBytes({ status, headers, body, head, framing }: AnswerInput): Buffer {
  const { contentType, retryAfter, rateLimitReset } = headers;
  const lines = [
    `${head} ${status} Answered`,
    ...(contentType === undefined ? [] : [`Content-Type: ${contentType}`]),
    ...(retryAfter === undefined ? [] : [`Retry-After: ${retryAfter}`]),
    ...(rateLimitReset === undefined ? [] : [`X-RateLimit-Reset: ${rateLimitReset}`]),
  ];
  const withHead = (line: string | null, ...bytes: readonly Buffer[]) =>
    Buffer.concat([Buffer.from(`${[...lines, ...(line === null ? [] : [line])].join('\r\n')}\r\n\r\n`), ...bytes]);
  const chunk = Buffer.from(`${body.length.toString(16)}\r\n`);
  switch (framing) {
    case 'length':
      return withHead(`Content-Length: ${body.length}`, body);
    case 'short':
      return withHead(`Content-Length: ${Math.max(0, body.length - 1)}`, body);
    case 'long':
      return withHead(`Content-Length: ${body.length + 5}`, body);
    case 'chunked':
      return withHead(
        'Transfer-Encoding: chunked',
        ...(body.length > 0 ? [chunk, body, Buffer.from('\r\n')] : []),
        Buffer.from('0\r\n\r\n'),
      );
    case 'broken_chunk':
      return withHead('Transfer-Encoding: chunked', chunk, body, Buffer.from('zz\r\n'));
    case 'until_closed':
      return withHead(null, body);
  }
}

export const answersTarget = createTarget<AnswerInput>({
  name: 'answers',
  share: 0.2,
  inputs,
  direct({ operation, status, ended, headers, body }) {
    const { contentType, retryAfter, rateLimitReset } = headers;
    const outcome: TransportOutcome = {
      status,
      ended,
      isPartlySent: false,
      text: body.toString('utf8'),
      headers: { 'content-type': contentType, 'retry-after': retryAfter, 'x-ratelimit-reset': rateLimitReset },
    };
    const { safeToRepeat } = OPERATIONS[operation];
    const made = classify<unknown>(OPERATIONS[operation], outcome, { nowMs: NOW_MS, envelopeCode: 'refusal' });
    if (operation === 'token') {
      const read = readToken(answerBodyOf(outcome.text));
      if (read.kept && read.data) freshToken(read.data, NOW_MS);
    }
    const verdict = judge(made.exchange, { ...HISTORY, safeToRepeat }, SETTINGS, NOW_MS, 1);
    if ('delayMs' in verdict && !(verdict.delayMs >= 0 && verdict.delayMs <= 40 * DAY_MS))
      return `a report waits ${verdict.delayMs} ms`;
    if (operation === 'token') return null;
    const call = {
      exchange: made.exchange,
      data: null,
      rawBody: made.rawBody,
      wasSent: true,
      isPermitSpent: false,
      durationMs: 1,
    };
    const result = attemptResultOf(call, {
      verdict,
      startedAt: '2026-11-20T10:00:00Z',
      acceptedViolation: null,
      outageDelayMs: outageDelayMs(made.exchange, { failedProbes: 0, nowMs: NOW_MS, jitter: 1 }, SETTINGS),
      task: null,
      difference: differenceOfAnswer(operation, call),
    });
    const { length } = JSON.stringify(errorOf(result.exchange));
    return length <= MESSAGE_MAX ? null : `the message about an attempt has ${length} characters`;
  },
  async send(input, { consoleUrl, apiKey, service, http }) {
    const { zoneId, operation } = input;
    // An answer about another zone breaks the contract.
    const body = Buffer.from(input.body.toString('latin1').replaceAll(ZONE, zoneId), 'latin1');
    service.plan(zoneId, wireBytes({ ...input, body }));
    const isTicket = operation === 'ticket';
    const response = await http.send(consoleUrl, {
      method: isTicket ? 'POST' : 'GET',
      path: isTicket ? '/api/tickets/check' : `/api/zones/${zoneId}/capacity`,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: Buffer.from(isTicket ? JSON.stringify({ zoneId, plateNumber: 'ABC 1234', plateType: 'PRIVATE' }) : ''),
    });
    service.forget(zoneId);
    return judgeApi(response, { answer: z.looseObject({ checked_at: z.string() }), documented5xx: DOCUMENTED_5XX });
  },
});
