import { z } from 'zod';
import { refusedCall } from '../../src/contracts/webhook/webhooks';
import { sha256Hex } from '../../src/platform/hash';
import { api } from '../operator/client';
import { useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { deliver, newSecret, signed, towRequest } from './calls';

const secret = newSecret();
const app = useApp({ environment: { WEBHOOK_SECRETS: secret, WEBHOOK_BODY_LIMIT_BYTES: '2000' } });

/** The only refused call, once it is stored. */
const onlyCall = () =>
  eventually(async () => {
    const { text } = await api(app).get('/api/refused-calls').expect(200);
    const [call, ...others] = z.object({ items: z.array(refusedCall) }).parse(JSON.parse(text)).items;
    if (call === undefined || others.length > 0) throw new Error(`kept: ${text}`);
    return call;
  });

describe('receiver: refused calls are kept for a day', () => {
  it('keeps the names of headers and fields, size and hash of a call with a wrong signature, and no value', async () => {
    const personal = { plate: 'ABJ 1234', owner: { name: 'Fahd', 'ABJ 1234': 7 } };
    const body = JSON.stringify(towRequest({ metadata: personal }));
    const headers: Record<string, string> = { ...signed(body, { secret: newSecret() }), 'x-api-key': 'key-5521' };
    await deliver(app.receiverUrl, '/tow-request', body, headers).expect(401);

    const call = await onlyCall();
    expect(call).toMatchObject({
      path: '/tow-request',
      source: '127.0.0.1',
      reason: 'signature_wrong',
      http_status: 401,
      size: Buffer.byteLength(body),
      body_hash: sha256Hex(body),
      body_kind: 'json',
    });
    expect(call.header_names).toEqual(expect.arrayContaining(['webhook-signature', 'x-api-key']));
    expect(call.fields).toEqual(
      expect.arrayContaining([
        { field: 'metadata.owner.name', type: 'string' },
        { field: 'metadata.owner.*', type: 'integer' },
      ]),
    );
    for (const value of ['ABJ', 'Fahd', '5521', headers['webhook-signature'] ?? '']) {
      expect(JSON.stringify(call)).not.toContain(value);
    }
  });

  it('keeps a call that is too large without having read it', async () => {
    const body = JSON.stringify(towRequest({ filler: 'x'.repeat(3000) }));
    await deliver(app.receiverUrl, '/tow/invoice', body).expect(413);
    expect(await onlyCall()).toMatchObject({
      reason: 'too_large',
      body_kind: 'not_read',
      body_hash: null,
      size: body.length,
    });
  });

  it('names what was sent instead of JSON', async () => {
    const body = '<html><body>Bad gateway</body></html>';
    await deliver(app.receiverUrl, '/tow-request', body, signed(body, { secret })).expect(400);
    expect(await onlyCall()).toMatchObject({ reason: 'not_json', body_kind: 'markup', fields: [] });
  });

  it('masks the parts of a path that may be values', async () => {
    await fetch(`${app.receiverUrl}/hooks/v2/ABJ1234/tow?token=5521`, { method: 'POST', body: 'x' });
    expect(await onlyCall()).toMatchObject({ reason: 'address', path: '/hooks/v2/*/tow' });
  });

  it('keeps no GET, which browsers and scanners send', async () => {
    await fetch(`${app.receiverUrl}/favicon.ico`);
    await deliver(app.receiverUrl, '/tow-request', '{}').expect(401);
    expect(await onlyCall()).toMatchObject({ reason: 'signature_missing' });
  });
});
