import type { z } from 'zod';
import type { deliveryDetail } from '../../../contracts/operator';
import { jsonIn, withoutByteOrderMark } from '../../../domain/json';
import type { FormFailure } from '../../page';
import { differencePath } from '../../page-table';
import { Fact, Timestamp, Ref, ruleIn } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { ActionForm, Tabs } from '../../parts/ops';
import { DeliveryState, TowOf, Verified, verdictText } from './list';

interface DeliveryProps {
  readonly viewer: Viewer;
  readonly delivery: z.output<typeof deliveryDetail>;
  readonly failure: FormFailure | null;
}

/** One webhook call with its raw body. */
export function DeliveryPage(props: DeliveryProps) {
  const { viewer, delivery } = props;
  const messages = viewer.messages.deliveries;
  const pretty = indented(delivery.raw_body);
  return (
    <>
      <p>
        <a href="/ops/deliveries">{messages.back}</a>
      </p>
      <h1>
        {messages.one}: {viewer.messages.terms.deliveries[delivery.kind]}
      </h1>
      <Tabs viewer={viewer} here="/ops/deliveries" />
      <DeliveryNow {...props} />
      {delivery.differences.length > 0 && (
        <section class="card">
          <h2>{messages.differences}</h2>
          <ul>
            {delivery.differences.map(({ field, rule }) => (
              <li>
                <Ref>{field}</Ref>: {ruleIn(viewer, rule)}
              </li>
            ))}
          </ul>
          {delivery.state === 'differs' && delivery.difference_id !== null && (
            <p>
              <a href={differencePath(delivery.difference_id)}>{messages.toDifference}</a>
            </p>
          )}
        </section>
      )}
      <div class="bodies">
        <section class="card">
          <h2>{messages.pretty}</h2>
          {pretty === null ? <p class="muted">{messages.notJson}</p> : <pre tabindex={0}>{pretty}</pre>}
        </section>
        <section class="card">
          <h2>{messages.raw}</h2>
          <pre tabindex={0}>{delivery.raw_body}</pre>
        </section>
      </div>
    </>
  );
}

/** The part that changes while the delivery is processed. */
export function DeliveryNow({ viewer, delivery, failure }: DeliveryProps) {
  const messages = viewer.messages.deliveries;
  const { heads } = messages;
  const { formats } = viewer;
  const address = `/ops/deliveries/${encodeURIComponent(delivery.id)}`;
  return (
    <section
      class="card delivery"
      id="delivery"
      aria-label={viewer.messages.terms.state}
      data-watch="deliverys"
      hx-get={address}
      hx-trigger="changed"
      hx-swap="morph:outerHTML"
    >
      <dl class="facts">
        <Fact label={viewer.messages.terms.state}>
          <DeliveryState viewer={viewer} state={delivery.state} />
          {delivery.state === 'parked' && <span class="muted"> {messages.parked}</span>}
          {delivery.state === 'differs' && <span class="muted"> {messages.differs}</span>}
        </Fact>
        <Fact label={heads.verdict}>{verdictText(viewer, delivery.verdict)}</Fact>
        <Fact label={viewer.messages.terms.tow}>
          <TowOf delivery={delivery} />
        </Fact>
        <Fact label={heads.received}>
          <Timestamp viewer={viewer} at={delivery.received_at} />
        </Fact>
        <Fact label={messages.processed}>
          {delivery.processed_at === null ? (
            <span class="muted">{messages.notProcessed}</span>
          ) : (
            <Timestamp viewer={viewer} at={delivery.processed_at} />
          )}
        </Fact>
        <Fact label={heads.verified}>
          <Verified viewer={viewer} isVerified={delivery.verified} />
        </Fact>
        {delivery.signature_id !== null && (
          <Fact label={messages.signatureId}>
            <Ref>{delivery.signature_id}</Ref>
          </Fact>
        )}
        <Fact label={heads.copies}>
          {formats.number(delivery.copies)} <span class="muted">{messages.copiesHint}</span>
        </Fact>
        <Fact label={heads.failures}>{formats.number(delivery.failures)}</Fact>
        <Fact label={messages.replays}>
          {delivery.replays === 0 ? messages.never : messages.times({ count: delivery.replays })}
        </Fact>
        <Fact label={messages.id}>
          <code dir="ltr">{delivery.id}</code>
        </Fact>
      </dl>
      {viewer.may('ops') && (
        <ActionForm
          viewer={viewer}
          form="replay"
          action={`${address}/replay`}
          label={messages.replay}
          about={messages.replay}
          hint={messages.replayWhat}
          sure={messages.replaySure}
          failure={failure}
        />
      )}
    </section>
  );
}

/** A token of JSON. */
const PIECES = /"(?:[^"\\]|\\.)*"|[[\]{}:,]|[^\s"[\]{}:,]+/g;
/** Deeper levels are not indented further. */
const DEPTH_MAX = 20;

/** Longer results are not shown: a page of many times the length of a body is useless. */
export const INDENTED_MAX = 1_000_000;

/**
 * Indents JSON and keeps each token as received. Parsing and serializing would change numbers (`100.50`, ids beyond
 * 2^53) and drop duplicate names. Null for invalid JSON and for results longer than INDENTED_MAX.
 */
export function indented(sent: string): string | null {
  const raw = withoutByteOrderMark(sent);
  if (jsonIn(raw) === undefined) return null;
  const out: string[] = [];
  let depth = 0;
  let before = '';
  let length = 0;
  const add = (text: string) => {
    out.push(text);
    length += text.length;
  };
  for (const [piece] of raw.matchAll(PIECES)) {
    const isFirst = before === '{' || before === '[';
    const isEnd = piece === '}' || piece === ']';
    if (isEnd) depth -= 1;
    if (isEnd ? !isFirst : isFirst || before === ',') add(`\n${'  '.repeat(Math.min(depth, DEPTH_MAX))}`);
    add(piece === ':' ? ': ' : piece);
    if (length > INDENTED_MAX) return null;
    if (piece === '{' || piece === '[') depth += 1;
    before = piece;
  }
  return out.join('');
}
