import { SMTPServer, type SMTPServerOptions } from 'smtp-server';

export interface ReceivedMail {
  readonly to: readonly string[];
  readonly user: unknown;
  readonly isSecure: boolean;
  /** Header and body as they were sent. */
  readonly text: string;
}

export interface MailServer {
  readonly port: number;
  stop(): Promise<void>;
}

/**
 * Starts a mail server that offers STARTTLS, knows the user `alarms` with the password `p@ss`, and accepts every address
 * but those of `refused.example`. Without `port`, on a free one of this machine only.
 */
export async function startMailServer(
  onMail: (mail: ReceivedMail) => void,
  { port = 0, host = '127.0.0.1', ...options }: SMTPServerOptions & { port?: number; host?: string },
): Promise<MailServer> {
  const server = new SMTPServer({
    authOptional: true,
    onAuth({ username, password }, _session, callback) {
      if (username === 'alarms' && password === 'p@ss') callback(null, { user: username });
      else callback(new Error('Invalid username or password for one@towing.example'));
    },
    onRcptTo({ address }, _session, callback) {
      callback(address.endsWith('@refused.example') ? new Error('refused') : null);
    },
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const to = session.envelope.rcptTo.map(({ address }) => address);
        onMail({ to, user: session.user, isSecure: session.secure, text: Buffer.concat(chunks).toString() });
        callback();
      });
    },
    ...options,
  });
  server.on('error', () => {});
  await new Promise<void>((resolve) => {
    server.listen(port, host, resolve);
  });
  const address = server.server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    stop: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
