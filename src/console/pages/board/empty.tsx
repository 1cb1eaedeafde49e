import { TOW_STATES } from '../../../domain/vocabulary';
import type { TowCounts } from '../../../workflow/list-port';
import { Empty } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { addressOf, isNarrowed, type BoardQuery } from './query';

/** Where the service posts its tow requests (service-api 6), at the address of the receiver. */
const REQUEST_PATH = 'POST /tow-request';

/** No tow is shown: because there is none at all, because none is open, or because none fits. */
export function EmptyBoard({ viewer, query, counts }: { viewer: Viewer; query: BoardQuery; counts: TowCounts }) {
  const { empty, clear } = viewer.words.board;
  const isNew = TOW_STATES.every((state) => counts.byState[state] === 0);
  if (isNew && query.search === null) {
    return (
      <div class="empty">
        <p class="empty-title">{empty.none}</p>
        <p class="muted">
          {empty.noneHint} <code dir="ltr">{REQUEST_PATH}</code>
        </p>
      </div>
    );
  }
  if (query.search !== null) {
    return (
      <>
        <Empty title={empty.search(query.search)} hint={empty.searchHint} />
        {query.states !== 'all' && (
          <p class="centered">
            <a class="button" href={addressOf({ ...query, states: 'all' })}>
              {empty.everywhere}
            </a>
          </p>
        )}
      </>
    );
  }
  if (!isNarrowed(query)) return <Empty title={empty.open} hint={empty.openHint} />;
  return (
    <>
      <Empty title={empty.filtered} hint={empty.filteredHint} />
      <p class="centered">
        <a class="button" href="/board">
          {clear}
        </a>
      </p>
    </>
  );
}
