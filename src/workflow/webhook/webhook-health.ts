import { MINUTE_MS } from '../../domain/timestamp';
import {
  mostlyRefused,
  refusedWebhooks,
  type MostlyRefused,
  type RefusedWebhooks,
} from '../../domain/webhook/webhook-alarms';
import { REFUSAL_REASONS, WEBHOOK_PATHS, type SecretsFault } from '../../domain/webhook/webhook-answers';
import { webhookSilence, type WebhookSilence } from '../../domain/webhook/webhook-silence';
import { sumsUntil } from '../ops/metric-series';
import type { MetricsStore } from '../ops/metrics-port';
import type { WebhookAnswers, WebhookAnswerStore } from './webhook-port';

/** An alarm about the webhooks of the service. */
export type WebhookAlarm =
  | ({ readonly kind: 'webhooksRefused' } & RefusedWebhooks)
  | ({ readonly kind: 'webhooksMostlyRefused' } & MostlyRefused)
  | ({ readonly kind: 'noWebhooks' } & WebhookSilence)
  | ({ readonly kind: 'webhookSecrets' } & SecretsFault);

export const WEBHOOK_ALARMS = ['webhooksRefused', 'webhooksMostlyRefused', 'noWebhooks', 'webhookSecrets'] as const;

export interface WebhookHealth {
  /** The alarms that hold now. */
  alarms(): Promise<readonly WebhookAlarm[]>;
}

/** @param silenceIntervals see `webhookSilence`. */
export function createWebhookHealth(tools: {
  readonly answers: Pick<WebhookAnswerStore, 'read'>;
  readonly figures: MetricsStore;
  readonly silenceIntervals: number;
}): WebhookHealth {
  return {
    async alarms() {
      const answers = await tools.answers.read();
      const refused = refusedWebhooks(answers.byPath, answers.readAtMs);
      const mostly = refused.length === 0 ? mostlyRefused(await recentAnswers(tools.figures, answers.readAtMs)) : null;
      const silence = webhookSilence(historyOf(answers), tools.silenceIntervals, answers.readAtMs);
      return [
        ...refused.map((each) => ({ kind: 'webhooksRefused' as const, ...each })),
        ...(mostly === null ? [] : [{ kind: 'webhooksMostlyRefused' as const, ...mostly }]),
        ...(answers.secretsFault === null ? [] : [{ kind: 'webhookSecrets' as const, ...answers.secretsFault }]),
        ...(silence === null ? [] : [{ kind: 'noWebhooks' as const, ...silence }]),
      ];
    },
  };
}

/**
 * The answers of the last five minutes on all webhook paths together, the current minute included. Refused calls on
 * other paths count as `address`.
 */
async function recentAnswers(metrics: MetricsStore, nowMs: number) {
  const sum = await sumsUntil(metrics, (Math.floor(nowMs / MINUTE_MS) + 1) * MINUTE_MS);
  return {
    refused: Object.fromEntries(
      REFUSAL_REASONS.flatMap((reason) => (reason === 'address' ? [] : [[reason, sum(`answers.${reason}`)]])),
    ),
    accepted: sum('answers.accepted'),
  };
}

/** Calls to other addresses show no more than that the network works. */
function historyOf({ byPath, minutesOfHour }: WebhookAnswers) {
  const accepted = WEBHOOK_PATHS.flatMap((path) => (path === 'other' ? [] : (byPath[path].acceptedAtMs ?? [])));
  return { lastAcceptedAtMs: accepted.length === 0 ? null : Math.max(...accepted), minutesOfHour };
}
