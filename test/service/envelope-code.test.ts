import { clientFor, REQUESTS, useFakeService } from './client-under-test';
import { enveloped, json, type FakeService, type FakeReply } from './fake-service';

let fake: FakeService;
useFakeService((opened) => {
  ({ fake } = opened);
});

const detained = (reply: FakeReply) => {
  fake.onCall(() => reply);
  return clientFor(fake.url).call('detained', REQUESTS.detained);
};

describe('a 2xx with an error code in its envelope', () => {
  const refusing = (code: unknown) => json({ code, message: 'Violation not found', data: null });

  it.each([[404], ['404'], [' 404 ']])('a code of %j is a refusal with that status', async (code) => {
    expect((await detained(refusing(code))).exchange).toEqual({
      kind: 'refused',
      httpStatus: 404,
      message: 'Violation not found',
      isJson: true,
      notBeforeMs: null,
    });
  });

  it.each([[600], [1001], ['1001']])('a code of %j, which is no status, is a refusal with 400', async (code) => {
    const reply = json({ code, message: 'Vehicle not found', data: { towing_reference_id: 'TW-1' } });
    expect((await detained(reply)).exchange).toMatchObject({
      kind: 'refused',
      httpStatus: 400,
      message: 'Vehicle not found',
    });
  });

  it('a code of 401 renews the token, and the call is repeated', async () => {
    fake.onCall((_, nth) => (nth === 1 ? refusing(401) : enveloped({ towing_reference_id: 'TW-1' })));
    const { exchange } = await clientFor(fake.url).call('detained', REQUESTS.detained);
    expect([exchange.kind, fake.tokenCalls.length]).toEqual(['accepted', 2]);
  });

  it('a code of 401 to the token call is a broken connection', async () => {
    fake.onTokenCall(() => json({ code: 401, message: 'Unauthorized', data: null }));
    const { exchange } = await clientFor(fake.url).call('detained', REQUESTS.detained);
    expect(exchange).toMatchObject({ kind: 'connection', cause: 'token_http_401' });
  });

  it.each([200, 399, 404.5, 'E404', null])('a code of %j is no refusal', async (code) => {
    const { exchange } = await detained(json({ code, message: 'm', data: { towing_reference_id: 'TW-1' } }));
    expect(exchange.kind).toBe('accepted');
  });

  it('a code is ignored when the configuration says that it means nothing', async () => {
    fake.onCall(() => json({ code: 500, message: 'm', data: { towing_reference_id: 'TW-1' } }));
    const client = clientFor(fake.url, { envelopeCode: 'ignore' });
    expect((await client.call('detained', REQUESTS.detained)).exchange).toEqual({ kind: 'accepted', httpStatus: 200 });
  });
});
