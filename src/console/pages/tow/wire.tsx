import { OPERATIONS } from '../../../contracts/operations';
import type { Report } from '../../../contracts/records';
import { maskedBody, maskedJson, maskedWords } from '../../mask';
import type { TowModel } from './model';

/** A report as it goes over the wire, and what came back: without the token, and without personal data. */
export function Wire({ model, report }: { model: TowModel; report: Report }) {
  const words = model.viewer.words.towReports;
  return (
    <div class="wire">
      <p class="muted">{words.maskedHint}</p>
      <h4>{words.request}</h4>
      <pre tabindex={0} aria-label={words.request}>
        {requestOf(report, model.personal)}
      </pre>
      <h4>{words.answer}</h4>
      {report.brokenAnswer !== null && <p>{words.brokenAnswer}</p>}
      {report.log.length === 0 ? (
        <p class="muted">{words.noAnswer}</p>
      ) : (
        <pre tabindex={0} aria-label={words.answer}>
          {answerOf(model, report)}
        </pre>
      )}
    </div>
  );
}

/** The references stand in the body, the base address with its prefix is configuration. */
function requestOf({ kind, body }: Report, personal: readonly string[]): string {
  const { method, path } = OPERATIONS[kind];
  const head = [`${method} {base_url}${path}`, 'Authorization: Bearer •••', 'Content-Type: application/json'];
  return `${head.join('\n')}\n\n${maskedJson(body, personal)}`;
}

function answerOf({ viewer, personal }: TowModel, { log, answer, brokenAnswer, lastError }: Report): string {
  const last = log.at(-1);
  const { http_status: status = null, message = lastError?.message ?? null } = last ?? {};
  const head = status === null ? viewer.words.attempts.noStatus : `HTTP ${status}`;
  const said = message === null || message === 'accepted' ? [] : [maskedWords(message, personal)];
  const body = brokenAnswer === null ? answer && maskedJson(answer, personal) : maskedBody(brokenAnswer, personal);
  return [head, ...said, ...(body === null ? [] : ['', body])].join('\n');
}
