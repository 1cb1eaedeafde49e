import type { DifferenceView } from '../../../contracts/service/differences';
import { DELIVERY_KINDS } from '../../../domain/vocabulary';
import { Ref, ruleIn } from '../../parts/text';
import { oneOf, type Viewer } from '../../viewer';

/** The broken rules of a kind of difference. */
export function Rules({ viewer, rules }: { viewer: Viewer; rules: readonly string[] }) {
  if (rules.length === 0) return <p>{viewer.messages.differences.others}</p>;
  return <RuleList viewer={viewer} rules={rules} />;
}

/** Rules of fields, `field: rule`, in the language of the viewer. */
export function RuleList({ viewer, rules }: { viewer: Viewer; rules: readonly string[] }) {
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
