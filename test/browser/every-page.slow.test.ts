import type { Role } from '../../src/domain/vocabulary';
import { useBrowser, waitForCount } from '../support/browser';
import { everyAddress, expectSoundPages } from './every-page';
import { useConsole } from './world';

/** The other looks are tested in every-page.nightly.test.ts. */

jest.setTimeout(240_000);
const browser = useBrowser();
const world = useConsole();

test('every page is accessible, fits the window and has unique ids in Arabic on a phone, light', async () => {
  const addresses = await everyAddress(world);
  const page = await browser.open({ language: 'ar', viewport: 'phone', theme: 'light' });
  await world.signIn(page, 'ops');
  await expectSoundPages(page, world, addresses);
});

test.each<[Role, readonly string[], readonly string[]]>([
  ['viewer', [], ['started', 'detained', 'canceled', 'assignment', 'retry', 'waive', 'keys']],
  ['crew', ['started'], ['canceled', 'assignment', 'retry', 'waive', 'keys']],
  ['dispatcher', ['started', 'canceled'], ['keys']],
])('a %s is offered only the actions that the role permits', async (role, offered, hidden) => {
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
