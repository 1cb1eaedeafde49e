import { z } from 'zod';

/** Messages between the bench and the programs it starts, over the channel of `child_process.fork`. */
export const request = z.object({ id: z.int(), command: z.unknown() });
export const reply = z.object({ id: z.int(), result: z.unknown().optional(), error: z.string().optional() });

/** Answers every command with what `handle` resolves to. Ends this process when the bench is gone. */
export function serveCommands(handle: (command: unknown) => Promise<unknown>): void {
  process.on('message', (message) => {
    const { id, command } = request.parse(message);
    handle(command).then(
      (result) => process.send?.({ id, result }),
      (error: unknown) => process.send?.({ id, error: error instanceof Error ? error.message : String(error) }),
    );
  });
  process.on('disconnect', () => process.exit());
}
