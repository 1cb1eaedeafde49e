import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serviceProfile, type ProfileChanges } from '../../src/simulator/profile';
import { readProfile } from '../../src/simulator';
import { requestOf } from './requests';
import { endAll, matching, simulate, startOperator, type OperationResponse } from './support';

/** The options of docs/simulator.md#profiles. */
afterEach(endAll);

/** What a service of this profile does: the answer to one call, or the webhook of a tow that is ordered and invoiced. */
async function answerOf(name: Parameters<typeof requestOf>[0], profile: ProfileChanges, changes: object = {}) {
  const simulator = await simulate({ profile });
  const fields = { ...requestOf(name, await simulator.orderTow()), ...changes };
  const issued = await simulator.operate('token', requestOf('token', await simulator.orderTow()));
  const bearer = tokenIn(issued);
  return name === 'token' ? issued : simulator.operate(name, fields, { bearer, ...where(name, profile) });
}

function where(name: string, { paths = {} }: ProfileChanges): { path?: string } {
  const found = Object.entries(paths).find(([operation]) => operation === name);
  return found ? { path: found[1] } : {};
}

function tokenIn({ text }: OperationResponse): string {
  return /"(?:access_)?token":"(?:Bearer )?([^"]+)"/.exec(text)?.[1] ?? '';
}

async function webhooksOf(profile: ProfileChanges, count = 1) {
  const operator = await startOperator();
  const simulator = await simulate({ webhookUrl: operator.url, profile });
  const tow = await simulator.orderTow({ send: true, metadata: { id: '77', note: 'x' } });
  const posted = await operator.received(count);
  return { simulator, operator, tow, posted };
}

async function invoiceWebhookOf(profile: ProfileChanges) {
  const operator = await startOperator();
  const simulator = await simulate({ webhookUrl: operator.url, profile });
  const { towing_reference_id } = await simulator.orderTow();
  await simulator.control('POST', '/invoices', { towing_reference_id, towing_invoice: { total_amount: 1150 } });
  return (await operator.received(1))[0]?.body;
}

const success = { code: 200, message: 'Success' };
const refused = { towing_reference_id: 'TW-UNKNOWN' };
const ANYTHING: unknown = expect.anything();
const DIGITS = /^[12]\d{14}$/;

test('moves an operation to another path, and does not know the documented one any more', async () => {
  const simulator = await simulate({ profile: { paths: { detained: '/v2/detained' } } });
  const request = requestOf('detained', await simulator.orderTow());

  expect((await simulator.operate('detained', request)).status).toBe(404);
  expect((await simulator.operate('detained', request, { prefix: '/x', path: '/v2/detained' })).status).toBe(200);
  expect((await simulator.operate('released', request)).status).toBe(200);
});

test('plays faults from the start', async () => {
  expect((await answerOf('invoice', { faults: [{ operation: 'invoice', fault: '503' }] })).status).toBe(503);
});

test.each([
  ['data.token', { ...success, data: { token: matching(/^ey/) } }],
  ['data.access_token', { ...success, data: { access_token: matching(/^ey/) } }],
  ['token', { token: matching(/^ey/) }],
  ['access_token', { access_token: matching(/^ey/) }],
] as const)('answers with the token in %s', async (token_place, body) => {
  expect((await answerOf('token', { token_place })).body).toEqual(body);
});

test('answers with a token that begins with Bearer and has an end in seconds, and takes it without that word', async () => {
  const profile = { token_with_bearer: true, token_expires_in: true, token_lifetime_ms: 90_000 } as const;

  const { body } = await answerOf('token', profile);
  expect(body).toMatchObject({ data: { token: matching(/^Bearer ey/), expires_in: 90 } });
  expect((await answerOf('capacity', profile)).status).toBe(200);
});

test('answers with an opaque token that is accepted until its end', async () => {
  const profile = { token_format: 'opaque' } as const;

  expect(tokenIn(await answerOf('token', profile))).toMatch(/^op_[0-9a-f]{32}$/);
  expect((await answerOf('detained', profile)).status).toBe(200);
  expect((await answerOf('detained', { ...profile, token_lifetime_ms: 1 })).status).toBe(401);
});

test.each([
  ['bare answers', { bare: ['detained'] }, { towing_reference_id: matching(/^TW/), metadata: { id: matching(/./) } }],
  ['a code as text', { code: 'text' }, { code: '200', message: 'Success', data: ANYTHING }],
  ['no code and no message', { code: 'absent', message: 'absent' }, { data: ANYTHING }],
  ['a null message', { message: 'null' }, { code: 200, message: null, data: ANYTHING }],
  [
    'metadata as JSON text',
    { metadata: 'json_text' },
    { ...success, data: { towing_reference_id: matching(/^TW/), metadata: matching(/^\{"id":".+"\}$/) } },
  ],
  [
    'metadata in a list',
    { metadata: 'list' },
    { ...success, data: { towing_reference_id: matching(/^TW/), metadata: [{ id: matching(/./) }] } },
  ],
  [
    'null metadata',
    { metadata: 'null' },
    { ...success, data: { towing_reference_id: matching(/^TW/), metadata: null } },
  ],
  ['no metadata', { metadata: 'absent' }, { ...success, data: { towing_reference_id: matching(/^TW/) } }],
  ['missing fields', { answer_fields_missing: ['towing_reference_id', 'metadata'] }, { ...success, data: {} }],
] satisfies [string, ProfileChanges, object][])('sends answers with %s', async (_what, profile, body) => {
  const response = await answerOf('detained', profile);
  expect([response.status, response.body]).toEqual([200, body]);
});

