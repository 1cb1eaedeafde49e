import { useRedis } from '../support/redis';
import { openStores, type Stores } from '../support/stores';

const redis = useRedis();
let stores: Stores;
beforeEach(async () => {
  stores = await openStores(redis.url);
});
afterEach(() => stores.close());

// Versions before the rule for references stored deliveries and tows under any non-empty text.
test.each([
  ['300 characters', 'x'.repeat(300)],
  ['line feeds', 'TW-1\nTW-2'],
  ['two dots', '..'],
])('processes and reads a stored delivery whose reference of %s would be refused today', async (_text, ref) => {
  await stores.acceptInvoice(ref);
  expect(await stores.process(`invoice-${ref}`)).toBe('parked');
  await stores.request(ref);
  expect(await stores.process(`invoice-${ref}`)).toBe('attached');
  const { tow } = await stores.read(ref);
  expect(tow).toMatchObject({ towingReferenceId: ref, violationReferenceId: `V-${ref}`, invoiceWebhooks: [{}] });
});
