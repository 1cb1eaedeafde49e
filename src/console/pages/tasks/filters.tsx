import type { Child } from 'hono/jsx';
import { TASK_TYPES, type TaskType } from '../../../domain/tasks';
import { PAUSABLE_OPERATIONS } from '../../../domain/vocabulary';
import type { TaskCounts } from '../../../workflow/list-port';
import { Ref } from '../../parts/text';
import { oneOf, type Viewer } from '../../viewer';
import { addressOf, isNarrowed, withSaid, EVERYTHING, type TaskQuery } from './query';

interface FilterProps {
  readonly viewer: Viewer;
  readonly query: TaskQuery;
  readonly counts: TaskCounts;
}

/** What the list may be narrowed to, each a link to the list that has it or has it no more. Counts are of all tasks. */
export function Filters({ viewer, query, counts }: FilterProps) {
  const words = viewer.words.tasks;
  const { taskTypes } = viewer.words;
  const types = typesIn(counts, query);
  const kinds = kindsIn(counts, query);
  return (
    <nav class="tasks-filters" aria-label={words.filters}>
      <ul class="chips" aria-label={words.byType}>
        <Chip viewer={viewer} to={withSaid(query, { type: null })} isOn={query.type === null} count={counts.total}>
          {words.all}
        </Chip>
        {types.map(({ type, count }) => (
          <Chip
            viewer={viewer}
            to={withSaid(query, query.type === type ? { type: null } : { type, kind: null })}
            isOn={query.type === type}
            count={count}
          >
            {taskTypes.types[type].chip}
          </Chip>
        ))}
      </ul>
      {kinds.length > 0 && (
        <ul class="chips" aria-label={words.byKind}>
          {kinds.map(({ kind, count }) => (
            <Chip
              viewer={viewer}
              to={withSaid(query, { kind: query.kind === kind ? null : kind })}
              isOn={query.kind === kind}
              count={count}
            >
              {taskTypes.kinds[kind]}
            </Chip>
          ))}
        </ul>
      )}
      {isNarrowed(query) && (
        <ul class="chips">
          {query.tow !== null && (
            <Chip viewer={viewer} to={withSaid(query, { tow: null })} isOn>
              {words.tow} <Ref>{query.tow}</Ref>
            </Chip>
          )}
          <li>
            <a class="quiet" href={addressOf({ ...EVERYTHING, order: query.order })}>
              {words.clear}
            </a>
          </li>
        </ul>
      )}
    </nav>
  );
}

/** The types that are there, and the chosen one in any case. */
function typesIn({ types }: TaskCounts, { type: chosen }: TaskQuery): { type: TaskType; count: number }[] {
  return TASK_TYPES.flatMap((type) => {
    const count = types.find((each) => oneOf([type], each.type) !== null)?.count ?? 0;
    return count > 0 || type === chosen ? [{ type, count }] : [];
  });
}

/** The kinds that tasks of the chosen type, or of all types, are about. */
function kindsIn({ types }: TaskCounts, { type, kind: chosen }: TaskQuery) {
  const all = types.filter((each) => type === null || each.type === type).flatMap(({ kinds }) => kinds);
  return PAUSABLE_OPERATIONS.flatMap((kind) => {
    const count = all.filter((each) => each.kind === kind).reduce((sum, each) => sum + each.count, 0);
    return count > 0 || kind === chosen ? [{ kind, count }] : [];
  });
}

function Chip(props: {
  readonly viewer: Viewer;
  readonly to: TaskQuery;
  readonly isOn: boolean;
  readonly count?: number;
  readonly children: Child;
}) {
  const { viewer, to, isOn, count, children } = props;
  return (
    <li>
      <a class="chip" href={addressOf(to)} aria-current={isOn ? 'true' : undefined}>
        {children}
        {count !== undefined && <span class="count">{viewer.formats.number(count)}</span>}
      </a>
    </li>
  );
}
