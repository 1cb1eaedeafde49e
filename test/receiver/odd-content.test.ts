import { api, towOf } from '../operator/client';
import { useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { deliver, deliveriesIn, towInvoice, towRequest } from './calls';

const app = useApp();

// This test comes first: the stack depth that fits changes once the JIT compiler has optimized the code.
it.each([
  ['objects', '{"a":', '}'],
  ['arrays', '{"a":[', ']}'],
])('creates a readable tow from the most deeply nested %s that the receiver accepts', async (_kind, open, close) => {
  const webhookOf = (depth: number) => {
    const body = JSON.stringify(towRequest({ towing_reference_id: `TW-${depth}`, metadata: 'DEEP' }));
    return body.replace('"DEEP"', `${open.repeat(depth)}1${close.repeat(depth)}`);
  };
  let [deepestAccepted, refused] = [1, 50_000];
  while (refused - deepestAccepted > 1) {
    const depth = Math.floor((deepestAccepted + refused) / 2);
    const { status } = await deliver(app.receiverUrl, '/tow-request', webhookOf(depth));
    if (status === 200) deepestAccepted = depth;
    else refused = depth;
  }
  const deepest = `TW-${deepestAccepted}`;
  await eventually(async () => {
    const deliveries = await deliveriesIn(app.foundation);
    expect(deliveries.find(({ towingReferenceId }) => towingReferenceId === deepest)?.state).toBe('processed');
  });
  // One deeply nested webhook must not break the list of tows.
  await api(app).get('/api/tows').expect(200);
  expect(await eventually(() => towOf(app, deepest))).toMatchObject({ state: 'requested' });
});

it.each([
  ['a lone high surrogate', { metadata: { id: 'a\ud800' } }],
  ['lone surrogates in a key and in its value', { metadata: { 'b\udc00': '\ud83d' } }],
  ['every control character', { metadata: { id: String.fromCharCode(...Array.from({ length: 32 }, (_, at) => at)) } }],
  [
    'the keys __proto__ and constructor',
    {
      metadata: { ['__proto__']: { id: 1 }, constructor: 'x' },
    },
  ],
  ['100 kB of metadata', { metadata: { id: 'x'.repeat(100_000) } }],
])('creates a complete tow from an accepted tow request with %s', async (_content, changes) => {
  await deliver(app.receiverUrl, '/tow/invoice', towInvoice());
  await deliver(app.receiverUrl, '/tow-request', towRequest(changes)).expect(200);
  await eventually(async () => {
    const tow = await towOf(app, 'TW-20261120-9F4D1A');
    expect(tow).toMatchObject({
      state: 'requested',
      timeline: [{ type: 'tow.requested' }, { type: 'invoice.attached' }],
    });
  });
});
