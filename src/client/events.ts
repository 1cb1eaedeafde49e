import { eventView } from '../contracts/operator';
import type { ApiClient } from './api-client';

/** Calls back with the reference of every tow that changes, until the signal ends it or the stream does. */
export async function watchTows(
  client: ApiClient,
  onChange: (towingReference: string) => void,
  signal: AbortSignal,
): Promise<void> {
  // The stream never ends, so no time limit may hold for it.
  const { data } = await client.GET('/api/events', { parseAs: 'stream', signal, fetch: (request) => fetch(request) });
  if (!data) throw new Error('the event stream has no body');
  let unread = '';
  for await (const chunk of data.pipeThrough(new TextDecoderStream())) {
    const lines = `${unread}${chunk}`.split('\n');
    unread = lines.pop() ?? '';
    for (const line of lines) noteChange(line, onChange);
  }
}

function noteChange(line: string, onChange: (towingReference: string) => void): void {
  if (!line.startsWith('data: ')) return;
  const { towing_reference_id: ref } = eventView.parse(JSON.parse(line.slice('data: '.length)));
  if (ref !== undefined) onChange(ref);
}
