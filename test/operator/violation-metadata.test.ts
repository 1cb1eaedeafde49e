import { WEBHOOK_READERS } from '../../src/contracts/webhook/read-webhook';
import { JSON_LEVELS_MAX, METADATA_LEVELS_MAX } from '../../src/contracts/common';
import { violationDocument } from '../../src/domain/violation/violation';
import { readCall } from '../../src/receiver/read-call';
import { useApp } from '../support/app';
import { errorOf } from './client';
import { clearDisk, report, REQUIRED, violationIn } from './forms';

const app = useApp({ role: 'console' });
beforeEach(() => clearDisk(app));

/** JSON members that parsing and serializing would change: large numbers, duplicate keys, escapes, spacing. */
const ODD = String.raw`"big": 12345678901234567890, "price":1.50, "__proto__":{"a":1}, "e":1E2,"a":1,"a":2, "n":"\u0041"`;

async function storedText(id: string): Promise<string | undefined> {
  const document: unknown = JSON.parse(
    String(await app.redis.ask('HGET', `{towhook-main}:violation:${id}`, 'document')),
  );
  return violationDocument.parse(document).metadataText;
}

describe('operator API: metadata of a violation', () => {
  it('stores metadata with its own id byte for byte', async () => {
    const metadata = `{ "id" : "case-9",\t${ODD} }`;
    const { id, metadata_id, form } = violationIn(await report(app, { ...REQUIRED, metadata: `  ${metadata} ` }));
    expect([await storedText(id), metadata_id]).toEqual([metadata, 'case-9']);
    expect(form.metadata).toMatchObject({ price: 1.5, a: 2 });
  });

  it('stores metadata without an id byte for byte after an added id', async () => {
    const { id, metadata_id } = violationIn(await report(app, { ...REQUIRED, metadata: `{${ODD},"deep":{"id":1}}` }));
    expect([await storedText(id), metadata_id]).toEqual([`{"id":"${id}",${ODD},"deep":{"id":1}}`, id]);
  });

  it.each(['', '{}', '{ }'])('stores the violation id alone as metadata for the input %j', async (metadata) => {
    const { id } = violationIn(await report(app, { ...REQUIRED, metadata }));
    expect(JSON.parse((await storedText(id)) ?? '')).toEqual({ id });
  });
});

describe('operator API: nesting of violation metadata', () => {
  const nested = (levels: number) => `{"id":"deep","a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
  const tow = (metadata: string) =>
    `{"violation_reference_id":"V-1","towing_reference_id":"TW-1","metadata":${metadata}}`;
  const echoed = (metadata: string) =>
    readCall('tow_request', Buffer.from(tow(metadata)), { verified: true, signatureId: null, signedAtMs: null });

  it('accepts metadata at the nesting limit in a violation and in the tow request that echoes it', async () => {
    const metadata = nested(METADATA_LEVELS_MAX);
    const { id } = violationIn(await report(app, { ...REQUIRED, metadata }));
    expect(await storedText(id)).toBe(metadata);
    expect(echoed(metadata).kind).toBe('delivery');
  });

  it.each([METADATA_LEVELS_MAX + 1, 2000, 3500, 8000])(
    'refuses metadata nested %i levels deep with 422 in a violation and as broken in a tow request',
    async (levels) => {
      const response = await report(app, { ...REQUIRED, metadata: nested(levels) });
      expect([response.status, errorOf(response).details]).toEqual([
        422,
        [{ field: 'metadata', rule: `must not be nested deeper than ${JSON_LEVELS_MAX - 1} levels` }],
      ]);
      expect(echoed(nested(levels)).kind).toBe('broken');
    },
  );

  it('refuses a number out of range in metadata with 422, and a tow request that echoes it breaks the contract', async () => {
    const metadata = '{"a":{"b":[1,1e999]}}';
    const response = await report(app, { ...REQUIRED, metadata });
    expect([response.status, errorOf(response).details]).toEqual([
      422,
      [{ field: 'metadata.a.b.1', rule: 'must be a finite number' }],
    ]);
    expect(WEBHOOK_READERS.tow_request(tow(metadata))).toMatchObject({
      kind: 'differs',
      rules: [{ field: 'metadata.a.b.1', rule: 'must be a finite number' }],
    });
  });
});
