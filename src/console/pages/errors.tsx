import type { Role } from '../../domain/vocabulary';
import { Empty } from '../parts/text';
import type { Viewer } from '../viewer';

export function Missing({ viewer }: { viewer: Viewer }) {
  const { common } = viewer.words;
  return (
    <>
      <h1>404</h1>
      <Empty title={common.notFound} hint={common.notFoundHint} />
      <p>
        <a href="/board">{common.board}</a>
      </p>
    </>
  );
}

export function Forbidden({ viewer, role }: { viewer: Viewer; role: Role }) {
  return (
    <>
      <h1>403</h1>
      <Empty title={viewer.words.common.notAllowed(viewer.words.terms.roles[role])} />
    </>
  );
}

/** The form was made for another session, or by another site. */
export function Outdated({ viewer }: { viewer: Viewer }) {
  return (
    <>
      <h1>403</h1>
      <Empty title={viewer.words.common.formTooOld} />
    </>
  );
}

/** The store cannot be reached: nothing is certain. */
export function Unavailable({ viewer }: { viewer: Viewer }) {
  const { common } = viewer.words;
  return (
    <>
      <h1>503</h1>
      <Empty title={common.unavailable} hint={common.unavailableHint} />
    </>
  );
}
