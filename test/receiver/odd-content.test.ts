import { useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { deliveriesIn, post, read, towInvoice, towOf, towRequest } from './calls';

const app = useApp();

// First of all: how deep code may nest changes once it has run often.
it.each([
  ['objects', '{"a":', '}'],
  ['lists', '{"a":[', ']}'],
])('the most deeply nested %s that are answered 200 become a tow that can be read', async (_what, open, close) => {
  const callOf = (depth: number) => {
    const body = JSON.stringify(towRequest({ towing_reference_id: `TW-${depth}`, metadata: 'DEEP' }));
    return body.replace('"DEEP"', `${open.repeat(depth)}1${close.repeat(depth)}`);
  };
  let [deepestTaken, refused] = [1, 50_000];
  while (refused - deepestTaken > 1) {
    const depth = Math.floor((deepestTaken + refused) / 2);
    const { status } = await post(app.receiverUrl, '/tow-request', callOf(depth));
    if (status === 200) deepestTaken = depth;
    else refused = depth;
  }
  const deepest = `TW-${deepestTaken}`;
  await eventually(async () => {
    const deliveries = await deliveriesIn(app.foundation);
    expect(deliveries.find(({ towingReferenceId }) => towingReferenceId === deepest)?.state).toBe('processed');
  });
  // One such call must not make anything unreadable for people either.
  expect((await read(app, '/api/tows')).status).toBe(200);
  expect(await towOf(app, deepest)).toMatchObject({ state: 'requested' });
});

it.each([
  ['half a character', { metadata: { id: 'a\ud800' } }],
  ['half a character at the end of a key', { metadata: { 'b\udc00': '\ud83d' } }],
  ['every control character', { metadata: { id: String.fromCharCode(...Array.from({ length: 32 }, (_, at) => at)) } }],
  [
    'names with a meaning of their own',
    {
      metadata: { ['__proto__']: { id: 1 }, constructor: 'x' },
    },
  ],
  ['100 kB', { metadata: { id: 'x'.repeat(100_000) } }],
])('a call that was answered 200 becomes a whole tow although it carries %s', async (_what, changes) => {
  await post(app.receiverUrl, '/tow/invoice', towInvoice());
  expect((await post(app.receiverUrl, '/tow-request', towRequest(changes))).status).toBe(200);
  await eventually(async () => {
    const tow = await towOf(app, 'TW-20261120-9F4D1A');
    expect(tow).toMatchObject({
      state: 'requested',
      timeline: [{ type: 'tow.requested' }, { type: 'invoice.attached' }],
    });
  });
});
