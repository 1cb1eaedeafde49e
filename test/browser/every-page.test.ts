import type { Page } from 'playwright-core';
import type { Role } from '../../src/domain/vocabulary';
import { expectAccessible, useBrowser, waitForCount } from '../support/browser';
import { useConsole, WHEREABOUTS } from './world';

/** What must hold of every page, whoever looks at it and on what: the pages' own tests look at what each is for. */

const browser = useBrowser();
const world = useConsole();

const LOOKS = [
  { language: 'en', viewport: 'desk', theme: 'light' },
  { language: 'en', viewport: 'phone', theme: 'dark' },
  { language: 'ar', viewport: 'desk', theme: 'dark' },
  { language: 'ar', viewport: 'phone', theme: 'light' },
] as const;

/** A tow in the yard with an invoice, one whose report was refused, a violation; returns the addresses of all pages. */
async function everyAddress(): Promise<readonly string[]> {
  const [yard, refused] = await world.orderTows(2);
  if (yard === undefined || refused === undefined) throw new Error('no tows were ordered');
  await world.record(yard, 'started');
  await world.record(yard, 'detained');
  await world.record(yard, 'invoice', { vehicle_type: 'HEAVY' });
  await world.record(yard, 'holds', { reason: 'Police asked to keep the vehicle' });
  await world.towWhen(yard, ({ invoices }) => invoices.length > 1);
  await world.refuseOnce('started');
  await world.record(refused, 'started', { ...WHEREABOUTS, plate_number: 'ا ب ح ٧٧' });
  await world.towWhen(refused, ({ tasks }) => tasks.length > 0);
  const violation = await reportViolation();
  const delivery = await firstId('/deliveries');
  return [
    '/board',
    '/board?state=all&q=TW-',
    `/tows/${yard}`,
    `/tows/${refused}`,
    '/tasks',
    '/tasks/bulk',
    '/violations',
    '/violations/new',
    `/violations/${violation}`,
    '/lookups',
    '/ops',
    '/ops/deliveries',
    `/ops/deliveries/${delivery}`,
    '/ops/keys',
    '/ops/audit',
    '/shortcuts',
  ];
}

async function reportViolation(): Promise<string> {
  const form = new FormData();
  const fields = {
    plateNumber: 'ABJ 1234',
    plateType: 'PRIVATE',
    violationType: 'WRONG_PARKING',
    location: 'Olaya Street',
    zoneId: 'a3f0c1d2-5b6e-4c7d-8e9f-0a1b2c3d4e5f',
    latitude: '24.69',
    longitude: '46.68',
  };
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  const headers = { authorization: `Bearer ${world.app.apiKey}` };
  const answer = await fetch(world.at('/api/violations'), { method: 'POST', body: form, headers });
  return idIn(await answer.json());
}

async function firstId(path: string): Promise<string> {
  const page: unknown = await (await world.call('GET', path)).json();
  const items: unknown = typeof page === 'object' && page !== null && 'items' in page ? page.items : null;
  return idIn(Array.isArray(items) ? items[0] : null);
}

function idIn(record: unknown): string {
  const id = typeof record === 'object' && record !== null && 'id' in record ? record.id : null;
  if (typeof id !== 'string') throw new Error('there is no id');
  return id;
}

/** True when something of the page lies beyond the window, so that the whole page would move sideways. */
function isTooWide(page: Page): Promise<unknown> {
  return page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
}

/** Ids that stand more than once: a label, a link or a `form` attribute would mean the wrong one. */
function idsTwice(page: Page): Promise<unknown> {
  return page.evaluate(
    "[...document.querySelectorAll('[id]')].map(({ id }) => id).filter((id, at, all) => all.indexOf(id) !== at)",
  );
}

test.each(LOOKS)(
  'every page is sound in $language on a $viewport, $theme',
  async (look) => {
    const addresses = await everyAddress();
    const page = await browser.open(look);
    await world.signIn(page, 'ops');
    for (const address of addresses) {
      await page.goto(world.at(address));
      await expectAccessible(page);
      expect({ address, isTooWide: await isTooWide(page) }).toEqual({ address, isTooWide: false });
      expect({ address, idsTwice: await idsTwice(page) }).toEqual({ address, idsTwice: [] });
      expect(await page.title()).toMatch(/^\S.* · towhook$/);
      await waitForCount(page.locator('h1'), 1);
    }
  },
  90_000,
);

test.each<[Role, readonly string[], readonly string[]]>([
  ['viewer', [], ['started', 'detained', 'canceled', 'assignment', 'retry', 'waive', 'keys']],
  ['crew', ['started'], ['canceled', 'assignment', 'retry', 'waive', 'keys']],
  ['dispatcher', ['started', 'canceled'], ['keys']],
])('a %s is offered what the role may do, and nothing else', async (role, offered, hidden) => {
  const ref = await world.orderTow();
  const page = await browser.open();
  await world.signIn(page, role, `/tows/${ref}`);
  const forms = await page.locator('main form[method=post]').all();
  const list = (await Promise.all(forms.map((form) => form.getAttribute('action')))).join(' ');
  for (const word of offered) expect(list).toMatch(new RegExp(`/${word}\\b`));
  for (const word of hidden) expect(list).not.toMatch(new RegExp(`/${word}\\b`));
  await page.goto(world.at('/ops'));
  await waitForCount(page.locator('a[href="/ops/keys"]'), 0);
});
