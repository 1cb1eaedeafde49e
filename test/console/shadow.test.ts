import { messagesIn } from '../../src/console/messages';
import { withhold } from '../../src/domain/outbox/withheld';
import { useApp } from '../support/app';
import { changeInStore } from '../support/stores';
import { newKey, towOf } from '../operator/client';
import { towAfter } from '../operator/world';
import { signedIn, textOf } from './visitor';

const app = useApp({ role: 'console' });
const { withheld: messages, why, board, terms } = messagesIn('en');

/** A tow of a shadow time with one report. */
async function heldTow(): Promise<string> {
  const ref = await towAfter(app, 'started');
  await changeInStore(app.foundation.redis, ref, withhold);
  return ref;
}

test('every page leads to what waits for a decision since a shadow time, and shows nothing without it', async () => {
  const visitor = await signedIn(app);
  expect((await visitor.get('/board')).html).not.toContain('mode-banner');
  await heldTow();

  expect(textOf((await visitor.get('/board')).html)).toContain(messages.bannerHeld({ count: 1 }));
});

test('the page of shadow mode shows each call with its address and masks the plate in its body', async () => {
  const ref = await heldTow();
  const { html } = await (await signedIn(app)).get('/ops/shadow');

  expect(html).toContain(ref);
  expect(html).toContain('PATCH http://127.0.0.1:1/parking/api/v1/tow/public/towing-status/started');
  expect(html).toContain('&quot;plate_number&quot;: &quot;•••&quot;');
});

test('the page of shadow mode redirects a broken cursor to its first page', async () => {
  const response = await (await signedIn(app)).get('/ops/shadow?cursor=nonsense');
  expect([response.status, response.location]).toEqual([303, '/ops/shadow']);
});

test('ops sends chosen tows and declines others with a reason; a viewer cannot choose', async () => {
  const [sent, declined] = [await heldTow(), await heldTow()];
  const visitor = await signedIn(app);
  expect((await visitor.post('/ops/shadow', { decision: 'send', chosen: sent })).status).toBe(303);
  const refused = await visitor.post('/ops/shadow', { decision: 'decline', chosen: declined });
  expect(refused.status).toBe(422);
  expect((await visitor.post('/ops/shadow', { decision: 'decline', chosen: declined, reason: 'done' })).status).toBe(
    303,
  );

  expect(await towOf(app, sent)).toMatchObject({ shadow: null, reports: [{ state: 'pending' }] });
  expect(await towOf(app, declined)).toMatchObject({ shadow: 'declined', reports: [{ state: 'waived' }] });

  const ref = await heldTow();
  const viewer = await signedIn(app, await newKey(app, 'viewer'));
  expect((await viewer.get('/ops/shadow')).html).not.toContain('name="chosen"');
  expect((await viewer.post('/ops/shadow', { decision: 'send', chosen: ref })).status).toBe(403);
});

test('ops stops all sending and goes live with a reason, from the pages of ops and of shadow mode', async () => {
  const visitor = await signedIn(app);
  expect((await visitor.get('/ops')).html).toContain('action="/ops/shadow/mode"');
  const refused = await visitor.post('/ops/shadow/mode', { mode: 'shadow' });
  expect([refused.status, refused.html.includes('id="mode-reason"')]).toEqual([422, true]);

  expect((await visitor.post('/ops/shadow/mode', { mode: 'shadow', reason: 'test' })).location).toBe('/ops/shadow');
  expect(textOf((await visitor.get('/board')).html)).toContain(messages.banner);
  const ref = await towAfter(app, 'started');

  expect((await visitor.post('/ops/shadow/mode', { mode: 'live', reason: 'test' })).location).toBe('/ops/shadow');
  expect(textOf((await visitor.get('/board')).html)).not.toContain(messages.banner);
  expect(await towOf(app, ref)).toMatchObject({ shadow: 'held', reports: [{ state: 'pending' }] });
  const viewer = await signedIn(app, await newKey(app, 'viewer', 'viewer of the switch'));
  expect((await viewer.get('/ops/shadow')).html).not.toContain('action="/ops/shadow/mode"');
  expect((await viewer.post('/ops/shadow/mode', { mode: 'shadow', reason: 'test' })).status).toBe(403);
});

test('the first submit button of the shadow form declines, so that Enter in the form does not send', async () => {
  await heldTow();
  const { html } = await (await signedIn(app)).get('/ops/shadow');
  const [, form = ''] = html.split('action="/ops/shadow"');
  const buttons = [...form.slice(0, form.indexOf('</form>')).matchAll(/<button [^>]*value="(\w+)"/g)];
  expect(buttons.map(([, decision]) => decision)).toEqual(['decline', 'send']);
});

test('keeps the chosen tows ticked when declining without a reason is refused', async () => {
  const [chosen, other] = [await heldTow(), await heldTow()];
  const refused = await (await signedIn(app)).post('/ops/shadow', { decision: 'decline', chosen });
  expect(refused.status).toBe(422);
  const ticked = (ref: string) =>
    new RegExp(`<input type="checkbox"[^>]* value="${ref}"[^>]*>`).exec(refused.html)?.[0];
  expect(ticked(chosen)).toContain(' checked');
  expect(ticked(other)).not.toContain(' checked');
});

test.each(['send', 'decline'])('refuses to %s when nothing is chosen, and keeps the typed reason', async (decision) => {
  await heldTow();
  const refused = await (await signedIn(app)).post('/ops/shadow', { decision, reason: 'a test of last week' });
  expect(refused.status).toBe(422);
  expect(textOf(refused.html)).toContain(messagesIn('en').refusals.nothing_ticked);
  expect(refused.html).toContain('a test of last week');
});

test('a tow of a shadow time waits for a decision of ops on its page and on the board', async () => {
  const ref = await heldTow();
  const visitor = await signedIn(app);
  const report = terms.operations.started;
  expect(textOf((await visitor.get(`/tows/${ref}`)).html)).toContain(why.report.shadow({ report }));
  expect(textOf((await visitor.get('/board')).html)).toContain(board.waits.shadow);
  expect(textOf((await visitor.get('/ops/shadow')).html)).toContain(messages.held({ count: 1 }));
});
