import { TASK_ACTIONS } from '../../../domain/outbox/decisions';
import { PAGES, towPath, violationPath } from '../../page-table';
import { SORT_ORDERS } from '../../../contracts/paging';
import { page, type FormFailure, type PageResult } from '../../page';
import { Chip, Orders, Paging } from '../../parts/list';
import { Problem } from '../../parts/problem';
import { Empty, Ref } from '../../parts/text';
import { oneOf, type Viewer } from '../../viewer';
import { formsOf } from './actions';
import { BULK_FORM, BulkBar, hasBulkBar } from './bulk-bar';
import { TaskItem } from './item';
import { ALL_ID, bulkIds, countIds, kindId, kindsIn, TOTAL_ID, totalText, typeId, typesIn, Live } from './live';
import { addressOf, canBeChosen, isNarrowed, withChanges, type TaskQuery, type TaskPage, EVERYTHING } from './model';
import type { TaskCounts } from '../../../contracts/operator';

interface TasksProps {
  readonly viewer: Viewer;
  readonly page: TaskPage;
  readonly failure: FormFailure | null;
}

/** The task list; after a refusal with its reason. */
export function tasksPage(props: TasksProps): PageResult {
  const { viewer, failure } = props;
  return page(viewer.messages.common.tasks, <Tasks {...props} />, {
    assets: ['relative-times.js', 'tasks.js'],
    httpStatus: failure?.refusal.httpStatus ?? 200,
  });
}

function Tasks(props: TasksProps) {
  const { viewer, page: shown } = props;
  const { query } = shown;
  const { common, runs } = viewer.messages;
  return (
    <div class="tasks">
      <div class="head">
        <h1>{common.tasks}</h1>
        <a href={PAGES.runs.path}>{runs.recent}</a>
      </div>
      <Filters viewer={viewer} query={query} counts={shown.counts} />
      <LostProblem {...props} />
      <div class="tasks-line">
        <ListHead {...props} />
        <Live
          viewer={viewer}
          query={query}
          shown={shown.rows.map(({ task, question }) => `${question} ${task.id}`)}
          counted={[...countIds(shown.counts, query), ...(hasBulkBar(viewer, shown) ? bulkIds(query) : [])]}
          newestAt={shown.newestAt}
          newCount={0}
        />
        <Orders
          viewer={viewer}
          chosen={query.order}
          orders={SORT_ORDERS.toReversed().map((order) => [order, common.orders[order]] as const)}
          at={(order) => addressOf(withChanges(query, { order }))}
        />
      </div>
      <List {...props} />
      <TaskPaging {...props} />
      <BulkBar viewer={viewer} page={shown} failure={props.failure} />
    </div>
  );
}

/** A refusal whose form is not in the list any more. */
function LostProblem({ viewer, page: { rows }, failure }: TasksProps) {
  if (failure === null || failure.form === BULK_FORM) return null;
  const isShown = rows.some((row) => formsOf(viewer, row).includes(failure.form));
  if (isShown) return null;
  return (
    <Problem viewer={viewer} failure={failure} form={failure.form} showsEntered>
      <Subject viewer={viewer} form={failure.entered} />
    </Problem>
  );
}

/** What the decision of a form was about, as far as it names a record with a page. */
function Subject({ viewer, form }: { viewer: Viewer; form: URLSearchParams }) {
  const { terms } = viewer.messages;
  const decision = oneOf(TASK_ACTIONS, form.get('decision') ?? undefined);
  const [tow, violation] = [form.get('tow'), form.get('violation')];
  const [path, noun, name] = tow
    ? [towPath(tow), terms.tow, tow]
    : [violationPath(violation ?? ''), terms.operations.violation, violation];
  if (!name) return null;
  return (
    <p>
      {decision !== null && <strong>{terms.actions[decision]} · </strong>}
      <a href={path}>
        {noun} <Ref>{name}</Ref>
      </a>
    </p>
  );
}

function ListHead({ viewer, page: { query, rows, counts } }: TasksProps) {
  const { runs } = viewer.messages;
  const hasBoxes = viewer.may('dispatcher') && rows.some(({ task }) => canBeChosen(task));
  return (
    <p class="row">
      {hasBoxes && (
        // Works with scripts only, so a script shows it.
        <label class="tasks-all" hidden data-choose-all>
          <input type="checkbox" /> {runs.chooseAll}
        </label>
      )}
      {hasBoxes && (
        // A link within the page keeps the ticks. A browser opens the bar, because the form is in it.
        <a href={`#${BULK_FORM}`} data-open-bulk>
          {runs.several}
        </a>
      )}
      <span class="muted" id={TOTAL_ID}>
        {totalText(viewer, query, counts)}
      </span>
    </p>
  );
}

function List({ viewer, page: { query, rows }, failure }: TasksProps) {
  const messages = viewer.messages.tasks;
  if (rows.length === 0) {
    const { title, hint } = isNarrowed(query) ? messages.emptyFilter : messages.empty;
    return <Empty title={title} hint={hint} />;
  }
  return (
    <ol class="tasks-list" aria-label={messages.list}>
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

function TaskPaging({ viewer, page: { query, nextCursor } }: TasksProps) {
  return (
    <Paging
      viewer={viewer}
      first={query.cursor === null ? null : addressOf(withChanges(query, {}))}
      next={nextCursor === null ? null : addressOf({ ...query, cursor: nextCursor })}
    />
  );
}

interface FilterProps {
  readonly viewer: Viewer;
  readonly query: TaskQuery;
  readonly counts: TaskCounts;
}

/** The filters as links, with the counts of all tasks. */
function Filters({ viewer, query, counts }: FilterProps) {
  const messages = viewer.messages.tasks;
  const { formats } = viewer;
  const { taskTypes, terms } = viewer.messages;
  const types = typesIn(counts, query);
  const kinds = kindsIn(counts, query);
  return (
    <nav class="tasks-filters" aria-label={viewer.messages.common.filters}>
      <ul class="chips" aria-label={messages.byType}>
        <Chip
          to={addressOf(withChanges(query, { type: null }))}
          isOn={query.type === null}
          count={formats.number(counts.total)}
          countId={ALL_ID}
        >
          {viewer.messages.common.all}
        </Chip>
        {types.map(({ type, count }) => (
          <Chip
            to={addressOf(withChanges(query, query.type === type ? { type: null } : { type, kind: null }))}
            isOn={query.type === type}
            count={formats.number(count)}
            countId={typeId(type)}
          >
            {taskTypes.types[type].chip}
          </Chip>
        ))}
      </ul>
      {kinds.length > 0 && (
        <ul class="chips" aria-label={messages.byKind}>
          {kinds.map(({ kind, count }) => (
            <Chip
              to={addressOf(withChanges(query, { kind: query.kind === kind ? null : kind }))}
              isOn={query.kind === kind}
              count={formats.number(count)}
              countId={kindId(kind)}
            >
              {terms.operations[kind]}
            </Chip>
          ))}
        </ul>
      )}
      {isNarrowed(query) && (
        <ul class="chips">
          {query.tow !== null && (
            <Chip to={addressOf(withChanges(query, { tow: null }))} isOn>
              {terms.tow} <Ref>{query.tow}</Ref>
            </Chip>
          )}
          <li>
            <a class="quiet" href={addressOf({ ...EVERYTHING, order: query.order })}>
              {messages.clear}
            </a>
          </li>
        </ul>
      )}
    </nav>
  );
}
