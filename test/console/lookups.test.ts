import { messagesIn } from '../../src/console/messages';
import { newKey } from '../operator/client';
import { endAll, startConsoleWith, startWorld, UNKNOWN_ZONE, VEHICLE, ZONE } from '../operator/lookup-service';
import { useRedis } from '../support/redis';
import { controlIn, valueIn } from './violation-world';
import { signedIn, textOf } from './visitor';

const redis = useRedis();
afterEach(endAll);

const zonePath = (zone = ZONE) => `/lookups?zone_id=${zone}`;
const world = (environment?: Readonly<Record<string, string>>) => startWorld(redis, environment);

describe('console: zone capacity', () => {
  test('looks up the free slots of a zone by a URL that can be shared', async () => {
    const { service, app } = await world();
    const visitor = await signedIn(app, await newKey(app, 'viewer', 'viewer of zones'));
    expect(textOf((await visitor.get('/lookups')).html)).not.toContain('Answer');
    expect(await service.callsOf('capacity')).toEqual([]);
    const { status, html } = await visitor.get(zonePath());
    expect(status).toBe(200);
    expect(textOf(html)).toMatch(new RegExp(`Answer Free spaces \\d+ Zone ${ZONE} As of`));
  });

  test('refuses a malformed zone id with 422 at its field without calling the service', async () => {
    const { service, app } = await world();
    const { status, html } = await (await signedIn(app)).get(zonePath('north'));
    expect([status, valueIn(html, 'zone_id')]).toEqual([422, 'north']);
    expect(html).toContain('href="#capacity-zone_id"');
    expect(await service.callsOf('capacity')).toEqual([]);
  });

  test.each(['en', 'ar'])(
    'shows the refusal text of the service for an unknown zone in language %s',
    async (language) => {
      const { app } = await world();
      const visitor = await signedIn(app);
      visitor.cookies.set('towhook_language', language);
      const { status, html } = await visitor.get(zonePath(UNKNOWN_ZONE));
      expect([status, textOf(html).includes('Zone not found')]).toEqual([422, true]);
      expect(controlIn(html, 'zone_id')).toContain('aria-invalid="true"');
    },
  );

  test('answers 503 with Retry-After once the calls of the minute are used up', async () => {
    const { app } = await world({ BUDGET_SITE_PER_MINUTE: '1' });
    const visitor = await signedIn(app);
    expect((await visitor.get(zonePath())).status).toBe(200);
    const response = await visitor.get(zonePath(ZONE.replace('7b', '7c')));
    expect([response.status, Number(response.get('retry-after')) > 40]).toEqual([503, true]);
    expect(textOf(response.html)).toContain('The rate limit of calls to the service is reached');
    expect(Number(/data-countdown="(\d+)"/.exec(response.html)?.[1])).toBeGreaterThan(40_000);
  });

  test.each([
    ['403', 503, 'does not permit'],
    ['500', 503, 'could not be reached, or it failed'],
    ['broken_answer', 502, 'could not be read'],
  ])('answers a zone lookup during the service fault %s with %s and the text "%s"', async (fault, status, text) => {
    const { service, app } = await world();
    await service.faults({ operation: 'capacity', fault });
    const response = await (await signedIn(app)).get(zonePath());
    expect([response.status, textOf(response.html).includes(text)]).toEqual([status, true]);
  });
});

describe('console: ticket lookup', () => {
  test('looks up an active ticket by a form and keeps the plate out of every URL', async () => {
    const { service, app } = await world();
    const visitor = await signedIn(app, await newKey(app, 'crew', 'crew of tickets'));
    const form = (await visitor.get('/lookups')).html;
    expect(form).toContain('<form method="post" action="/lookups/ticket"');
    const { status, html } = await visitor.post('/lookups/ticket', VEHICLE);
    expect([status, textOf(html).includes('The vehicle has an active ticket')]).toEqual([200, true]);
    expect(html.replaceAll(/ value="[^"]*"/g, '')).not.toMatch(/(href|action|src)="[^"]*1234/);
    const other = await visitor.post('/lookups/ticket', { ...VEHICLE, plateNumber: 'QZWX 1235' });
    expect(textOf(other.html)).toContain('The vehicle has no active ticket');
    expect(await service.callsOf('ticket')).toHaveLength(2);
    expect((await visitor.get('/lookups/ticket')).location).toBe('/lookups');
  });

  test('hides the ticket lookup from viewers and refuses it with 403', async () => {
    const { app } = await world();
    const viewer = await signedIn(app, await newKey(app, 'viewer', 'viewer of tickets'));
    const { html } = await viewer.get('/lookups');
    expect(html).not.toContain('/lookups/ticket');
    expect((await viewer.post('/lookups/ticket', VEHICLE)).status).toBe(403);
  });

  test('says that a plate type which is not chosen is required', async () => {
    const { app } = await world();
    const visitor = await signedIn(app);
    await visitor.get('/lookups');
    const { status, html } = await visitor.post('/lookups/ticket', { ...VEHICLE, plateType: '', zoneId: ZONE });
    expect(status).toBe(422);
    expect(textOf(html)).toContain(`${messagesIn('en').violationForm.fields.plateType} : is required`);
  });

  test('names the invalid fields of a ticket lookup and keeps the entered values', async () => {
    const { app } = await world();
    const visitor = await signedIn(app);
    await visitor.get('/lookups');
    const response = await visitor.post('/lookups/ticket', { ...VEHICLE, plateType: 'BICYCLE', zoneId: 'x' });
    expect([response.status, valueIn(response.html, 'plateNumber')]).toEqual([422, VEHICLE.plateNumber]);
    expect(response.html).toContain('href="#ticket-plateType"');
    expect(response.html).toContain('href="#ticket-zoneId"');
  });
});

test('names the missing settings on the lookup page when the service is not configured', async () => {
  const app = await startConsoleWith(redis, { SERVICE_BASE_URL: '' });
  const { html } = await (await signedIn(app)).get('/lookups');
  expect(textOf(html)).toContain('SERVICE_BASE_URL, SERVICE_CLIENT_ID, SERVICE_CLIENT_SECRET');
  expect(html).not.toContain('name="zone_id"');
});

test('asks the service nothing while shadow mode is on, and shows that and no settings', async () => {
  const { service, app } = await world({ SERVICE_MODE: 'shadow' });
  const visitor = await signedIn(app);
  const { lookups, withheld } = messagesIn('en');
  const { status, html } = await visitor.get(zonePath());
  expect([status, textOf(html).includes(lookups.problems.shadow_mode)]).toEqual([503, true]);
  expect(textOf(html)).toContain(withheld.banner);
  expect(textOf(html)).not.toContain(lookups.notConfigured);
  expect(await service.callsOf('capacity')).toEqual([]);
});

test('names the missing settings of a console in live mode while another process runs in shadow mode', async () => {
  await startConsoleWith(redis, { SERVICE_MODE: 'shadow' });
  const app = await startConsoleWith(redis, { SERVICE_BASE_URL: '' });
  const { lookups, withheld } = messagesIn('en');
  const text = textOf((await (await signedIn(app)).get('/lookups')).html);
  expect(text).toContain(withheld.banner);
  expect(text).toContain(`${lookups.notConfigured} ${lookups.notConfiguredHint}`);
});
