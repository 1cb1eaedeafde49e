import type { Page } from 'playwright-core';
import { z } from 'zod';
import { messagesIn } from '../../src/console/messages';
import { deliveryPage, queueView } from '../../src/contracts/operator';
import { systemClock } from '../../src/platform/clock';
import { KEYS } from '../../src/store/keys';
import { expectAccessible, focused, useBrowser, waitForPath, waitForText } from '../support/browser';
import { eventually } from '../support/eventually';
import { useConsole, WHEREABOUTS } from './world';

const browser = useBrowser({ fastTimers: true });
const world = useConsole();
const { ops, opsAlarms, keys, deliveries, common, terms } = messagesIn('en');

const verdict = (page: Page) => page.locator('.verdict-title');
const isPaused = async (name: string) => {
  const queues = z.array(queueView).parse(await (await world.call('GET', '/queues')).json());
  return queues.find((queue) => queue.name === name)?.paused;
};

/** Stores the metrics of the last hour, with a gap of ten minutes. */
async function countAnHour(): Promise<void> {
  const last = Math.floor(systemClock.nowMs() / 60_000) - 1;
  for (let minute = last - 58; minute <= last; minute += 1) {
    if (minute > last - 30 && minute < last - 20) continue;
    const figures = { lived: 1, 'accepted.tow_request': minute % 7, 'delivery.5': 3, 'due.reports': minute % 5 };
    await world.app.foundation.redis.hset(`${KEYS.metrics}:${minute}`, figures);
  }
}

/** The number of pixels of a chart that are not transparent. */
async function inkOf(page: Page, chart: string): Promise<number> {
  const ink: unknown = await page.evaluate(`(() => {
    const canvas = document.querySelector('#plot-${chart} canvas');
    if (!canvas) return 0;
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let at = 3; at < data.length; at += 4) if (data[at] > 0) count += 1;
    return count;
  })()`);
  return z.number().parse(ink);
}

test('the ops page pauses and resumes a queue and shows the pause at the top without a reload', async () => {
  await world.app.sendHeartbeat();
  const page = await browser.open();
  await world.signIn(page, 'ops', '/ops');
  await waitForText(verdict(page), opsAlarms.well);

  const queue = page.locator('#queue-violations');
  await queue.locator('summary').click();
  await queue.getByLabel(common.reason).fill('the disk is changed');
  await expectAccessible(page);
  await queue.getByRole('button', { name: ops.queues.pause }).click();
  await waitForText(page.locator('.notice'), common.done.queue_paused);
  await waitForText(verdict(page), opsAlarms.queuePaused.title({ queue: opsAlarms.work.violations }));
  expect(await isPaused('violations')).toBe(true);
  await expectAccessible(page);

  await queue.locator('summary').click();
  await queue.getByRole('button', { name: terms.actions.resume }).click();
  await waitForText(verdict(page), opsAlarms.well);
  expect(await isPaused('violations')).toBe(false);
});

test('the ops page shows a paused operation without a reload, keeps the text being typed, and resumes the operation', async () => {
  await world.app.sendHeartbeat();
  const page = await browser.open();
  await world.signIn(page, 'ops', '/ops');
  await page.locator('#queue-reports summary').click();
  const reason = page.locator('#queue-reports').getByLabel(common.reason);
  await reason.fill('half a sen');

  await world.setFaults([{ operation: 'started', fault: '403', rate: 1 }]);
  const refs = await world.orderTows(4);
  for (const ref of refs) await world.record(ref, 'started', WHEREABOUTS);
  await waitForText(verdict(page), opsAlarms.paused.title({ operation: terms.operations.started }));
  expect(await reason.inputValue()).toBe('half a sen');
  expect(await focused(page).getAttribute('name')).toBe('reason');
  await expectAccessible(page);

  await world.setFaults([]);
  const operation = page.locator('#operation-started');
  await operation.locator('summary').click();
  await operation.getByLabel(common.reason).fill('the service allowed it');
  await operation.getByRole('button').click();
  await waitForText(page.locator('.notice'), common.done.operation_resumed);
  await waitForText(page.locator('#sending'), ops.sending.allOpen);
});

test('the ops page says from when its verdict is while it cannot be refreshed', async () => {
  await world.app.sendHeartbeat();
  const page = await browser.open();
  await world.signIn(page, 'viewer', '/ops');
  const asOf = page.locator('.verdict .as-of');
  await page.locator('body[data-stream=live]').waitFor();
  expect(await asOf.isVisible()).toBe(false);
  browser.announce(page, { path: '/ops', status: 503 });
  let isDown = true;
  await page.route(world.at('/ops'), (route) => (isDown ? route.fulfill({ status: 503 }) : route.continue()));
  await asOf.waitFor({ state: 'visible' });
  await waitForText(page.locator('[data-live-state]'), common.liveLost);
  await expectAccessible(page);
  isDown = false;
  await asOf.waitFor({ state: 'hidden' });
});

test.each([
  ['en', 'light', 'desk'],
  ['ar', 'dark', 'desk'],
  ['ar', 'light', 'phone'],
] as const)(
  'the ops page draws its charts in %s, %s, on a %s, and redraws them when the theme changes',
  async (language, theme, viewport) => {
    await countAnHour();
    await world.app.sendHeartbeat();
    const page = await browser.open({ language, theme, viewport });
    await world.signIn(page, 'viewer', '/ops');
    for (const chart of ['throughput', 'latency', 'backlog', 'oldest']) {
      await eventually(async () => expect(await inkOf(page, chart)).toBeGreaterThan(500));
    }
    const picture = () => page.evaluate(`document.querySelector('#plot-throughput canvas').toDataURL()`);
    const before = await picture();
    await page.emulateMedia({ colorScheme: theme === 'dark' ? 'light' : 'dark' });
    await eventually(async () => expect(await picture()).not.toBe(before));

    const table = page.locator('#numbers-throughput');
    await table.locator('summary').click();
    expect(await table.locator('tbody tr').count()).toBe(60);
    // axe reports elements that the sticky header covers partly.
    await page.evaluate('scrollTo(0, 0)');
    await expectAccessible(page);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
  },
);

