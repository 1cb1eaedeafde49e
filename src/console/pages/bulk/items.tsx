import { BULK_OUTCOMES, type BulkOutcome } from '../../../contracts/bulk';
import type { BulkItem } from '../../../workflow/bulk-port';
import { English } from '../../parts/english';
import { Badge, Ref, type Tone } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { wordsOfTask } from '../tasks/about';
import { bulkPath, type RunProps } from './query';

/** So many are shown at first: the page asks for itself each second. */
const ITEMS_SHOWN = 100;

/** The tasks of a run, each with what came, or can come, of it. */
export function Items({ viewer, run, query }: RunProps) {
  const { bulk: words } = viewer.words;
  const { outcome, all } = query;
  const fitting = run.items.filter((item) => outcome === null || item.outcome === outcome);
  const shown = all ? fitting : fitting.slice(0, ITEMS_SHOWN);
  const isPreview = run.state === 'previewed';
  return (
    <section aria-labelledby="bulk-items">
      <h2 id="bulk-items">{words.items}</h2>
      <Outcomes viewer={viewer} run={run} query={query} />
      {shown.length === 0 ? (
        <p class="muted">{words.noItems}</p>
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
            {words.showAll(fitting.length)}
          </a>
        </p>
      )}
    </section>
  );
}

/** Results as filters; those that nothing has are left out. */
function Outcomes({ viewer, run, query }: Omit<RunProps, 'failure'>) {
  const { bulk: words } = viewer.words;
  const isPreview = run.state === 'previewed';
  const there = BULK_OUTCOMES.filter((outcome) => run.counts[outcome] > 0 || outcome === query.outcome);
  if (there.length < 2 && query.outcome === null) return null;
  const entries = [[null, run.total] as const, ...there.map((outcome) => [outcome, run.counts[outcome]] as const)];
  return (
    <ul class="chips" aria-label={words.results}>
      {entries.map(([outcome, count]) => (
        <li>
          <a
            class="chip"
            href={bulkPath(run.id, { outcome })}
            aria-current={outcome === query.outcome ? 'true' : undefined}
          >
            {outcome === null ? words.all : labelOf(viewer, outcome, isPreview)}
            <span class="count">{viewer.formats.number(count)}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}

function ItemRow({ viewer, item, isPreview }: { viewer: Viewer; item: BulkItem; isPreview: boolean }) {
  const { bulk: words, taskTypes } = viewer.words;
  const { outcome, towingReferenceId: ref, violationId, reportId, taskType, taskId } = item;
  const subject = { type: taskType, ...(reportId === null ? {} : { report_id: reportId }) };
  const title = taskType === '' ? taskTypes.other.title('') : wordsOfTask(viewer, subject).title;
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
        {!isPreview && outcome === 'waiting' && item.hasBegun && <span class="muted"> {words.mayHaveRun}</span>}
        <ItemWords viewer={viewer} item={item} />
      </div>
    </li>
  );
}

/** Why it was not decided. The API's own words say more than ours. */
function ItemWords({ viewer, item: { words } }: { viewer: Viewer; item: BulkItem }) {
  if (words === null) return null;
  const translated = viewer.words.refusals.messageOf(words.code);
  return (
    <>
      {translated !== null && <p class="bulk-why">{translated}</p>}
      <p class="bulk-why">
        <bdi dir="ltr">
          <English viewer={viewer}>{words.message}</English> <code class="muted">{words.code}</code>
        </bdi>
      </p>
    </>
  );
}

function labelOf({ words: { bulk } }: Viewer, outcome: BulkOutcome, isPreview: boolean): string {
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