test('sends answers without a body, with another status and with another content type', async () => {
  const profile: ProfileChanges = {
    empty: ['released'],
    statuses: { invoice: 201, payment: 204 },
    content_type: 'text/json',
  };
  const answers = await Promise.all(
    (['released', 'invoice', 'payment'] as const).map((name) => answerOf(name, profile)),
  );

  expect(answers.map(({ status, text, headers }) => [status, text === '', headers['content-type']])).toEqual([
    [200, true, undefined],
    [201, false, 'text/json'],
    [204, true, undefined],
  ]);
});

test('adds fields that the document does not name', async () => {
  const { body } = await answerOf('invoice', { extra_fields: true });
  const extra = { server_node: matching(/./), revision: 7, trace: ANYTHING };
  expect(body).toMatchObject({ data: { ...extra, towing_invoice: extra, delay_invoice: extra } });
  expect((await webhooksOf({ extra_fields: true })).posted[0]?.body).toMatchObject(extra);
});

test('answers a refusal with its status as the code of a 200, but not one about the token', async () => {
  const profile = { refusals_in_body: true, code: 'text' } as const;
  const response = await answerOf('detained', profile, refused);

  expect([response.status, response.body]).toEqual([200, { code: '404', message: 'Violation not found', data: null }]);
  expect((await answerOf('detained', { ...profile, token_lifetime_ms: 1 })).status).toBe(401);
  expect((await answerOf('detained', { ...profile, faults: [{ operation: 'detained', fault: '403' }] })).status).toBe(
    403,
  );
});

test.each([
  ['message', /^\{"code":404,"message":"Violation not found"\}$/],
  ['error', /^\{"error":"Violation not found"\}$/],
  ['error_object', /^\{"error":\{"code":404,"message":"Violation not found"\}\}$/],
  ['errors', /^\{"errors":\[\{"message":"Violation not found"\}\]\}$/],
  ['detail', /^\{.*"detail":"Violation not found"\}$/],
  ['text', /^Violation not found$/],
  ['html', /^<!DOCTYPE html>.*<h1>Violation not found<\/h1>/],
] as const)('answers a refusal in the shape %s', async (refusal_shape, pattern) => {
  const response = await answerOf('detained', { refusal_shape }, refused);
  expect([response.status, response.text]).toEqual([404, matching(pattern)]);
});

test('sends references and ids as numbers, and takes them as numbers or text', async () => {
  const { simulator, tow, posted } = await webhooksOf({ references: 'number' });

  expect([tow.towing_reference_id, tow.violation_reference_id]).toEqual([matching(DIGITS), matching(DIGITS)]);
  expect(posted[0]?.text).toBe(
    `{"violation_reference_id":${tow.violation_reference_id},"towing_reference_id":${tow.towing_reference_id},"metadata":{"id":77,"note":"x"}}`,
  );
  const request = requestOf('detained', tow);
  const asNumbers = Object.fromEntries(Object.entries(request).map(([name, value]) => [name, Number(value)]));
  for (const fields of [request, asNumbers]) {
    const { body } = await simulator.operate('detained', fields);
    expect(body).toMatchObject({
      data: { towing_reference_id: Number(tow.towing_reference_id), metadata: { id: 77 } },
    });
  }
});

test.each([
  ['number', 1150],
  ['text', '1150.00'],
  ['text_with_separators', '1,150.00'],
  ['arabic_digits', '١٬١٥٠٫٠٠'],
] as const)('sends amounts in the form %s', async (amounts, total_amount) => {
  expect(await invoiceWebhookOf({ amounts })).toMatchObject({ towing_invoice: { total_amount } });
});

test('leaves out optional parts and fields of webhooks', async () => {
  expect(await invoiceWebhookOf({ delay_invoice: 'null' })).toMatchObject({ delay_invoice: null });
  const body = await invoiceWebhookOf({ delay_invoice: 'absent', webhook_fields_missing: ['metadata', 'tax'] });
  expect(Object.keys(body ?? {})).toEqual(['violation_reference_id', 'towing_reference_id', 'towing_invoice']);
  expect(body?.['towing_invoice']).not.toHaveProperty('tax');
});

