import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SMTPServerOptions } from 'smtp-server';
import { startMailServer, type MailServer, type ReceivedMail } from './smtp';
import { PROJECT } from './project';

const FOLDER = join(PROJECT, 'test/support/certificates');
export const CA_FILE = join(FOLDER, 'ca.pem');
const CERTIFICATE = {
  key: readFileSync(join(FOLDER, 'server-key.pem')),
  cert: readFileSync(join(FOLDER, 'server.pem')),
};

const servers: MailServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())));

/** A mail server on a free port with the certificate of the tests, closed after the test. */
export async function mailServer(options: SMTPServerOptions = {}) {
  const mails: ReceivedMail[] = [];
  const server = await startMailServer((mail) => mails.push(mail), { ...CERTIFICATE, ...options });
  servers.push(server);
  return { mails, port: server.port };
}
