import request from 'supertest';
import { z } from 'zod';
import { messagesIn } from '../../src/console/messages';
import { differenceView } from '../../src/contracts/service/differences';
import { useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { api, deliveriesPage, newKey, towOf } from '../operator/client';
import { signedIn, textOf } from './visitor';

/** Webhooks that break the contract, from the receiver to the person who judges them again. */

const app = useApp();
const { judging: messages, deliveries, runs } = messagesIn('en');

const SECRET = 'PLATE-7777';
const odd = (ref: string) => ({
  towing_reference_id: ref,
  violation_reference_id: `V-${ref}`,
  metadata: { id: { plate: SECRET } },
});

/** Posts webhooks that break the contract, and waits for their kind of difference. */
async function kindOf(refs: readonly string[]): Promise<string> {
  for (const ref of refs) {
    await request(app.receiverUrl).post('/tow-request').send(odd(ref)).expect(200, { code: 'accepted' });
  }
  return eventually(async () => {
    const listed = await api(app).get('/api/differences');
    const { items } = z.object({ items: z.array(differenceView) }).parse(listed.body);
    expect(items.map(({ source, count }) => [source, count])).toEqual([['webhook', refs.length]]);
    return items[0]?.id ?? '';
  });
}
const path = (id: string) => `/ops/service/${encodeURIComponent(id)}`;

test('shows what judging again would do, and acts on the webhooks once the difference is expected', async () => {
  const id = await kindOf(['TW-1', 'TW-2']);
  const visitor = await signedIn(app);
  const shown = textOf((await visitor.get(path(id))).html);
  expect(shown).toContain(messages.title({ count: 2 }));
  expect(shown).not.toContain(SECRET);
  // What would differ again is shown, and not offered to be done.
  const early = await visitor.get((await visitor.post(`${path(id)}/judge`)).location ?? '');
  expect(textOf(early.html)).toContain(runs.none);
  expect(textOf(early.html)).toContain('still_differs');
  expect(textOf(early.html)).not.toContain(SECRET);

  await visitor.post(`${path(id)}/expect`);
  const { location } = await visitor.post(`${path(id)}/judge`);
  if (location === null) throw new Error('no preview');
  expect(textOf((await visitor.get(location)).html)).toContain(runs.possible({ count: 2 }));
  await visitor.post(location, { act: 'start' });

  await eventually(async () => {
    expect(await towOf(app, 'TW-1')).toMatchObject({ state: 'requested', metadata: {} });
    expect(await towOf(app, 'TW-2')).toMatchObject({ state: 'requested' });
    expect(textOf((await visitor.get(location)).html)).toContain(runs.about.done);
  });
  expect(textOf((await visitor.get(path(id))).html)).toContain(messages.title({ count: 0 }));
  expect((await api(app).get('/api/audit')).text).toContain('run.started');
});

test('lists the deliveries that differ, with the rules that each breaks, and leads to their kind', async () => {
  const id = await kindOf(['TW-1']);
  await request(app.receiverUrl)
    .post('/tow-request')
    .send({ ...odd('TW-2'), metadata: null })
    .expect(200);
  await eventually(async () => expect((await towOf(app, 'TW-2')).state).toBe('requested'));

  for (const query of [{ differing: 'true' }, { difference_id: id }]) {
    const { items } = await deliveriesPage(app, query);
    expect(items).toMatchObject([{ towing_reference_id: 'TW-1', state: 'differs', difference_id: id }]);
  }
  const visitor = await signedIn(app);
  const { html } = await visitor.get('/ops/deliveries?differing=true');
  expect(textOf(html)).toContain(deliveries.states.differs);
  const address = /href="(\/ops\/deliveries\/dlv_\w+)"/.exec(html)?.[1] ?? '';
  const one = await visitor.get(address);
  expect(textOf(one.html)).toContain('metadata.id : must be a string');
  expect(one.html).toContain(`href="${path(id)}"`);
});

test('neither offers to judge again to a dispatcher nor lets one do it', async () => {
  const id = await kindOf(['TW-1']);
  const visitor = await signedIn(app, await newKey(app, 'dispatcher'));
  expect((await visitor.get(path(id))).html).not.toContain('/judge');
  expect((await visitor.post(`${path(id)}/judge`)).status).toBe(403);
});
