import { differencePath } from '../page-table';
import type { Viewer } from '../viewer';

/** Explains that an accepting answer differs from the document, and links to the task about all such answers. */
export function Differs({ viewer, differenceId }: { readonly viewer: Viewer; readonly differenceId: string }) {
  const { messages } = viewer;
  return (
    <p>
      {messages.differences.ofReport} <a href={differencePath(differenceId)}>{messages.differences.open}</a>
    </p>
  );
}
