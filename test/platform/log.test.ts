import { AxiosError, AxiosHeaders } from 'axios';
import * as fc from 'fast-check';
import { errorFacts } from '../../src/platform/errors';
import { silentLog } from '../../src/platform/log/log';
import { readableLog, removeLogs } from './log-lines';

afterEach(removeLogs);

/** The error of a failed call, as the HTTP client throws it: the request and the answer hang on it. */
function failedCall(): AxiosError {
  const headers = new AxiosHeaders({ Authorization: 'Bearer marker-token', 'X-Client-Secret': 'marker-secret' });
  const config = { headers, url: '/tickets?plateNumber=marker-plate', data: '{"plateNumber":"marker-plate"}' };
  const response = { status: 400, statusText: 'Bad', headers: {}, config, data: { identityNumber: 'marker-identity' } };
  return new AxiosError(
    'Request failed with status code 400',
    'ERR_BAD_REQUEST',
    config,
    { body: 'marker-body' },
    response,
  );
}

describe('a log line', () => {
  test('a log line is one line of JSON with time, level, event and fields', async () => {
    const { log, lines } = await readableLog();
    log.info('report.attempted', { towing_reference_id: 'TW-1', attempt: 2, text: 'two\nlines' });

    const [line] = await lines(1);
    expect(line).toEqual({
      timestamp: line?.['timestamp'],
      level: 'info',
      message: 'report.attempted',
      installation: 'main',
      towing_reference_id: 'TW-1',
      attempt: 2,
      text: 'two\nlines',
    });
    expect(line?.['timestamp']).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  });

  test('a log line below the configured level is not written', async () => {
    const { log, lines } = await readableLog({ level: 'warn' });
    log.debug('a.said');
    log.info('b.said');
    log.warn('c.said');
    log.error('d.said');

    expect((await lines(2)).map(({ level, message }) => [level, message])).toEqual([
      ['warn', 'c.said'],
      ['error', 'd.said'],
    ]);
  });

  test('a log line carries the fields of its child log before those of the parent', async () => {
    const { log, lines } = await readableLog();
    log.with({ role: 'worker', ref: 'a' }).with({ ref: 'b' }).info('x.done', { n: 1 });
    log.info('y.done');

    const [inner, outer] = await lines(2);
    expect(inner).toMatchObject({ role: 'worker', ref: 'b', n: 1 });
    expect(outer).not.toHaveProperty('role');
  });

  test('a log line keeps values that are not sensitive', async () => {
    const fields = { list: [1, 'two', null], deep: { flag: true, none: null }, empty: {}, zero: 0 };
    const { log, lines } = await readableLog({ sensitiveNames: ['plate_number'] });
    log.info('x.done', fields);

    expect((await lines(1))[0]).toMatchObject(fields);
  });
});

describe('a sensitive value', () => {
  test.each(['plate_number', 'PLATE_NUMBER', 'Plate_Number'])(
    'a log line hides a sensitive value under the name %s in any case',
    async (name) => {
      const { log, text } = await readableLog({ sensitiveNames: ['plate_number'] });
      log.info('x.done', { [name]: 'marker' });

      const written = await text(1);
      expect(written).not.toContain('marker');
      expect(written).toContain(`"${name}":"[hidden]"`);
    },
  );

  test('a log line hides a value whose name the contracts mark as sensitive with capitals', async () => {
    const { log, text } = await readableLog({ sensitiveNames: ['plateNumber'] });
    log.info('x.done', { platenumber: 'marker', plateNumber: 'marker' });

    expect(await text(1)).not.toContain('marker');
  });

  test.each([
    'authorization',
    'Authorization',
    'x-client-secret',
    'X-Client-Id',
    'secret',
    'password',
    'api_key',
    'cookie',
    'Set-Cookie',
  ])('a log line hides a value under the name %s although no contract marks it', async (name) => {
    const { log, text } = await readableLog();
    log.info('x.done', { headers: { [name]: 'marker' } });

    expect(await text(1)).not.toContain('marker');
  });

  test('a log line hides a sensitive object completely', async () => {
    const { log, text } = await readableLog({ sensitiveNames: ['token'] });
    log.info('x.done', { token: { value: 'marker', list: ['marker'] } });

    expect(await text(1)).not.toContain('marker');
  });

  test('a log line hides sensitive fields of a child log', async () => {
    const { log, text } = await readableLog({ sensitiveNames: ['plate_number'] });
    log.with({ plate_number: 'marker', tow: { plate_number: 'marker' } }).info('x.done');

    expect(await text(1)).not.toContain('marker');
  });

  test('a log line hides sensitive values at any depth of objects and lists', async () => {
    const { log, text } = await readableLog({ sensitiveNames: ['plate_number', 'token'] });
    const secret = fc.record({ plate_number: fc.constant('marker'), Token: fc.constant(['marker']), n: fc.integer() });
    const nested = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 8 }, secret, fc.array(tie('value')), fc.dictionary(fc.string(), tie('value'))),
    })).value;
    const samples = fc.sample(nested, 200);
    samples.forEach((value) => log.info('x.done', { value }));

    const written = await text(samples.length);
    expect(written).toContain('[hidden]');
    expect(written).not.toContain('marker');
  });
});

describe('an error', () => {
  test('an error of the HTTP client is logged without its request, response and headers', async () => {
    const { log, text } = await readableLog();
    log.error('call.failed', errorFacts(failedCall()));
    log.error('call.failed', { error: failedCall() });
    log.error('call.failed', { deep: { list: [failedCall()] } });

    const written = await text(3);
    expect(written).not.toContain('marker');
    expect(written.match(/ERR_BAD_REQUEST/g)).toHaveLength(3);
  });

  test('an error is logged with message, name, code and stack', () => {
    const error = Object.assign(new TypeError('it broke'), { code: 'EBROKE', config: 'marker' });

    expect(errorFacts(error)).toEqual({
      error: 'it broke',
      error_name: 'TypeError',
      error_code: 'EBROKE',
      stack: error.stack,
    });
  });

  test('an error is logged without its cause and its aggregated errors', async () => {
    const { log, text } = await readableLog();
    const inner = Object.assign(new Error('inner'), { body: 'marker' });
    log.error('x.failed', { one: new Error('outer', { cause: inner }), many: new AggregateError([inner], 'many') });

    expect(await text(1)).not.toContain('marker');
  });

  test('a JSON parse error is logged without the quoted input', () => {
    const parse = (): unknown => JSON.parse('{"plate_number": ABC 1234}');
    let facts = {};
    try {
      parse();
    } catch (error) {
      facts = errorFacts(error);
    }
    expect(facts).toEqual({ error: 'could not be parsed', error_name: 'SyntaxError' });
  });

  test('a thrown value that is not an Error is logged without its properties', () => {
    expect(errorFacts('it broke')).toEqual({ error: 'it broke' });
    expect(errorFacts({ token: 'marker' })).toEqual({ error: 'not an Error' });
    expect(errorFacts(undefined)).toEqual({ error: 'not an Error' });
  });
});

test('the silent log accepts every call and writes nothing', () => {
  expect(() => silentLog.with({ a: 1 }).error('x.failed', { b: 2 })).not.toThrow();
});