test('posts webhooks below a prefix, with a byte order mark, another content type and further headers', async () => {
  const { posted } = await webhooksOf({
    webhook_prefix: '/partners/parking',
    webhook_byte_order_mark: true,
    webhook_content_type: 'application/json; charset=utf-8',
    webhook_headers: { 'x-partner-key': 'shared' },
  });

  expect(posted).toMatchObject([
    {
      path: '/partners/parking/tow-request',
      text: matching(/^\uFEFF\{/),
      headers: { 'content-type': 'application/json; charset=utf-8', 'x-partner-key': 'shared' },
    },
  ]);
});

test('posts events of other kinds with every tow request', async () => {
  const { simulator, operator } = await webhooksOf({ other_events: ['/tickets/created', '/capacity'] }, 3);

  expect(operator.posted.map(({ path }) => path).toSorted()).toEqual(['/capacity', '/tickets/created', '/tow-request']);
  expect((await simulator.attempts()).map(({ kind }) => kind).toSorted()).toEqual(['other', 'other', 'tow_request']);
});

test('takes status update times with whole seconds alone when the profile has these', async () => {
  const withFraction = { status_update_time: '2026-03-01T08:30:00.000Z' };

  expect((await answerOf('started', {}, withFraction)).status).toBe(200);
  expect((await answerOf('started', { timestamps: 'utc_whole_seconds' })).status).toBe(200);
  expect((await answerOf('started', { timestamps: 'utc_whole_seconds' }, withFraction)).status).toBe(400);
});

test('limits the number and the bytes of images to those of the profile', async () => {
  const image = { name: 'image.jpg', content: Buffer.alloc(600) };
  const simulator = await simulate({ profile: { images_count_max: 2, images_total_bytes_max: 1500 } });
  const request = requestOf('violation', await simulator.orderTow());
  const statuses = [];
  for (const images of [
    [image, image],
    [image, image, image],
    [image, { ...image, content: Buffer.alloc(901) }],
  ]) {
    statuses.push((await simulator.operate('violation', request, { images })).status);
  }
  expect(statuses).toEqual([200, 400, 400]);
});

test('replaces the profile and its faults while it runs', async () => {
  const simulator = await simulate();
  const request = requestOf('detained', await simulator.orderTow());
  const bearer = await simulator.token();
  const changes = {
    base: 'odd',
    bare: [],
    paths: {},
    content_type: 'application/json',
    faults: [{ operation: 'released', fault: '500' }],
  };

  const answer: OperationResponse = await simulator.control('PUT', '/options', changes).expect(200);
  const { body } = answer;
  expect(serviceProfile.parse(body)).toMatchObject({ bare: [], code: 'text' });
  expect((await simulator.control('GET', '/options')).body).toEqual(body);
  expect((await simulator.operate('detained', request, { bearer })).body).toMatchObject({ code: '200', message: null });
  expect((await simulator.operate('released', request, { bearer })).status).toBe(500);
  await simulator.control('PUT', '/options', {}).expect(200);
  expect((await simulator.operate('released', request, { bearer })).body).toMatchObject(success);
});

test('refuses options that are unknown or invalid, and keeps the profile', async () => {
  const simulator = await simulate();
  const wrong = { amounts: 'roman', colour: 'red' };
  const answer: OperationResponse = await simulator.control('PUT', '/options', wrong).expect(400);

  expect(answer.body).toMatchObject({ code: 'invalid_request', details: [{ field: 'amounts' }, { field: 'colour' }] });
  expect((await simulator.control('GET', '/options')).body).toEqual(serviceProfile.parse({}));
});

test.each([
  ['content_type', { content_type: 'application/json; x=كلمة' }],
  ['webhook_content_type', { webhook_content_type: 'application/json\r\n' }],
  ['webhook_headers.x-secret', { webhook_headers: { 'x-secret': 'كلمة' } }],
  ['webhook_headers.x secret', { webhook_headers: { 'x secret': 'a' } }],
])('refuses the option %s when it is no valid HTTP header, and keeps the profile', async (field, wrong) => {
  const simulator = await simulate();
  const answer: OperationResponse = await simulator.control('PUT', '/options', wrong).expect(400);

  const rule = matching(/^must be the (name|value) of an HTTP header/);
  expect(answer.body).toMatchObject({ code: 'invalid_request', details: [{ field, rule }] });
  expect((await simulator.control('GET', '/options')).body).toEqual(serviceProfile.parse({}));
});

test('sends webhooks with headers of every character that HTTP allows', async () => {
  const { posted } = await webhooksOf({ webhook_headers: { "x!#$%&'*+.^_`|~-9": 'a\tb é ÿ' } });

  expect(posted[0]?.headers).toMatchObject({ "x!#$%&'*+.^_`|~-9": 'a\tb é ÿ' });
});

test('reads a profile by its name or from a JSON file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'towhook-profile-'));
  const [good, bad] = [join(folder, 'good.json'), join(folder, 'bad.json')];
  await writeFile(good, '{"base": "odd", "amounts": "text"}');
  await writeFile(bad, '{"amounts": 1}');
  try {
    expect(await readProfile('odd')).toEqual({ base: 'odd' });
    expect(await readProfile(good)).toMatchObject({ amounts: 'text', references: 'number' });
    await expect(readProfile(bad)).rejects.toThrow('names a file that is no profile: amounts must be one of');
    await expect(readProfile(join(folder, 'none.json'))).rejects.toThrow('must be document, odd or a readable file');
  } finally {
    await rm(folder, { recursive: true });
  }
});
