import { messagesIn } from '../../src/console/messages';
import { endAll, startConsoleWith } from '../operator/lookup-service';
import { towAfter } from '../operator/world';
import { useRedis } from '../support/redis';
import { signedIn, textOf } from './visitor';

const redis = useRedis();
afterEach(endAll);
const { withheld: messages, why, board, terms, ops, towReports } = messagesIn('en');

test('while shadow mode is on, pages say that nothing is sent and not that something waits for a decision', async () => {
  const app = await startConsoleWith(redis, { SERVICE_MODE: 'shadow' });
  const ref = await towAfter(app, 'started');
  const visitor = await signedIn(app);
  const report = terms.operations.started;
  expect(textOf((await visitor.get(`/tows/${ref}`)).html)).toContain(why.report.stopped({ report }));
  expect(textOf((await visitor.get(`/tows/${ref}`)).html)).not.toContain(towReports.nextTry);
  const part = await visitor.get(`/tows/${ref}`, { 'hx-request': 'true' });
  expect(textOf(part.html)).toContain(why.report.stopped({ report }));
  expect(textOf((await visitor.get('/board')).html)).toContain(board.waits.stopped);
  expect(textOf((await visitor.get('/ops')).html)).toContain(ops.sending.notSent);
  const page = textOf((await visitor.get('/ops/shadow')).html);
  expect(page).toContain(messages.recorded({ count: 1 }));
  expect(page).not.toContain(messages.held({ count: 1 }));
});
