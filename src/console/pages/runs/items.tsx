import { RUN_OUTCOMES, type RunItemView, type RunOutcome, type RunView } from '../../../contracts/ops/runs';
import { DELIVERY_KINDS } from '../../../domain/vocabulary';
import { valueUnder } from '../../messages';
import { deliveryPath, runPath, towPath, violationPath } from '../../page-table';
import { Chip } from '../../parts/list';
import { OpsPaging } from '../../parts/ops';
import { taskMessages } from '../../parts/decisions';
import { English, Badge, Ref, type Tone } from '../../parts/text';
import { oneOf, type Viewer } from '../../viewer';
import type { FormFailure } from '../../page';

/** The items of a run with their results. */
export function Items({ viewer, run, items, query }: RunProps) {
  const { runs: messages } = viewer.messages;
  const isPreview = run.state === 'previewed';
  return (
    <section aria-labelledby="run-items">
      <h2 id="run-items">{messages.items}</h2>
      <Outcomes viewer={viewer} run={run} query={query} />
      {items.items.length === 0 ? (
        <p class="muted">{messages.noItems}</p>
      ) : (
        <ol class="run-items" aria-labelledby="run-items">
          {items.items.map((item) => (
            <ItemRow viewer={viewer} item={item} isPreview={isPreview} />
          ))}
        </ol>
      )}
      <OpsPaging
        viewer={viewer}
        path={runPath(run.id)}
        query={queryOf({ ...query, cursor: null })}
        cursor={query.cursor}
        nextCursor={items.next_cursor}
      />
    </section>
  );
}

/** The results as filters, without empty ones. */
function Outcomes({ viewer, run, query }: Pick<RunProps, 'viewer' | 'run' | 'query'>) {
  const { runs: messages } = viewer.messages;
  const isPreview = run.state === 'previewed';
  const there = RUN_OUTCOMES.filter((outcome) => run.counts[outcome] > 0 || outcome === query.outcome);
  if (there.length < 2 && query.outcome === null) return null;
  const entries = [[null, run.total] as const, ...there.map((outcome) => [outcome, run.counts[outcome]] as const)];
  return (
    <ul class="chips" aria-label={messages.results}>
      {entries.map(([outcome, count]) => (
        <Chip to={addressOf(run.id, { outcome })} isOn={outcome === query.outcome} count={viewer.formats.number(count)}>
          {outcome === null ? viewer.messages.common.all : labelOf(viewer, outcome, isPreview)}
        </Chip>
      ))}
    </ul>
  );
}

function ItemRow({ viewer, item, isPreview }: { viewer: Viewer; item: RunItemView; isPreview: boolean }) {
  const { outcome } = item;
  return (
    <li id={`run-item-${item.position}`}>
      <span class="run-about">
        <About item={item} />
      </span>
      <span>{titleOf(viewer, item)}</span>
      <div>
        <Badge tone={isPreview && outcome === 'waiting' ? 'good' : TONES[outcome]}>
          {labelOf(viewer, outcome, isPreview)}
        </Badge>
        <ItemRefusal viewer={viewer} item={item} />
      </div>
    </li>
  );
}

function About({ item: { id, type, towing_reference_id: ref, violation_id: violationId } }: { item: RunItemView }) {
  const isDelivery = oneOf(DELIVERY_KINDS, type) !== null;
  if (ref !== null)
    return (
      <a href={isDelivery ? deliveryPath(id) : towPath(ref)}>
        <Ref>{ref}</Ref>
      </a>
    );
  if (violationId !== null)
    return (
      <a href={violationPath(violationId)}>
        <Ref>{violationId}</Ref>
      </a>
    );
  return <Ref>{id}</Ref>;
}

function titleOf(viewer: Viewer, { type, report_id }: RunItemView): string {
  const { taskTypes, terms } = viewer.messages;
  const delivery = oneOf(DELIVERY_KINDS, type);
  if (delivery !== null) return terms.deliveries[delivery];
  return type === ''
    ? taskTypes.other.title
    : taskMessages(viewer, { type, ...(report_id === null ? {} : { report_id }) }).title;
}

/** Why nothing was done about it, with the code of the API. */
function ItemRefusal({ viewer, item: { code, message } }: { viewer: Viewer; item: RunItemView }) {
  if (code === null) return null;
  return (
    <p class="run-why">
      {valueUnder(viewer.messages.refusals, code) ?? <English viewer={viewer}>{message ?? ''}</English>}{' '}
      <code class="muted">{code}</code>
    </p>
  );
}

function labelOf({ messages: { runs } }: Viewer, outcome: RunOutcome, isPreview: boolean): string {
  if (!isPreview) return runs.outcomes[outcome];
  return outcome === 'waiting' ? runs.canBe : outcome === 'refused' ? runs.cannotBe : runs.outcomes[outcome];
}

const TONES: Readonly<Record<RunOutcome, Tone>> = {
  waiting: 'busy',
  done: 'good',
  refused: 'bad',
  gone: 'quiet',
  skipped: 'quiet',
};

/** The query of a run, as in its address. */
export interface RunQuery {
  readonly outcome: RunOutcome | null;
  readonly cursor: string | null;
}

export interface RunProps {
  readonly viewer: Viewer;
  readonly run: RunView;
  readonly items: { readonly items: readonly RunItemView[]; readonly next_cursor: string | null };
  readonly query: RunQuery;
  readonly failure: FormFailure | null;
}

/** The form that starts and aborts a run. */
export const RUN_FORM = 'run';

/** The query of the address and of the list of items. */
export function queryOf({ outcome, cursor }: RunQuery): Readonly<Record<string, string>> {
  return { ...(outcome === null ? {} : { outcome }), ...(cursor === null ? {} : { cursor }) };
}

export function addressOf(id: string, query: Partial<RunQuery>): string {
  const params = new URLSearchParams(queryOf({ outcome: null, cursor: null, ...query }));
  return params.size === 0 ? runPath(id) : `${runPath(id)}?${params.toString()}`;
}

export function readRunQuery(given: URLSearchParams): RunQuery {
  return { outcome: oneOf(RUN_OUTCOMES, given.get('outcome') ?? undefined), cursor: given.get('cursor') };
}
