import type { z } from 'zod';
import type { deliveryView } from '../../../contracts/operator';
import type { Quarantined } from '../../../contracts/records';
import { ruleIn } from '../../parts/english';
import { Empty, Moment, Ref } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { DeliveryState, TowOf, Verified, verdictText } from './delivery-words';
import { OpsPaging } from './paging';
import { Table } from './table';
import { Tabs } from './tabs';

export type DeliveryView = z.output<typeof deliveryView>;

export type Listed =
  | {
      readonly kind: 'accepted';
      readonly deliveries: readonly DeliveryView[];
      readonly cursor: string | null;
      readonly nextCursor: string | null;
    }
  | { readonly kind: 'quarantined'; readonly calls: readonly Quarantined[] };

export function isQuarantined(item: DeliveryView | Quarantined): item is Quarantined {
  return 'path' in item;
}

/** Every call of the service: those that were accepted, or those that broke the contract. */
export function DeliveryListPage({ viewer, listed }: { viewer: Viewer; listed: Listed }) {
  const words = viewer.words.deliveries;
  const kinds = [
    ['/ops/deliveries', words.accepted, 'accepted'],
    ['/ops/deliveries?quarantined=true', words.quarantined, 'quarantined'],
  ] as const;
  return (
    <>
      <h1>{words.title}</h1>
      <Tabs viewer={viewer} here="/ops/deliveries" />
      <nav aria-label={words.tabs}>
        <ul class="chips">
          {kinds.map(([address, label, kind]) => (
            <li>
              <a class="chip" href={address} aria-current={kind === listed.kind ? 'true' : undefined}>
                {label}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <p class="muted">{listed.kind === 'accepted' ? words.intro : words.brokenIntro}</p>
      {listed.kind === 'accepted' ? (
        <>
          <Accepted viewer={viewer} listed={listed} />
          <OpsPaging
            viewer={viewer}
            path="/ops/deliveries"
            label={words.pages}
            cursor={listed.cursor}
            nextCursor={listed.nextCursor}
          />
        </>
      ) : (
        <QuarantineList viewer={viewer} calls={listed.calls} />
      )}
    </>
  );
}

function Accepted({ viewer, listed }: { viewer: Viewer; listed: Extract<Listed, { kind: 'accepted' }> }) {
  const words = viewer.words.deliveries;
  const { heads } = words;
  if (listed.deliveries.length === 0) {
    if (listed.cursor !== null) return <Empty title={words.noneLeft} />;
    return <Empty title={words.none} hint={words.noneHint} />;
  }
  const rows = listed.deliveries.map((delivery) => ({
    id: `delivery-${delivery.id}`,
    cells: [
      <a href={`/ops/deliveries/${encodeURIComponent(delivery.id)}`} data-row-link>
        <Moment viewer={viewer} at={delivery.received_at} />
      </a>,
      viewer.words.terms.deliveries[delivery.kind],
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
      caption={words.table}
      heads={[
        heads.received,
        heads.kind,
        heads.tow,
        heads.state,
        heads.verdict,
        heads.verified,
        heads.copies,
        heads.failures,
      ]}
      rows={rows}
    />
  );
}

function QuarantineList({ viewer, calls }: { viewer: Viewer; calls: readonly Quarantined[] }) {
  const words = viewer.words.deliveries;
  if (calls.length === 0) return <Empty title={words.noneBroken} hint={words.noneBrokenHint} />;
  return (
    <ul class="ops-list quarantine">
      {calls.map((call) => (
        <li class="card" id={`call-${call.id}`}>
          <div class="head">
            <h2>
              <Moment viewer={viewer} at={call.received_at} />
            </h2>
            <Ref>{`POST ${call.path}`}</Ref>
          </div>
          <h3>{words.rules}</h3>
          <ul>
            {call.details.map(({ field, rule }) => (
              <li>
                <Ref>{field}</Ref>: {ruleIn(viewer, rule)}
              </li>
            ))}
          </ul>
          <details>
            <summary>{words.body}</summary>
            <pre tabindex={0}>{call.raw_body}</pre>
          </details>
        </li>
      ))}
    </ul>
  );
}
