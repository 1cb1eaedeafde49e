import { mkdtempSync } from 'node:fs';
import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messagesIn } from '../../src/console/messages';
import { signedIn, textOf } from '../console/visitor';
import { useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { deliver, newSecret, signed, towRequest } from './calls';

const folder = mkdtempSync(join(tmpdir(), 'towhook-secrets-'));
const file = join(folder, 'current', 'secrets');
const { opsAlarms, webhooks } = messagesIn('en');
const [wrong, right] = [newSecret(), newSecret()];

/** Replaces the file as Kubernetes does: a link to a folder is exchanged. */
async function replaceFile(version: string, text: string): Promise<void> {
  await mkdir(join(folder, version));
  await writeFile(join(folder, version, 'secrets'), text);
  await symlink(version, join(folder, 'next'));
  await rename(join(folder, 'next'), join(folder, 'current'));
}

beforeAll(() => replaceFile('v1', wrong));
const app = useApp({ environment: { WEBHOOK_SECRETS_FILE: file } });
afterAll(() => rm(folder, { recursive: true, force: true }));

const body = JSON.stringify(towRequest());
/** A repeat of the service, signed with the right secret. */
const send = () => deliver(app.receiverUrl, '/tow-request', body, signed(body, { secret: right }));
const opsPage = async () => textOf((await (await signedIn(app)).get('/ops')).html);

it('shows a wrong secret with what to do, accepts the repeats once the file is replaced, and ends the alarm', async () => {
  await send().expect(401);
  const { cause, todo } = webhooks.reasons.signature_wrong;
  const title = opsAlarms.webhooksRefused.title({ path: '/tow-request', count: 1, cause });
  await eventually(async () => expect(await opsPage()).toContain(title));
  expect(await opsPage()).toContain(todo);

  await replaceFile('v2', right);
  await eventually(() => send().expect(200));

  await eventually(async () => expect(await opsPage()).not.toContain(todo));
});

it('keeps the earlier secrets and raises an alarm while the new file is invalid', async () => {
  await eventually(() => send().expect(200));
  await replaceFile('v3', 'not a secret');
  const { todo } = opsAlarms.webhookSecrets;
  await eventually(async () => expect(await opsPage()).toContain(todo));
  expect(await opsPage()).not.toContain('not a secret');
  await send().expect(200);

  await replaceFile('v4', right);
  await eventually(async () => expect(await opsPage()).not.toContain(todo));
});
