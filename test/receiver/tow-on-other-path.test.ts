import request from 'supertest';
import { taskView } from '../../src/contracts/operator';
import { page } from '../../src/contracts/paging';
import { createDeliveryStore } from '../../src/store/webhook/deliveries';
import { KEYS } from '../../src/store/keys';
import { createTaskStore } from '../../src/store/ops/tasks';
import { api } from '../operator/client';
import { useApp, type App } from '../support/app';
import { bodyOf, deliveriesIn, newSecret, signed, towInvoice, towRequest } from './calls';

const TOW = 'TW-20261120-9F4D1A';

function post(app: App, path: string, body: object | string, headers: Readonly<Record<string, string>> = {}) {
  return request(app.receiverUrl).post(path).type('application/json').set(headers).send(body);
}

const othersIn = ({ foundation }: App) => createDeliveryStore(foundation.redis).others(200);
const openTasks = ({ foundation }: App) => createTaskStore(foundation.redis).count();

describe('receiver: a call that names a tow on another path', () => {
  const app = useApp();
  const tasks = async () => page(taskView).parse((await api(app).get('/api/tasks')).body).items;

  it.each([
    ['/', 'a tow request', towRequest()],
    ['/webhooks', 'an invoice', towInvoice()],
    ['/my-tow-request', 'camel case in data', { data: { towingReferenceId: TOW } }],
  ])('is answered and kept on %s as before, and opens a task: %s', async (path, _content, body) => {
    await post(app, path, body).expect(200, { code: 'not_for_towhook' });
    expect(await othersIn(app)).toMatchObject([{ path, raw_body: JSON.stringify(body) }]);
    expect(await deliveriesIn(app.foundation)).toEqual([]);
    expect(await tasks()).toMatchObject([{ id: 'webhook_elsewhere', type: 'webhook_elsewhere', actions: ['resolve'] }]);
  });

  it('opens one task for all paths and tows, which has nothing of the calls', async () => {
    const paths = ['/', '/webhooks', '/my-tow-request'];
    const calls = paths.map((path, at) => post(app, path, towRequest({ towing_reference_id: `${TOW}-${at}` })));
    for (const { status } of await Promise.all(calls)) expect(status).toBe(200);
    await post(app, '/webhooks', towInvoice()).expect(200);
    const [open, ...others] = await tasks();
    expect(others).toEqual([]);
    expect(await othersIn(app)).toHaveLength(4);
    const text = JSON.stringify(open);
    for (const part of [TOW, 'my-tow-request', '/webhooks', 'V-2026', 'patrol-17']) expect(text).not.toContain(part);
    expect(text).toContain('GET /api/other-calls');
  });

  it('opens the task again after it was resolved, and not before the next such call', async () => {
    await post(app, '/', towRequest()).expect(200);
    await api(app).post('/api/tasks/webhook_elsewhere/resolve').send({}).expect(202);
    await post(app, '/tickets', { event: 'ticket.created' }).expect(200);
    expect(await tasks()).toEqual([]);
    await post(app, '/', towRequest()).expect(200, { code: 'not_for_towhook' });
    expect(await tasks()).toMatchObject([{ id: 'webhook_elsewhere' }]);
  });
});

describe('receiver: calls on other paths that open no task', () => {
  const secret = newSecret();
  const app = useApp({ role: 'receiver', environment: { WEBHOOK_SECRETS: secret } });

  it.each([
    ['an event about a ticket', { event: 'ticket.created', ticket: { id: 7 } }],
    ['a reference in metadata', { event: 'ticket.created', metadata: { towing_reference_id: TOW } }],
    ['a reference that no webhook may have', { towing_reference_id: '' }],
  ])('%s is answered 200 and opens no task', async (_content, content) => {
    const body = JSON.stringify(content);
    await post(app, '/tickets', body, signed(body, { secret })).expect(200, { code: 'not_for_towhook' });
    expect(await othersIn(app)).toHaveLength(1);
    expect(await openTasks(app)).toBe(0);
  });

  it('a refused call that names a tow opens no task', async () => {
    const body = JSON.stringify(towRequest());
    await post(app, '/', body).expect(401);
    await post(app, '/', body, signed(body, { secret: newSecret() })).expect(401);
    const list = `[${body}]`;
    await post(app, '/', list, signed(list, { secret })).expect(400);
    expect(await openTasks(app)).toBe(0);
    await post(app, '/', body, signed(body, { secret })).expect(200);
    expect(await openTasks(app)).toBe(1);
  });
});

describe('receiver: a task about other paths that cannot be stored', () => {
  const app = useApp({ role: 'receiver' });

  it('the call is answered 503 with Retry-After, and calls without a tow are answered 200', async () => {
    await app.foundation.redis.set(KEYS.tasks, 'not a hash');
    const response = await post(app, '/', towRequest()).expect(503);
    expect(bodyOf(response).code).toBe('not_stored');
    expect(Number(response.get('retry-after'))).toBeGreaterThan(0);
    await post(app, '/tickets', { event: 'ticket.created' }).expect(200);
  });
});
