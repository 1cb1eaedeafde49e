import type { Incident } from '../../../domain/notices';
import type { FormFailure } from '../../page';
import { ActionForm } from '../../parts/ops';
import { Timestamp } from '../../parts/text';
import type { Viewer } from '../../viewer';

/** The name of the form that acknowledges an alarm. */
export function acknowledgeForm(id: string): string {
  return `acknowledge-${id}`;
}

/** Who acknowledged an announced alarm, or the form to do so. */
export function Acknowledge(props: {
  readonly viewer: Viewer;
  /** The incident of the alarm; null before it was seen by a watch. */
  readonly incident: Incident | null;
  readonly title: string;
  readonly failure: FormFailure | null;
}) {
  const { viewer, incident, title, failure } = props;
  if (incident === null || incident.startedAtMs === null) return null;
  const messages = viewer.messages.notifications;
  const { id, acknowledged } = incident;
  if (acknowledged !== null) {
    return (
      <p class="muted">
        <bdi>{messages.acknowledgedBy({ name: acknowledged.by })}</bdi>{' '}
        <Timestamp viewer={viewer} at={new Date(acknowledged.atMs).toISOString()} />
      </p>
    );
  }
  if (!viewer.may('ops')) return null;
  return (
    <ActionForm
      viewer={viewer}
      form={acknowledgeForm(id)}
      action={`/ops/alarms/${encodeURIComponent(id)}/acknowledge`}
      label={messages.acknowledge}
      about={messages.acknowledgeOf({ title })}
      hint={messages.acknowledgeWhat}
      failure={failure}
      hasReason
    />
  );
}
