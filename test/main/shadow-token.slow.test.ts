import { messagesIn } from '../../src/console/messages';
import { signedIn, textOf } from '../console/visitor';
import { enveloped, json, startFakeService } from '../service/fake-service';
import { eventually } from '../support/eventually';
import { recordedLog } from '../support/recorded-log';
import { useRedis } from '../support/redis';
import { useApps } from './apps';

const redis = useRedis();
const { start } = useApps(redis);

test('wrong credentials in shadow mode raise the alarm about the connection and name cause and variable, until a token is given', async () => {
  const service = await startFakeService();
  service.onTokenCall(() => json({ code: 401, message: 'Invalid credentials' }, 401));
  const { log, lines } = recordedLog();
  try {
    const environment = { SERVICE_MODE: 'shadow', SERVICE_BASE_URL: service.url, BUDGET_AUTH_PER_MINUTE: '0' };
    const app = await start('all', { environment, log });
    const missing = () => lines.find(({ event }) => event === 'token_proof.missing');
    await eventually(() =>
      expect(missing()).toMatchObject({
        cause: 'token_http_401',
        variable: 'SERVICE_CLIENT_ID, SERVICE_CLIENT_SECRET',
      }),
    );
    const visitor = await signedIn(app);
    const opsPage = async () => textOf((await visitor.get('/ops')).html);
    const { todo } = messagesIn('en').opsAlarms.connection.refused;
    await eventually(async () => expect(await opsPage()).toContain(todo));

    const opened = lines.filter(({ event, circuit }) => event === 'circuit.opened' && circuit === 'connection');
    expect(opened).toMatchObject([{ level: 'warn', cause: 'token_http_401' }]);

    service.onTokenCall(() => enveloped({ token: 'a-token' }));
    await eventually(async () => expect(await opsPage()).not.toContain(todo));
    expect(service.calls).toEqual([]);
  } finally {
    await service.stop();
  }
});
