import { ORDERS } from '../../../contracts/paging';
import { TASK_ACTIONS } from '../../../domain/tasks';
import { page, type Failure, type Shown } from '../../answers';
import { Paging } from '../../parts/paging';
import { Problem } from '../../parts/problem';
import { Empty } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { formOf } from './actions';
import { BULK_FORM, BulkBar, bulkBarAddress, canBeChosen } from './bulk-bar';
import { Filters } from './filters';
import { TaskItem } from './item';
import { Live } from './live';
import { addressOf, isNarrowed, withSaid, type TaskQuery } from './query';
import type { TaskPage } from './read';

export interface TasksProps {
  readonly viewer: Viewer;
  readonly query: TaskQuery;
  readonly page: TaskPage;
  /** Whether the decision on several is folded out. */
  readonly isBulkOpen: boolean;
  readonly failure: Failure | null;
}

/** What people must decide; after a refusal with the reason and what was entered. */
export function tasksPage(props: TasksProps): Shown {
  const { viewer, failure } = props;
  return page(viewer.words.tasks.title, <Tasks {...props} />, {
    assets: ['tasks.js'],
    httpStatus: failure?.refusal.httpStatus ?? 200,
  });
}

function Tasks(props: TasksProps) {
  const { viewer, query, page: shown } = props;
  const { tasks: words, bulk } = viewer.words;
  return (
    <div class="tasks">
      <div class="head">
        <h1>{words.title}</h1>
        <a href="/tasks/bulk">{bulk.recent}</a>
      </div>
      <Filters viewer={viewer} query={query} counts={shown.counts} />
      <Elsewhere {...props} />
      <div class="tasks-line">
        <ListHead {...props} />
        <Live
          viewer={viewer}
          query={query}
          shown={shown.rows.map(({ task, question }) => `${question} ${task.id}`)}
          newestAt={shown.newestAt}
          newCount={0}
        />
        <Orders viewer={viewer} query={query} />
      </div>
      <List {...props} />
      <TaskPaging {...props} />
      <BulkBar viewer={viewer} query={query} page={shown} isOpen={props.isBulkOpen} failure={props.failure} />
    </div>
  );
}

/** Why a decision was refused whose row is not in the list any more. */
function Elsewhere({ viewer, page: { rows }, failure }: TasksProps) {
  if (failure === null || failure.form === BULK_FORM) return null;
  const forms = rows.flatMap(({ anchor }) => TASK_ACTIONS.map((action) => formOf(anchor, action)));
  return forms.includes(failure.form) ? null : <Problem viewer={viewer} failure={failure} form={failure.form} />;
}

function ListHead({ viewer, query, page: { rows, fitting, counts } }: TasksProps) {
  const { tasks: words, bulk } = viewer.words;
  const hasBoxes = viewer.may('dispatcher') && rows.some(({ task }) => canBeChosen(task));
  return (
    <p class="row">
      {hasBoxes && (
        // Only a script can tick many, and only a script shows it.
        <label class="tasks-all" hidden data-choose-all>
          <input type="checkbox" /> {bulk.chooseAll}
        </label>
      )}
      {hasBoxes && (
        <a href={bulkBarAddress(query)} data-open-bulk>
          {bulk.several}
        </a>
      )}
      <span class="muted">
        {isNarrowed(query) && fitting !== null ? words.shown(fitting) : words.open(counts.total)}
      </span>
    </p>
  );
}

function Orders({ viewer, query }: Pick<TasksProps, 'viewer' | 'query'>) {
  const words = viewer.words.tasks;
  return (
    <ul class="tasks-orders" aria-label={words.order}>
      {ORDERS.toReversed().map((order) => (
        <li>
          <a
            class="quiet"
            href={addressOf(withSaid(query, { order }))}
            aria-current={order === query.order ? 'true' : undefined}
          >
            {words.orders[order]}
          </a>
        </li>
      ))}
    </ul>
  );
}

function List({ viewer, query, page: { rows }, failure }: TasksProps) {
  const words = viewer.words.tasks;
  if (rows.length === 0) {
    const { title, hint } = isNarrowed(query) ? words.emptyFilter : words.empty;
    return <Empty title={title} hint={hint} />;
  }
  return (
    <ol class="tasks-list" aria-label={words.list}>
      {rows.map((row, index) => (
        <TaskItem
          viewer={viewer}
          row={row}
          here={addressOf(query)}
          next={(rows[index + 1] ?? rows[index - 1])?.anchor ?? ''}
          failure={failure}
        />
      ))}
    </ol>
  );
}

function TaskPaging({ viewer, query, page: { nextCursor } }: TasksProps) {
  return (
    <Paging
      viewer={viewer}
      label={viewer.words.tasks.pages}
      first={query.cursor === null ? null : addressOf(withSaid(query, {}))}
      next={nextCursor === null ? null : addressOf({ ...query, cursor: nextCursor })}
    />
  );
}
