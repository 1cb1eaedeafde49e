import { guideViolationAnswer, violationAnswer } from '../src/contracts/service/service';
import type { StoredViolation } from '../src/domain/outbox/outbox-record';
import { isEchoOfAnother, type Violation } from '../src/domain/violation/violation';
import { isKnownEntry, referenceInBroken, type AcceptedViolation } from '../src/domain/violation/stored-violation';
import { matchEarlierTows, matchTowsByMetadataId, type MatchTools } from '../src/workflow/violation/match-violation';
import {
  brokenIf,
  VIOLATION_OPERATIONS,
  type CallOptions,
  type CallResult,
  type ImageOnDisk,
  type ViolationOperation,
  type ViolationService,
} from '../src/workflow/service/service-port';
import { sentViolationOf } from '../src/workflow/violation/violation-submission';
import { checkTicket, type CheckTicketTools } from './check-ticket';
import type { EntryCalls } from './entry-calls';
import { areImagesGone, imagesOf, type ImageTools } from './violation-images';

export interface ViolationCallTools extends MatchTools, CheckTicketTools, ImageTools {
  readonly service: ViolationService;
}

/** Violations: a form with images, perhaps a ticket check first, and cleanup of tows and images once settled. */
export const violationCalls: EntryCalls<StoredViolation, ViolationCallTools> = {
  async prepare(claimed, tools) {
    const images = await imagesOf(claimed, tools);
    if (images.kind === 'given_back') return images;
    const { violation } = claimed.record;
    return {
      kind: 'ready',
      mayOutlastLease: images.files.length > 0,
      send: async (options) => aboutViolation(violation, await send(violation, images.files, tools.service, options)),
    };
  },
  operation: ({ record }) => VIOLATION_OPERATIONS[record.violation.api],
  acceptedViolationIn: ({ record }, { exchange, data, rawBody }) =>
    exchange.kind === 'contract_broken'
      ? violationInBroken(rawBody ?? '', record.violation)
      : acceptedViolationIn(data),
  logLine: ({ record: { id, violation } }) => ({
    event: 'violation.attempted',
    facts: { violation_id: id, api: violation.api, images: violation.images.length },
  }),
  check: checkTicket,

  /** Tows first, then files. All of it is repeated until everything is done. */
  async cleanUp(record, tools) {
    await matchEarlierTows(tools, record);
    if (record.entries.some(isKnownEntry)) await matchTowsByMetadataId(tools, record.violation);
    // The claim has made it due again for a worker that sees the disk.
    if (!(await areImagesGone(record, tools))) return 'images unseen';
    await tools.outbox.completeCleanup(record);
    return 'finished';
  },
};

/** Sends the form that the operation takes, and the images. */
function send(
  violation: Violation,
  files: readonly ImageOnDisk[],
  service: ViolationService,
  options: CallOptions,
): Promise<CallResult<ViolationOperation>> {
  const { operation, form, metadataText } = sentViolationOf(violation);
  return service.submitViolation(operation, { form, metadataText, images: files }, options);
}

/** An answer that names another violation breaks the contract. */
function aboutViolation(violation: Violation, result: CallResult<ViolationOperation>): CallResult<ViolationOperation> {
  const isAboutAnother = (data: CallResult<ViolationOperation>['data']) =>
    isEchoOfAnother(violation, data?.['metadata']);
  return brokenIf(isAboutAnother, 'data.metadata.id: names another violation', result);
}

/** The violation that an answer of either operation names; null when it names none. */
function acceptedViolationIn(data: unknown): AcceptedViolation | null {
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

function violationInBroken(answer: string, violation: Violation): AcceptedViolation | null {
  const reference = referenceInBroken(answer, violation);
  return reference === null ? null : { reference, serviceStatus: null, canTow: null };
}
