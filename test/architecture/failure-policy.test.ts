import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OPERATIONS } from '../../src/contracts/service/operations';
import { judge, type AttemptHistory, type Exchange } from '../../src/domain/service/policy';
import type { HttpAnswer } from '../../src/service/attempt';
import { classify } from '../../src/service/exchange';
import { once, partlySent, refused, repeatable, SETTINGS, surelyNotSent, unanswered } from '../domain/attempts';
import { nowMs } from '../domain/tows';
import { PROJECT } from '../support/project';

/** An attempt that a row of docs/failure-policy.md is about: what happened, and what happened before. */
type PolicyCase = readonly [Exchange, Partial<AttemptHistory>?];

const notFound = (message: string) => refused(404, { message });

/** What a 2xx with this body means after a status update. */
const answered = (text: string, ended: HttpAnswer['ended'] = 'complete'): Exchange =>
  classify(
    OPERATIONS.detained,
    { status: 200, headers: {}, text, ended, isPartlySent: false },
    { nowMs, envelopeCode: 'refusal' },
  ).exchange;

/** The attempts of every row of both tables, by the text of the row's first column. */
const ROWS: Readonly<Record<string, readonly PolicyCase[]>> = {
  '2xx that keeps the contract': [[{ kind: 'accepted', httpStatus: 200 }], [{ kind: 'accepted', httpStatus: 201 }]],
  '2xx with an empty body or a broken contract': [
    [{ kind: 'contract_broken', httpStatus: 200, issues: [] }],
    [answered('(/', 'encoding_zstd')],
  ],
  '2xx that differs, but can be read': [[answered('')], [answered('{"towing_reference_id":7}')]],
  '2xx with `code` 400 in its body': [[answered('{"code":400,"message":"m","data":null}')]],
  '2xx whose body is no JSON object': [
    [{ kind: 'not_the_service', httpStatus: 200, cause: 'not_json' }],
    [{ kind: 'not_the_service', httpStatus: 200, cause: 'broken_off' }],
    [{ kind: 'not_the_service', httpStatus: 200, cause: 'encoding_zstd' }],
  ],
  '3xx, or 404 without JSON': [[refused(302)], [refused(404, { isJson: false })]],
  '400 and other 4xx': [[refused(400)], [refused(409)], [refused(422)], [refused(431)]],
  '403': [[refused(403)]],
  '404 `Violation not found`': [[notFound('Violation not found')]],
  '404 `Plate number not found`': [[notFound('Plate number not found')]],
  '404 as above, after `NOT_FOUND_RETRIES` retries': [[notFound('Violation not found'), { notFound: 3 }]],
  '404 as above, after an unanswered attempt': [[notFound('Violation not found'), { unanswered: 1 }]],
  '429': [[refused(429)], [refused(429), { unanswered: 1 }]],
  '500, 503': [[refused(500)], [refused(503)]],
  '500, 503 after an unanswered attempt': [
    [refused(500), { unanswered: 1 }],
    [refused(503), { unanswered: 1 }],
  ],
  '408, 502, 504 and other 5xx': [[refused(408)], [refused(502)], [refused(504)], [refused(599)]],
  'surely not sent: DNS, connection refused': [[surelyNotSent]],
  'partly sent: broken off before the last byte of the images': [[partlySent]],
  'partly sent: a 408 or 5xx before that byte': [408, 502, 503, 504].map((status): PolicyCase => [
    refused(status, { isPartlySent: true }),
  ]),
  'no answer: timeout or reset after the last byte': [[unanswered]],
  'the token call gets a 408 or 5xx, or no answer': [
    [{ kind: 'surely_not_sent', cause: 'token_http_500', notBeforeMs: null }],
    [{ kind: 'surely_not_sent', cause: 'token_timeout', notBeforeMs: null }],
  ],
  'the token call is refused, or a new token got 401': [
    [{ kind: 'connection', cause: 'token_http_401', notBeforeMs: null }],
    [{ kind: 'connection', cause: 'token_refused', notBeforeMs: null }],
  ],
  'the permit or the claim grew too old': [[{ kind: 'dropped', cause: 'permission_expired', notBeforeMs: null }]],
};

/** The rows of the tables whose second and third columns are verdicts. */
function rowsOfPage(): { answer: string; safe: string; creating: string }[] {
  const page = readFileSync(join(PROJECT, 'docs/failure-policy.md'), 'utf8');
  const verdict = '`(accepted|refused|retry|unknown|hold)`';
  const row = new RegExp(`^\\| (.+?) +\\| ${verdict} +\\| ${verdict} +\\|`, 'gm');
  return [...page.matchAll(row)].map(([, answer = '', safe = '', creating = '']) => ({ answer, safe, creating }));
}

const verdictOf = ([exchange, before = {}]: PolicyCase, history: AttemptHistory) =>
  judge(exchange, { ...history, ...before }, SETTINGS, nowMs, 0).next;

test('the page on the failure policy has exactly the rows that are compared with the code', () => {
  expect(rowsOfPage().map(({ answer }) => answer)).toEqual(Object.keys(ROWS).toSorted(byPage()));
  expect(rowsOfPage()).toHaveLength(Object.keys(ROWS).length);
});

test.each(rowsOfPage())('the code gives the documented verdicts on: $answer', ({ answer, safe, creating }) => {
  const attempts = ROWS[answer] ?? [];
  expect(attempts.length).toBeGreaterThan(0);
  for (const attempt of attempts) {
    expect([verdictOf(attempt, repeatable), verdictOf(attempt, once)]).toEqual([safe, creating]);
  }
});

/** Numbers come first among the names of an object; the page has an order of its own. */
function byPage(): (a: string, b: string) => number {
  const order = rowsOfPage().map(({ answer }) => answer);
  return (a, b) => order.indexOf(a) - order.indexOf(b);
}
