import { openCore } from './core';
import { question } from './operations';

/** A process of the product: does what its parent asks, as many things at once as it is asked for. */
async function main(redisUrl: string): Promise<void> {
  const core = await openCore(redisUrl);
  process.on('message', (message) => {
    const { id, operation } = question.parse(message);
    core.run(operation).then(
      (answer) => process.send?.({ id, answer, error: null }),
      (error: unknown) => process.send?.({ id, answer: null, error: String(error) }),
    );
  });
  process.on('disconnect', () => core.close());
  process.send?.('ready');
}

void main(process.argv[2] ?? '');
