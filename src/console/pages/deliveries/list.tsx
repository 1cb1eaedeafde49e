import type { DeliveryView } from '../../../contracts/operator';
import type { KeptRefusal } from '../../../contracts/webhook/webhooks';
import type { OtherCall } from '../../../contracts/outbox/records';
import { Chip } from '../../parts/list';
import { Fact, Empty, Timestamp, Ref, Badge, ruleIn, type Tone } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { OpsPaging, REFUSED_CALLS_PATH, Table, Tabs } from '../../parts/ops';
import type { ProcessedVerdict } from '../../../domain/webhook/delivery';
import type { DELIVERY_STATES } from '../../../domain/vocabulary';
import { valueUnder } from '../../messages';

interface ListedDeliveries {
  /** `differing`: only those that break the contract and wait to be judged again. */
  readonly kind: 'accepted' | 'differing';
  /** The filter of the list. */
  readonly query: Readonly<Record<string, string>>;
  readonly deliveries: readonly DeliveryView[];
  readonly cursor: string | null;
  readonly nextCursor: string | null;
}

export type Listed =
  | ListedDeliveries
  | { readonly kind: 'refused'; readonly calls: readonly KeptRefusal[] }
  | { readonly kind: 'other'; readonly calls: readonly OtherCall[] };

/** Webhook calls: accepted ones, those that wait to be judged again, refused ones, or those of other kinds. */
export function DeliveryListPage({ viewer, listed }: { viewer: Viewer; listed: Listed }) {
  const messages = viewer.messages.deliveries;
  const kinds = [
    ['/ops/deliveries', messages.accepted, 'accepted'],
    ['/ops/deliveries?differing=true', messages.differing, 'differing'] as const,
    ...(viewer.may('ops') ? [[REFUSED_CALLS_PATH, messages.refused, 'refused'] as const] : []),
    ['/ops/deliveries?other=true', messages.other, 'other'],
  ] as const;
  return (
    <>
      <h1>{messages.title}</h1>
      <Tabs viewer={viewer} here="/ops/deliveries" />
      <nav aria-label={messages.tabs}>
        <ul class="chips">
          {kinds.map(([address, label, kind]) => (
            <Chip to={address} isOn={kind === listed.kind}>
              {label}
            </Chip>
          ))}
        </ul>
      </nav>
      <ListedCalls viewer={viewer} listed={listed} />
    </>
  );
}

function ListedCalls({ viewer, listed }: { viewer: Viewer; listed: Listed }) {
  const messages = viewer.messages.deliveries;
  switch (listed.kind) {
    case 'accepted':
    case 'differing':
      return (
        <>
          <p class="muted">{listed.kind === 'accepted' ? messages.intro : messages.differingIntro}</p>
          <Accepted viewer={viewer} listed={listed} />
          <OpsPaging
            viewer={viewer}
            path="/ops/deliveries"
            query={listed.query}
            cursor={listed.cursor}
            nextCursor={listed.nextCursor}
          />
        </>
      );
    case 'refused':
      return (
        <>
          <p class="muted">{messages.refusedIntro}</p>
          <RefusedCallList viewer={viewer} calls={listed.calls} />
        </>
      );
    case 'other':
      return (
        <>
          <p class="muted">{messages.otherIntro}</p>
          <OtherCallList viewer={viewer} calls={listed.calls} />
        </>
      );
  }
}

function Accepted({ viewer, listed }: { viewer: Viewer; listed: ListedDeliveries }) {
  const messages = viewer.messages.deliveries;
  const { heads } = messages;
  if (listed.deliveries.length === 0) {
    if (listed.cursor !== null) return <Empty title={messages.noneLeft} />;
    if (listed.kind === 'differing') return <Empty title={messages.noneDiffers} hint={messages.noneDiffersHint} />;
    return <Empty title={messages.none} hint={messages.noneHint} />;
  }
  const rows = listed.deliveries.map((delivery) => ({
    id: `delivery-${delivery.id}`,
    cells: [
      <a href={`/ops/deliveries/${encodeURIComponent(delivery.id)}`} data-row-link>
        <Timestamp viewer={viewer} at={delivery.received_at} />
      </a>,
      viewer.messages.terms.deliveries[delivery.kind],
      <TowOf delivery={delivery} />,
      <DeliveryState viewer={viewer} state={delivery.state} />,
      verdictText(viewer, delivery.verdict),
      <Verified viewer={viewer} isVerified={delivery.verified} />,
      viewer.formats.number(delivery.copies),
      viewer.formats.number(delivery.failures),
    ],
  }));
  return (
    <Table
      caption={messages.title}
      heads={[
        heads.received,
        heads.kind,
        viewer.messages.terms.tow,
        viewer.messages.terms.state,
        heads.verdict,
        heads.verified,
        heads.copies,
        heads.failures,
      ]}
      rows={rows}
    />
  );
}

