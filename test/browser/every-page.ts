import type { Page } from 'playwright-core';
import type { PageName } from '../../src/console/page-table';
import { expectAccessible, waitForCount } from '../support/browser';
import { WHEREABOUTS, type ConsoleWorld } from './world';

/** Checks that every page must pass for every visitor. The purpose of each page is tested in the tests of that page. */

/** No line can break within it but anywhere. */
const LINK = `https://maps.example/${'0123456789'.repeat(12)}`;

/**
 * Creates a tow in the yard with an invoice, a tow with a refused report, and a violation with its tow. Returns the
 * addresses of all pages.
 */
export async function everyAddress(world: ConsoleWorld): Promise<readonly string[]> {
  const [yard, refused] = await world.orderTows(2);
  if (yard === undefined || refused === undefined) throw new Error('no tows were ordered');
  await world.record(yard, 'started');
  await world.record(yard, 'detained');
  await world.record(yard, 'invoice', { vehicle_type: 'HEAVY' });
  await world.record(yard, 'holds', { reason: `Police asked to keep the vehicle: ${LINK}` });
  await world.towWhen(yard, ({ invoices }) => invoices.length > 1);
  await world.refuseOnce('started');
  await world.record(refused, 'started', { ...WHEREABOUTS, plate_number: 'ا ب ح ٧٧' });
  await world.towWhen(refused, ({ tasks }) => tasks.length > 0);
  await world.call('POST', `/tows/${refused}/assignment`, { crew: LINK.slice(0, 100), truck: LINK.slice(0, 100) });
  await world.call('POST', '/keys', { name: LINK.slice(0, 100), role: 'viewer' });
  await world.call('POST', '/queues/runs/resume', { reason: LINK });
  const violation = await reportViolation(world);
  // Its form shows the plate and place of the violation.
  const supplied = await world.orderTow({ metadata: { id: violation } });
  const delivery = await firstId(world, '/deliveries');
  await world.setFaults([{ operation: 'detained', fault: 'broken_answer', times: 1 }]);
  const odd = await world.orderTow();
  await world.record(odd, 'started');
  await world.record(odd, 'detained');
  await world.towWhen(odd, ({ reports }) =>
    reports.some(({ kind, state }) => kind === 'detained' && state === 'accepted'),
  );
  const difference = await firstId(world, '/differences');
  const addresses: Readonly<Record<PageName, readonly string[]>> = {
    board: ['/board', '/board?state=all&q=TW-', `/board?q=${LINK}`],
    tow: [`/tows/${yard}`, `/tows/${refused}`, `/tows/${supplied}`],
    tasks: ['/tasks'],
    runs: ['/runs'],
    violations: ['/violations', `/violations?q=${LINK}`],
    reportViolation: ['/violations/new'],
    violation: [`/violations/${violation}`],
    lookups: ['/lookups'],
    ops: ['/ops'],
    deliveries: ['/ops/deliveries'],
    delivery: [`/ops/deliveries/${delivery}`],
    service: ['/ops/service'],
    difference: [`/ops/service/${encodeURIComponent(difference)}`],
    notifications: ['/ops/notifications'],
    subscriptions: ['/ops/subscriptions'],
    keys: ['/ops/keys'],
    withheld: ['/ops/shadow'],
    audit: ['/ops/audit'],
    preferences: ['/shortcuts'],
    // Redirects while signed in; sign-in.test.ts tests it.
    signIn: [],
  };
  return Object.values(addresses).flat();
}

async function reportViolation(world: ConsoleWorld): Promise<string> {
  const form = new FormData();
  const fields = {
    plateNumber: 'ABJ 1234',
    plateType: 'PRIVATE',
    violationType: 'WRONG_PARKING',
    location: 'Olaya Street',
    imagesDescription: LINK,
    zoneId: 'a3f0c1d2-5b6e-4c7d-8e9f-0a1b2c3d4e5f',
    latitude: '24.69',
    longitude: '46.68',
  };
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  const headers = { authorization: `Bearer ${world.app.apiKey}` };
  const answer = await fetch(world.at('/api/violations'), { method: 'POST', body: form, headers });
  return idIn(await answer.json());
}

async function firstId(world: ConsoleWorld, path: string): Promise<string> {
  const page: unknown = await (await world.call('GET', path)).json();
  const items: unknown = typeof page === 'object' && page !== null && 'items' in page ? page.items : null;
  return idIn(Array.isArray(items) ? items[0] : null);
}

function idIn(record: unknown): string {
  const id = typeof record === 'object' && record !== null && 'id' in record ? record.id : null;
  if (typeof id !== 'string') throw new Error('there is no id');
  return id;
}

/** True when the content is wider than the window, so that the page scrolls sideways. */
function isTooWide(page: Page): Promise<unknown> {
  return page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
}

/** Ids that occur more than once: a label, a link or a `form` attribute could refer to the wrong element. */
function duplicateIds(page: Page): Promise<unknown> {
  return page.evaluate(
    "[...document.querySelectorAll('[id]')].map(({ id }) => id).filter((id, at, all) => all.indexOf(id) !== at)",
  );
}

/** Opens each address and checks: accessible, not wider than the window, unique ids, a title, one main heading. */
export async function expectSoundPages(
  page: Page,
  world: Pick<ConsoleWorld, 'at'>,
  addresses: readonly string[],
): Promise<void> {
  for (const address of addresses) {
    await page.goto(world.at(address));
    await expectAccessible(page);
    expect({ address, isTooWide: await isTooWide(page) }).toEqual({ address, isTooWide: false });
    expect({ address, duplicateIds: await duplicateIds(page) }).toEqual({ address, duplicateIds: [] });
    expect(await page.title()).toMatch(/^\S.* · towhook$/);
    await waitForCount(page.locator('h1'), 1);
  }
}
