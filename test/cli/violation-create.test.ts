import { startFakeService } from '../service/fake-service';
import { startApp } from '../support/app';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { run } from './command';
import { useStopLater } from './installation';

const redis = useRedis();
const stopLater = useStopLater();

const FORM =
  '--plate-type PRIVATE --violation-type WRONG_PARKING --zone-id 3f2b8c1e-5d7a-4e0f-9c66-1a2b3c4d5e6f --latitude 24.69 --longitude 46.68 --plate-number ABJ --location Olaya';

test('towhook violation create has the metadata sent to the service exactly as entered', async () => {
  const service = stopLater(await startFakeService());
  const app = stopLater(await startApp({ redisUrl: redis.url, environment: { SERVICE_BASE_URL: service.url } }));
  const entered = '{"id": "patrol-2", "serial": 12345678901234567890, "fee": 1.10}';

  const words = ['violation', 'create', ...FORM.split(' '), '--metadata', entered];
  expect(await run(words, { url: app.consoleUrl, apiKey: app.apiKey })).toMatchObject({ exitCode: 0, problems: '' });

  const form = await eventually(() => {
    const [call] = service.calls;
    if (call === undefined) throw new Error('the violation was not sent yet');
    return call.body.toString();
  });
  expect(form).toContain(`name="metadata"\r\n\r\n${entered}\r\n`);
});
