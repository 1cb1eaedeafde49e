import { createMemoryTokenCache } from '../../src/service';
import { answerBodyOf } from '../../src/service/read-answer';
import { readToken } from '../../src/service/read-answer';
import { clientFor, closeClients, movableClock, readableLog, REQUESTS } from './client-under-test';
import { json, jwt, startFakeService, type FakeService } from './fake-service';

const read = (answer: unknown) => readToken(answerBodyOf(JSON.stringify(answer)));

describe('the token in an answer', () => {
  it('an answer as documented has no differences', () => {
    const answer = { code: 200, message: 'Success', data: { token: 'abc' }, more: 1 };
    expect(read(answer)).toEqual({ kept: true, data: { token: 'abc' }, differences: [] });
  });

  it.each<[string, unknown, string[]]>([
    ['at access_token in data', { code: 200, message: 'm', data: { access_token: 'abc' } }, ['data.access_token: has']],
    ['in place of data', { code: 200, message: 'm', data: 'abc' }, ['data: must be an object', 'data: has']],
    ['without envelope', { token: 'abc' }, ['code:', 'message:', 'data:', 'token: has']],
    [
      'as OAuth has it',
      { access_token: 'abc', token_type: 'Bearer' },
      ['code:', 'message:', 'data:', 'access_token: has'],
    ],
    ['after its scheme', { code: 200, message: 'm', data: { token: 'Bearer abc' } }, ['data.token: has more']],
    [
      'after a scheme in small letters',
      { code: 200, message: 'm', data: { token: ' bearer  abc\n' } },
      ['data.token:'],
    ],
    ['with a code as text', { code: '200', message: 'm', data: { token: 'abc' } }, ['code: must be of type number']],
    ['with a message that is null', { code: 200, message: null, data: { token: 'abc' } }, ['message: must be']],
    ['behind a token that is empty', { code: 200, message: 'm', data: { token: '' }, token: 'abc' }, ['token: has']],
  ])('the token is read %s, and the differences are named', (_, answer, differences) => {
    const reading = read(answer);
    expect(reading).toMatchObject({ kept: true, data: { token: 'abc' } });
    const found = 'differences' in reading ? reading.differences : [];
    expect(found).toHaveLength(differences.length);
    differences.forEach((beginning, at) => expect(found[at]).toMatch(new RegExp(`^${beginning}`)));
    expect(found.join()).not.toContain('abc');
  });

  it.each<[string, unknown]>([
    ['is empty', {}],
    ['has an object as token', { code: 200, message: 'm', data: { token: {} } }],
    ['has a token of two lines', { code: 200, message: 'm', data: { token: 'a\nb' } }],
    ['has a token of more than 8 KiB', { code: 200, message: 'm', data: { token: 'a'.repeat(8193) } }],
    ['has the scheme alone', { code: 200, message: 'm', data: { token: 'Bearer ' } }],
  ])('an answer that %s has no token', (_, answer) => {
    expect(read(answer)).toEqual({
      kept: false,
      issues: ['data.token: is required (string that a header can have)'],
    });
  });

  it.each([
    [{ data: { token: 'abc', expires_in: 3600 } }, 3600],
    [{ access_token: 'abc', expires_in: '900' }, 900],
    [{ data: { token: 'abc' }, expiresIn: 60 }, 60],
    [{ token: 'abc', expires_in: 'soon' }, undefined],
    [{ token: 'abc', expires_in: -1 }, undefined],
  ])('the lifetime in %j is %s seconds', (answer, seconds) => {
    const reading = read(answer);
    expect('data' in reading && reading.data?.['expires_in']).toBe(seconds);
  });
});

describe('a client whose service answers a token otherwise', () => {
  let fake: FakeService;
  beforeEach(async () => {
    fake = await startFakeService();
  });
  afterEach(async () => {
    closeClients();
    await fake.stop();
  });

  it('the token is sent with one scheme, and each kind of difference is logged once without values', async () => {
    const log = readableLog();
    fake.onTokenCall((_, nth) => json(nth === 3 ? { token: `t-${nth}` } : { access_token: `Bearer t-${nth}` }));
    const client = clientFor(fake.url, { log });
    for (let nth = 0; nth < 3; nth += 1) await client.call('token', null);
    const { exchange } = await client.call('detained', REQUESTS.detained);
    expect(exchange.kind).toBe('accepted');
    expect(fake.calls[0]?.headers['Authorization']).toBe('Bearer t-3');
    const warnings = log.lines.filter(({ event }) => event === 'service.answer_differs');
    expect(warnings.map(({ fields }) => fields['operation'])).toEqual(['token', 'token']);
    expect(JSON.stringify(log.lines)).not.toContain('t-3');
  });

  it.each([
    ['its exp, also when there is a lifetime', (nowMs: number) => jwt(nowMs + 600_000), 600_000],
    ['its lifetime when it has no exp', () => 'opaque', 3_600_000],
    ['its lifetime when its exp has passed', (nowMs: number) => jwt(nowMs - 600_000), 3_600_000],
  ])('a token ends at %s', async (_, tokenAt, lastsMs) => {
    const tokens = createMemoryTokenCache(movableClock());
    const clock = { ...movableClock(), nowMs: () => 1_700_000_000_000 };
    fake.onTokenCall(() => json({ access_token: tokenAt(clock.nowMs()), expires_in: 3600 }));
    await clientFor(fake.url, { clock, tokens }).call('detained', REQUESTS.detained);
    expect((await tokens.read())?.expiresAtMs).toBe(clock.nowMs() + lastsMs);
  });
});
