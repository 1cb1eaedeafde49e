import { BULK_OUTCOMES, type BulkOutcome } from '../../../contracts/bulk';
import type { BulkItem } from '../../../workflow/bulk-port';
import { valueUnder } from '../../messages';
import { Chip } from '../../parts/list';
import { English, Badge, Ref, type Tone } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { taskMessages } from '../../parts/task';
import { bulkPath, type RunProps } from './model';

/** Rows shown at first, because the page reloads them each second. */
const ITEMS_SHOWN = 100;

/** The tasks of a run with their results. */
export function Items({ viewer, run, query }: RunProps) {
  const { bulk: messages } = viewer.messages;
  const { outcome, all } = query;
  const fitting = run.items.filter((item) => outcome === null || item.outcome === outcome);
  const shown = all ? fitting : fitting.slice(0, ITEMS_SHOWN);
  const isPreview = run.state === 'previewed';
  return (
    <section aria-labelledby="bulk-items">
      <h2 id="bulk-items">{messages.items}</h2>
      <Outcomes viewer={viewer} run={run} query={query} />
      {shown.length === 0 ? (
        <p class="muted">{messages.noItems}</p>
      ) : (
        <ol class="bulk-items" aria-labelledby="bulk-items">
          {shown.map((item) => (
            <ItemRow viewer={viewer} item={item} isPreview={isPreview} />
          ))}
        </ol>
      )}
      {shown.length < fitting.length && (
        <p>
          <a class="button" href={bulkPath(run.id, { ...query, all: true })}>
            {messages.showAll({ count: fitting.length })}
          </a>
        </p>
      )}
    </section>
  );
}

/** The results as filters, without empty ones. */
function Outcomes({ viewer, run, query }: Omit<RunProps, 'failure'>) {
  const { bulk: messages } = viewer.messages;
  const isPreview = run.state === 'previewed';
  const there = BULK_OUTCOMES.filter((outcome) => run.counts[outcome] > 0 || outcome === query.outcome);
  if (there.length < 2 && query.outcome === null) return null;
  const entries = [[null, run.total] as const, ...there.map((outcome) => [outcome, run.counts[outcome]] as const)];
  return (
    <ul class="chips" aria-label={messages.results}>
      {entries.map(([outcome, count]) => (
        <Chip to={bulkPath(run.id, { outcome })} isOn={outcome === query.outcome} count={viewer.formats.number(count)}>
          {outcome === null ? messages.all : labelOf(viewer, outcome, isPreview)}
        </Chip>
      ))}
    </ul>
  );
}

function ItemRow({ viewer, item, isPreview }: { viewer: Viewer; item: BulkItem; isPreview: boolean }) {
  const { bulk: messages, taskTypes } = viewer.messages;
  const { outcome, towingReferenceId: ref, violationId, reportId, taskType, taskId } = item;
  const subject = { type: taskType, ...(reportId === null ? {} : { report_id: reportId }) };
  const title = taskType === '' ? taskTypes.other.title : taskMessages(viewer, subject).title;
  return (
    <li id={`bulk-item-${item.position}`}>
      <span class="bulk-about">
        {ref !== null ? (
          <a href={`/tows/${encodeURIComponent(ref)}`}>
            <Ref>{ref}</Ref>
          </a>
        ) : violationId !== null ? (
          <a href={`/violations/${encodeURIComponent(violationId)}`}>
            <Ref>{violationId}</Ref>
          </a>
        ) : (
          <Ref>{taskId}</Ref>
        )}
      </span>
      <span>{title}</span>
      <div>
        <Badge tone={isPreview && outcome === 'waiting' ? 'good' : TONES[outcome]}>
          {labelOf(viewer, outcome, isPreview)}
        </Badge>
        {!isPreview && outcome === 'waiting' && item.hasBegun && <span class="muted"> {messages.mayHaveRun}</span>}
        <ItemRefusal viewer={viewer} item={item} />
      </div>
    </li>
  );
}

/** Why the task was not decided, with the code of the API. */
function ItemRefusal({ viewer, item: { words: refusal } }: { viewer: Viewer; item: BulkItem }) {
  if (refusal === null) return null;
  return (
    <p class="bulk-why">
      {valueUnder(viewer.messages.refusals, refusal.code) ?? <English viewer={viewer}>{refusal.message}</English>}{' '}
      <code class="muted">{refusal.code}</code>
    </p>
  );
}

function labelOf({ messages: { bulk } }: Viewer, outcome: BulkOutcome, isPreview: boolean): string {
  if (!isPreview) return bulk.outcomes[outcome];
  return outcome === 'waiting' ? bulk.canBe : outcome === 'refused' ? bulk.cannotBe : bulk.outcomes[outcome];
}

const TONES: Readonly<Record<BulkOutcome, Tone>> = {
  waiting: 'busy',
  done: 'good',
  refused: 'bad',
  gone: 'quiet',
  skipped: 'quiet',
};
