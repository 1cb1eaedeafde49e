import { JUDGED_OUTCOMES, type JudgementPreview, type JudgementView } from '../../../contracts/judgements';
import type { FormFailure } from '../../page';
import { differencePath } from '../../page-table';
import { ActionForm, Table } from '../../parts/ops';
import { Ref, Timestamp } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { RuleList } from './rules';

export const JUDGE_FORM = 'judge';

interface JudgingProps {
  readonly viewer: Viewer;
  readonly differenceId: string;
  readonly preview: JudgementPreview;
  readonly failure: FormFailure | null;
}

/** The webhooks that wait with a kind of difference: what judging them again would do, and what the last run did. */
export function Judging(props: JudgingProps) {
  const { viewer, differenceId, preview, failure } = props;
  const messages = viewer.messages.judging;
  const { count, run } = preview;
  const isRunning = run?.state === 'running';
  return (
    <section class="card stack" id="judging" aria-labelledby="judging-title">
      {isRunning && (
        <span
          id="judging-poll"
          hidden
          hx-get={differencePath(differenceId)}
          hx-trigger="every 1s"
          hx-target="#judging"
          hx-swap="morph:outerHTML"
        />
      )}
      <h2 id="judging-title">{messages.title({ count })}</h2>
      {run !== null && <LastRun viewer={viewer} run={run} />}
      {count > 0 && !isRunning && <Forecast {...props} />}
      {count > 0 && (
        <p>
          <a href={`/ops/deliveries?difference=${encodeURIComponent(differenceId)}`}>{messages.all}</a>
        </p>
      )}
      {count > 0 && !isRunning && viewer.may('ops') && (
        <ActionForm
          viewer={viewer}
          form={JUDGE_FORM}
          action={`${differencePath(differenceId)}/judge`}
          label={messages.judge}
          about={messages.judge}
          hint={messages.judgeHint}
          sure={messages.judgeSure({ count })}
          hasReason
          failure={failure}
        />
      )}
    </section>
  );
}

function LastRun({ viewer, run }: { viewer: Viewer; run: JudgementView }) {
  const messages = viewer.messages.judging;
  const { total, remaining } = run;
  const counts = { judged: total - remaining, remaining };
  return (
    <p role="status">
      {run.state === 'running' ? messages.running(counts) : messages.done(counts)}{' '}
      <span class="muted">
        <Timestamp viewer={viewer} at={run.ended_at ?? run.started_at} />
      </span>
    </p>
  );
}

/** What a run would do now, with examples. */
function Forecast({ viewer, preview }: JudgingProps) {
  const messages = viewer.messages.judging;
  const { count, read, outcomes, examples } = preview;
  const rows = examples.map((example) => ({
    id: `example-${example.delivery_id}`,
    cells: [
      <a href={`/ops/deliveries/${encodeURIComponent(example.delivery_id)}`} data-row-link>
        <Timestamp viewer={viewer} at={example.received_at} />
      </a>,
      <Ref>{example.towing_reference_id}</Ref>,
      messages.outcomes[example.outcome],
      <RuleList viewer={viewer} rules={example.rules} />,
    ],
  }));
  return (
    <>
      <p>{read < count ? messages.forecastOfOldest({ count: read }) : messages.forecast}</p>
      <ul>
        {JUDGED_OUTCOMES.map((outcome) => (
          <li>
            {messages.outcomes[outcome]}: {viewer.formats.number(outcomes[outcome])}
          </li>
        ))}
      </ul>
      {outcomes.differs > 0 && <p>{messages.stillDiffers}</p>}
      <Table
        caption={messages.examples}
        heads={[messages.heads.received, messages.heads.tow, messages.heads.outcome, messages.heads.rules]}
        rows={rows}
      />
    </>
  );
}