test('a refresh of the ops charts draws new values and keeps open tables open', async () => {
  await countAnHour();
  const page = await browser.open();
  await world.signIn(page, 'viewer', '/ops');
  await eventually(async () => expect(await inkOf(page, 'backlog')).toBeGreaterThan(500));
  await page.locator('#numbers-backlog summary').click();
  await eventually(async () => {
    // The legend shows the last full minute, which is another one if a minute ends before the refresh.
    const last = Math.floor(systemClock.nowMs() / 60_000) - 1;
    await world.app.foundation.redis.hset(`${KEYS.metrics}:${last}`, 'tasks', 4321);
    await page.evaluate(`htmx.ajax('GET', '/ops/charts', { target: '#charts', swap: 'morph:outerHTML' })`);
    expect(await page.locator('#chart-backlog .legend').innerText()).toContain('4,321');
  });
  expect(await page.locator('#numbers-backlog').getAttribute('open')).not.toBeNull();
  expect(await page.locator('#plot-backlog canvas').count()).toBe(1);
  expect(await inkOf(page, 'backlog')).toBeGreaterThan(500);
});

test('the ops page shows its metrics as tables without JavaScript', async () => {
  await countAnHour();
  const page = await browser.open({ javaScript: false });
  await world.signIn(page, 'viewer', '/ops');
  await page.locator('#numbers-throughput summary').click();
  expect(await page.locator('#numbers-throughput tbody tr').count()).toBe(60);
  expect(await page.locator('.plot').first().isVisible()).toBe(false);
});

test('ops create an API key that another user signs in with, and revoke a key', async () => {
  const page = await browser.open();
  await world.signIn(page, 'ops', '/ops/keys');
  await page.getByLabel(keys.name).fill('Night shift');
  await page.getByLabel(keys.role).selectOption('dispatcher');
  await page.getByRole('button', { name: keys.submit }).click();
  const key = await page.getByLabel(messagesIn('en').signIn.key).inputValue();
  await expectAccessible(page);
  expect(page.url()).not.toContain(key);

  const other = await browser.open({ viewport: 'phone' });
  await other.goto(world.at('/sign-in'));
  await other.locator('input[name=key]').fill(key);
  await other.locator('form[action="/sign-in"] button').click();
  await waitForPath(other, '/board');

  await page.getByRole('link', { name: keys.back }).click();
  await page.locator('summary').filter({ hasText: keys.revoke }).first().click();
  await expectAccessible(page);
  await page.getByRole('button', { name: keys.revokeSure }).first().click();
  await waitForText(page.locator('.notice'), common.done.key_revoked);
});

test('ops replay a delivery and see the new verdict', async () => {
  const ref = await world.orderTow();
  const page = await browser.open();
  await world.signIn(page, 'ops', '/ops/deliveries');
  await page.locator('[data-row-link]').first().click();
  await waitForText(page.locator('#delivery'), ref);
  await expectAccessible(page);
  await page.locator('#act-replay summary').click();
  await page.getByRole('button', { name: deliveries.replaySure }).click();
  await waitForText(page.locator('.notice'), common.done.replayed);
  await eventually(async () => {
    const { items } = deliveryPage.parse(await (await world.call('GET', '/deliveries')).json());
    expect(items[0]).toMatchObject({ replays: 1, state: 'processed', verdict: 'already_known' });
  });
  await waitForText(page.locator('#delivery'), deliveries.verdicts.already_known);
});

test.each([
  ['en', 'desk'],
  ['ar', 'phone'],
] as const)(
  'the pages of keys, audit and deliveries are accessible and fit the window in %s on a %s',
  async (language, viewport) => {
    await world.orderTow();
    const url = `${world.app.receiverUrl}/tow-request`;
    await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
    const page = await browser.open({ language, viewport, theme: 'dark' });
    await world.signIn(page, 'ops', '/ops/keys');
    for (const path of [
      '/ops/keys',
      '/ops/audit',
      '/ops/deliveries',
      '/ops/deliveries?refused=true',
      '/ops/deliveries?other=true',
    ]) {
      await page.goto(world.at(path));
      await expectAccessible(page);
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    }
  },
);

test('the queue dashboard opens from the ops page without a password and without browser errors', async () => {
  const page = await browser.open();
  await world.signIn(page, 'ops', '/ops');
  await page.getByRole('link', { name: ops.queues.board }).click();
  await waitForText(page.locator('#root'), 'deliveries');
});

test.each(['en', 'ar'] as const)(
  'the ops page in "%s" names a missing data key until the process has it',
  async (language) => {
    const { opsAlarms: alarms } = messagesIn(language);
    const { redis } = world.app.foundation;
    // What a process with the key has noted.
    await redis.hset(KEYS.dataKeys, '2026-11', 'a check value');
    await world.app.sendHeartbeat();
    const page = await browser.open({ language });
    await world.signIn(page, 'ops', '/ops');
    await waitForText(verdict(page), /2026-11/);
    await waitForText(page.locator('main'), alarms.dataKeysMissing.todo);
    await expectAccessible(page);

    await redis.hdel(KEYS.dataKeys, '2026-11');
    await world.app.sendHeartbeat();
    await waitForText(verdict(page), alarms.well);
  },
);
