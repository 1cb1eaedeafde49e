import type { KeptRefusal } from '../../../contracts/webhook/refused-calls';
import { Badge, Empty, Ref, ruleIn, Timestamp } from '../../parts/text';
import type { Viewer } from '../../viewer';

/** Refused calls to the receiver, each with its cause and what to do. */
export function RefusedCallList({ viewer, calls }: { viewer: Viewer; calls: readonly KeptRefusal[] }) {
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
        <>
          <dt>{messages.rules}</dt>
          <dd>
            <ul>
              {call.details.map(({ field, rule }) => (
                <li>
                  <Ref>{field}</Ref>: {ruleIn(viewer, rule)}
                </li>
              ))}
            </ul>
          </dd>
        </>
      )}
      <dt>{messages.source}</dt>
      <dd>
        <Ref>{call.source}</Ref>
      </dd>
      <dt>{messages.body}</dt>
      <dd>
        {messages.bodyKinds[call.body_kind]}
        {call.size !== null && ` · ${messages.bytes({ count: call.size })}`}
      </dd>
      {call.body_hash !== null && (
        <>
          <dt>{messages.bodyHash}</dt>
          <dd>
            <code dir="ltr">{call.body_hash}</code>
          </dd>
        </>
      )}
      {call.fields.length > 0 && (
        <>
          <dt>{messages.fields}</dt>
          <dd>
            <Ref>{call.fields.map(({ field, type }) => `${field}: ${type}`).join(', ')}</Ref>
          </dd>
        </>
      )}
      <dt>{messages.headerNames}</dt>
      <dd>
        <Ref>{call.header_names.join(', ')}</Ref>
      </dd>
    </dl>
  );
}
