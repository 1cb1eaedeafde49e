import { messagesIn } from '../../src/console/messages';
import { expectAccessible, useBrowser, waitForPath, waitForText } from '../support/browser';
import { providerVariables, useProvider } from '../support/identity-provider';
import { useConsole } from './world';

const browser = useBrowser();
const provider = useProvider();
const world = useConsole(() => Promise.resolve(providerVariables(provider)));

test('the button of the identity provider signs a person in, or names the claim that lacks a role', async () => {
  const page = await browser.open();
  const button = page.getByRole('link', { name: 'Sign in with your organization’s account' });
  await page.goto(world.at('/tasks'));
  provider.claims = { name: 'Layla Haddad', roles: ['staff'] };
  provider.sendBackTo(world.app.consoleUrl);
  browser.announce(page, { path: '/sign-in', status: 403 });
  await button.click();
  await waitForText(page.getByRole('alert'), 'no value of the claim “roles” gives it one');
  expect(new URL(page.url()).searchParams.has('code')).toBe(false);
  await expectAccessible(page);

  provider.claims = { name: 'Layla Haddad', roles: ['towing-desk'] };
  provider.sendBackTo(world.app.consoleUrl);
  await button.click();
  await waitForPath(page, '/tasks');
  await waitForText(page.locator('header'), 'Layla Haddad');
});

test('a person who signs out passes the provider and is back at the sign-in page', async () => {
  const page = await browser.open();
  provider.claims = { name: 'Layla Haddad', roles: ['towing-desk'] };
  provider.sendBackTo(world.app.consoleUrl);
  await page.goto(world.at('/board'));
  await page.getByRole('link', { name: 'Sign in with your organization’s account' }).click();
  await waitForPath(page, '/board');

  provider.sendBackFromSignOutTo(world.app.consoleUrl);
  const asked = page.waitForRequest((request) => request.url().startsWith(`${provider.issuer}/endsession?`));
  await page.getByRole('button', { name: 'Sign out' }).click();
  expect(new URL((await asked).url()).searchParams.get('client_id')).toBe('console-of-the-tests');
  await waitForPath(page, '/sign-in');
  await waitForText(page.locator('main'), 'You are signed out.');
  await page.goto(world.at('/board'));
  await waitForPath(page, '/sign-in');
});

test('a note that is sent after the session has ended waits for a sign-in in another tab, and is sent once', async () => {
  const { common } = messagesIn('en');
  const NOTE = 'Keys with Mr. Haddad, 0501234567';
  const ref = await world.orderTow();
  const page = await browser.open();
  const addresses: string[] = [];
  page.context().on('request', (request) => addresses.push(request.url()));
  provider.claims = { name: 'Layla Haddad', roles: ['towing-desk'] };
  const signIn = page.getByRole('link', { name: 'Sign in with your organization’s account' });
  provider.sendBackTo(world.app.consoleUrl);
  await page.goto(world.at(`/tows/${ref}`));
  await signIn.click();
  await waitForPath(page, `/tows/${ref}`);

  await page.locator('#live-note summary').click();
  await page.locator('#note-text').fill(NOTE);
  await page.context().clearCookies({ name: 'towhook_session' });
  browser.announce(page, { path: /\/notes$/, status: 401 });
  await page.locator('#live-note button[type=submit]').click();
  await waitForText(page.locator('.problem'), common.sessionOverHere);
  await waitForText(page.locator('.problem'), NOTE);
  await expectAccessible(page);

  provider.sendBackTo(world.app.consoleUrl);
  const opened = page.context().waitForEvent('page');
  await signIn.click();
  const other = await opened;
  await waitForPath(other, `/tows/${ref}`);
  const sendAgain = page.getByRole('button', { name: common.sendAgain });
  browser.announce(page, { path: /\/notes$/, status: 403 });
  await sendAgain.click();
  await waitForText(page.locator('main'), common.errors.signedInAnew);
  await waitForText(page.locator('#send-again'), NOTE);
  await sendAgain.click();
  await waitForText(page.locator('.notice'), common.done.saved);

  expect((await world.tow(ref)).dispatch.notes.map(({ text }) => text)).toEqual([NOTE]);
  expect(decodeURIComponent(addresses.join('\n'))).not.toMatch(/Haddad|0501234567/);
});
