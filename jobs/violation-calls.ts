import { guideViolationAnswer, guideViolationForm, violationAnswer, violationForm } from '../src/contracts/service';
import type { StoredViolation } from '../src/domain/outbox-record';
import type { Violation } from '../src/domain/violation';
import type { ServiceName } from '../src/domain/violation-names';
import { violationContractTask, violationRefusedTask } from '../src/domain/violation-tasks';
import { joinTows, type JoinTools } from '../src/workflow/join';
import type {
  CallOptions,
  CallResult,
  ImageOnDisk,
  ViolationOperation,
  ViolationService,
} from '../src/workflow/service-port';
import { checkTicket, type CheckTicketTools } from './check-ticket';
import type { EntryCalls } from './entry-calls';
import { areImagesGone, imagesOf, type ImageTools } from './violation-images';

export interface ViolationTools extends JoinTools, CheckTicketTools, ImageTools {
  readonly service: ViolationService;
  /** How long a tow request may take to prove a violation whose answer was lost. */
  readonly proofMs: number;
}

/** Violations: a form with images, perhaps a ticket check first, and tows and images to look after once they are settled. */
export const violationCalls: EntryCalls<StoredViolation, ViolationTools> = {
  hasToken: ({ service }) => service.hasToken(),
  getToken: ({ service }) => service.getToken(),
  async prepare(claimed, tools) {
    const images = await imagesOf(claimed, tools);
    if (images.kind === 'given_back') return images;
    const { violation } = claimed.record;
    return { kind: 'ready', send: (options) => send(violation, images.files, tools.service, options) };
  },
  // Proof is a tow request that echoes our id; the guide form carries none, so that nothing is waited for.
  proofMs: ({ record }, { proofMs }) => (record.violation.api === 'guide' ? 0 : proofMs),
  nameIn,
  contractTask: ({ id }, httpStatus) => violationContractTask({ id, httpStatus }),
  refusedTask: ({ id }, refusal) => violationRefusedTask({ id, ...refusal }),
  logLine: ({ record: { id, violation } }) => ({
    event: 'violation.attempted',
    facts: { violation_id: id, api: violation.api, images: violation.images.length },
  }),
  check: checkTicket,

  /** First the tows, then the files: while one is left to do, all of it is done again. */
  async finish(record, tools) {
    await joinTows(tools, record);
    // While a person is asked about its answer it may have to be sent again, with its images. Else the claim has made it due
    // again for a worker that sees the disk.
    if (!record.isAnswerQuestioned && !(await areImagesGone(record, tools))) return 'images unseen';
    await tools.outbox.finished(record);
    return 'finished';
  },
};

/** The form as it was taken in; of the guide form only its four fields, and no images (service-api 4.5). */
function send(
  { api, form, metadataText }: Violation,
  images: readonly ImageOnDisk[],
  service: ViolationService,
  options: CallOptions,
): Promise<CallResult<ViolationOperation>> {
  switch (api) {
    case 'reference':
      return service.submitViolation('violation', { form: violationForm.parse(form), metadataText, images }, options);
    case 'guide': {
      const { plateNumber, plateType, zoneId, violationType } = form;
      const guideForm = guideViolationForm.parse({ plateNumber, plateType, zoneId, violationType });
      return service.submitViolation('violation_guide', { form: guideForm, images: [] }, options);
    }
  }
}

/** What the service calls the violation it took, by either creation path; null when it took none or did not say. */
function nameIn({ data }: { readonly data: unknown }): ServiceName | null {
  if (data === null) return null;
  const reference = violationAnswer.safeParse(data);
  if (reference.success) {
    const { violation_reference_id, status } = reference.data;
    return { reference: violation_reference_id, serviceStatus: status, canTow: null };
  }
  const guide = guideViolationAnswer.safeParse(data);
  // Open question Q15: whether the guide form's `id` is the violation_reference_id of webhooks is not documented; we take it for that.
  return guide.success ? { reference: guide.data.id, serviceStatus: null, canTow: guide.data.canTow } : null;
}
