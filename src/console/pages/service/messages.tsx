import type { ServiceView } from '../../../contracts/service/seen-service';
import { Table } from '../../parts/ops';
import { Badge, Ref, Timestamp, type Tone, ruleIn } from '../../parts/text';
import { type Viewer, oneOf } from '../../viewer';
import type { DifferenceView } from '../../../contracts/service/differences';
import { DELIVERY_KINDS } from '../../../domain/vocabulary';

type SeenMessage = ServiceView['messages'][number];
type Field = SeenMessage['fields'][number];

const TONES: Readonly<Record<Exclude<Field['mark'], 'none'>, Tone>> = {
  missing: 'bad',
  sometimes_missing: 'wait',
  type: 'bad',
  additional: 'wait',
};

/**
 * The fields of each message that was seen, beside the documented ones. Those with a difference or undocumented fields
 * are open.
 */
export function Messages({ viewer, messages }: { viewer: Viewer; messages: readonly SeenMessage[] }) {
  const texts = viewer.messages.differences;
  return (
    <section aria-labelledby="messages-title">
      <h2 id="messages-title">{texts.messages}</h2>
      <p class="muted">{texts.messagesHint}</p>
      {messages.map((message) => (
        <Message viewer={viewer} message={message} />
      ))}
    </section>
  );
}

function Message({ viewer, message }: { viewer: Viewer; message: SeenMessage }) {
  const texts = viewer.messages.differences;
  const { heads } = texts;
  const marked = message.fields.filter(({ mark }) => mark !== 'none');
  const undocumented = marked.filter(({ mark }) => mark === 'additional').length;
  const different = marked.length - undocumented;
  const rows = message.fields.map((field) => ({
    id: `${message.source}-${message.name}-${field.field}`,
    cells: [
      <Ref>{field.field}</Ref>,
      <Documented viewer={viewer} field={field} />,
      <Seen viewer={viewer} field={field} />,
      field.mark === 'none' ? '' : <Badge tone={TONES[field.mark]}>{texts.marks[field.mark]}</Badge>,
    ],
  }));
  return (
    <details class="card" id={`message-${message.source}-${message.name}`} open={marked.length > 0}>
      <summary>
        {sourceName(viewer, message)}{' '}
        <span class="muted">{message.samples === 0 ? texts.notSeen : texts.samples({ count: message.samples })}</span>{' '}
        {different > 0 && <Badge tone="wait">{texts.marked({ count: different })}</Badge>}{' '}
        {undocumented > 0 && <Badge tone="quiet">{texts.undocumented({ count: undocumented })}</Badge>}
      </summary>
      <div class="folded-body">
        {message.first_seen_at !== null && message.last_seen_at !== null && (
          <p class="muted">
            {texts.seenBetween.rich({
              first: <Timestamp viewer={viewer} at={message.first_seen_at} />,
              last: <Timestamp viewer={viewer} at={message.last_seen_at} />,
            })}
          </p>
        )}
        <Table
          caption={texts.messages}
          heads={[heads.field, heads.documented, heads.seen, heads.difference]}
          rows={rows}
        />
      </div>
    </details>
  );
}

function Documented({ viewer, field: { documented, required } }: { viewer: Viewer; field: Field }) {
  const texts = viewer.messages.differences;
  if (documented === null) return <span class="muted">{texts.notDocumented}</span>;
  return (
    <>
      {documented.length === 0 ? texts.anyType : <Ref>{documented.join(' | ')}</Ref>}
      {required && ` ${texts.required}`}
    </>
  );
}

function Seen({ viewer, field: { seen } }: { viewer: Viewer; field: Field }) {
  if (seen.length === 0) return <span class="muted">{viewer.messages.differences.notSeen}</span>;
  return (
    <ul class="plain-list">
      {seen.map(({ type, count, last_seen_at: last }) => (
        <li>
          <Ref>{type}</Ref> {viewer.messages.differences.times({ count })},{' '}
          <span class="muted">
            <Timestamp viewer={viewer} at={last} />
          </span>
        </li>
      ))}
    </ul>
  );
}

/** The broken rules of a kind of difference. */
export function Rules({ viewer, rules }: { viewer: Viewer; rules: readonly string[] }) {
  if (rules.length === 0) return <p>{viewer.messages.differences.others}</p>;
  return <RuleList viewer={viewer} rules={rules} />;
}

/** Rules of fields, `field: rule`, in the language of the viewer. */
function RuleList({ viewer, rules }: { viewer: Viewer; rules: readonly string[] }) {
  return (
    <ul>
      {rules.map((rule) => {
        const at = rule.indexOf(': ');
        return (
          <li>
            <Ref>{rule.slice(0, at)}</Ref>: <bdi>{ruleIn(viewer, rule.slice(at + 2))}</bdi>
          </li>
        );
      })}
    </ul>
  );
}

/** The name of the messages that differ. */
export function sourceName(viewer: Viewer, { source, name }: Pick<DifferenceView, 'source' | 'name'>) {
  const { differences, terms } = viewer.messages;
  const webhook = source === 'webhook' ? oneOf(DELIVERY_KINDS, name) : null;
  return (
    <>
      {differences.sources[source]}: {webhook === null ? <Ref>{name}</Ref> : terms.deliveries[webhook]}
    </>
  );
}
