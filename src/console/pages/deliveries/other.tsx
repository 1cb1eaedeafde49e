import type { OtherCall } from '../../../contracts/records';
import { Empty, Ref, Timestamp } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { Verified } from './states';

/** Calls of the service on paths of no webhook. */
export function OtherCallList({ viewer, calls }: { viewer: Viewer; calls: readonly OtherCall[] }) {
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