/** Calls of the service on paths of no webhook. */
function OtherCallList({ viewer, calls }: { viewer: Viewer; calls: readonly OtherCall[] }) {
  const messages = viewer.messages.deliveries;
  if (calls.length === 0) return <Empty title={messages.noneOther} hint={messages.noneOtherHint} />;
  return (
    <ul class="ops-list kept-calls">
      {calls.map((call) => (
        <li class="card" id={`call-${call.id}`}>
          <div class="head">
            <h2>
              <Timestamp viewer={viewer} at={call.received_at} />
            </h2>
            <Ref>{`POST ${call.path}`}</Ref>
            <Verified viewer={viewer} isVerified={call.verified} />
          </div>
          <details>
            <summary>{messages.body}</summary>
            <pre tabindex={0}>{call.raw_body}</pre>
            {call.raw_body.length < call.length && <p class="muted">{messages.cut}</p>}
          </details>
        </li>
      ))}
    </ul>
  );
}

/** Refused calls to the receiver, each with its cause and what to do. */
function RefusedCallList({ viewer, calls }: { viewer: Viewer; calls: readonly KeptRefusal[] }) {
  const messages = viewer.messages.deliveries;
  if (calls.length === 0) return <Empty title={messages.noneRefused} hint={messages.noneRefusedHint} />;
  return (
    <ul class="ops-list kept-calls">
      {calls.map((call, at) => (
        <li class="card" id={`refused-${at}`}>
          <div class="head">
            <h2>
              <Timestamp viewer={viewer} at={call.received_at} />
            </h2>
            <Ref>{`POST ${call.path}`}</Ref>
            <Badge tone="bad">{`${call.http_status}: ${viewer.messages.webhooks.reasons[call.reason].name}`}</Badge>
          </div>
          <p>
            {viewer.messages.webhooks.reasons[call.reason].cause} {viewer.messages.webhooks.reasons[call.reason].todo}
          </p>
          <Carried viewer={viewer} call={call} />
        </li>
      ))}
    </ul>
  );
}

/** What the call carried, without values. */
function Carried({ viewer, call }: { viewer: Viewer; call: KeptRefusal }) {
  const messages = viewer.messages.deliveries;
  return (
    <dl class="facts">
      {call.details.length > 0 && (
        <Fact label={messages.rules}>
          <ul>
            {call.details.map(({ field, rule }) => (
              <li>
                <Ref>{field}</Ref>: {ruleIn(viewer, rule)}
              </li>
            ))}
          </ul>
        </Fact>
      )}
      <Fact label={messages.source}>
        <Ref>{call.source}</Ref>
      </Fact>
      <Fact label={messages.body}>
        {messages.bodyKinds[call.body_kind]}
        {call.size !== null && ` · ${messages.bytes({ count: call.size })}`}
      </Fact>
      {call.body_hash !== null && (
        <Fact label={messages.bodyHash}>
          <code dir="ltr">{call.body_hash}</code>
        </Fact>
      )}
      {call.fields.length > 0 && (
        <Fact label={messages.fields}>
          <Ref>{call.fields.map(({ field, type }) => `${field}: ${type}`).join(', ')}</Ref>
        </Fact>
      )}
      <Fact label={messages.headerNames}>
        <Ref>{call.header_names.join(', ')}</Ref>
      </Fact>
    </dl>
  );
}

/** State, verdict and tow of a delivery. */

type DeliveryStateName = (typeof DELIVERY_STATES)[number];

const TONES: Readonly<Record<DeliveryStateName, Tone>> = {
  waiting: 'busy',
  parked: 'wait',
  differs: 'wait',
  processed: 'good',
};

export function DeliveryState({ viewer, state }: { viewer: Viewer; state: DeliveryStateName }) {
  const messages = viewer.messages.deliveries;
  return (
    <Badge tone={TONES[state]} {...(state === 'parked' ? { title: messages.parked } : {})}>
      {messages.states[state]}
    </Badge>
  );
}

export function Verified({ viewer, isVerified }: { viewer: Viewer; isVerified: boolean }) {
  const messages = viewer.messages.deliveries;
  return <Badge tone={isVerified ? 'good' : 'quiet'}>{isVerified ? messages.verified : messages.unverified}</Badge>;
}

/** The verdict of a delivery; an unknown one as stored. */
export function verdictText({ messages }: Viewer, verdict: string | null) {
  const { verdicts, noVerdict }: { verdicts: Readonly<Record<ProcessedVerdict, string>>; noVerdict: string } =
    messages.deliveries;
  if (verdict === null) return <span class="muted">{noVerdict}</span>;
  return valueUnder(verdicts, verdict) ?? <Ref>{verdict}</Ref>;
}

/** The tow of a delivery, as a link once it exists. */
export function TowOf({
  delivery,
}: {
  delivery: { readonly state: DeliveryStateName; readonly towing_reference_id: string };
}) {
  const ref = delivery.towing_reference_id;
  if (delivery.state !== 'processed') return <Ref>{ref}</Ref>;
  return (
    <a href={`/tows/${encodeURIComponent(ref)}`}>
      <Ref>{ref}</Ref>
    </a>
  );
}
