import { appendFileSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { startProvider } from '../../support/identity-provider';
import { startMailServer } from '../../support/smtp';

/**
 * The servers of other companies, outside of the containers: a mail server on port 587, with STARTTLS and the user of
 * docs/operations/go-live.md, a server for webhooks on port 8088, and an identity provider on port 8447 at which one
 * person is signed in. The first word names a folder with `mail.pem`, `mail-key.pem`, `login.pem` and `login-key.pem`;
 * mails are appended to `mails` there, and webhooks to `webhooks`, each as a line of JSON.
 */

const folder = process.argv[2] ?? '.';
const keep = (name: string, received: unknown) => appendFileSync(join(folder, name), `${JSON.stringify(received)}\n`);

createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    keep('webhooks', { headers: request.headers, body: Buffer.concat(chunks).toString() });
    response.writeHead(204).end();
  });
}).listen(8088);

void startMailServer((mail) => keep('mails', mail), {
  host: '0.0.0.0',
  port: 587,
  cert: readFileSync(join(folder, 'mail.pem')),
  key: readFileSync(join(folder, 'mail-key.pem')),
  authOptional: false,
  onAuth({ username, password }, _session, callback) {
    if (username === 'towhook' && password === 'password') callback(null, { user: username });
    else callback(new Error('Invalid username or password'));
  },
});

async function startLogin(): Promise<void> {
  const provider = await startProvider({
    key: join(folder, 'login-key.pem'),
    certificate: join(folder, 'login.pem'),
    public: { port: 8447, name: 'login.example' },
  });
  provider.claims = { sub: 'u-4711', name: 'Layla Haddad', roles: ['towing-desk'] };
}
void startLogin();
