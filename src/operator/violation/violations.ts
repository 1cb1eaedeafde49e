import { ROUTES } from '../../contracts/operator-routes';
import { replaceImages, decideViolation } from '../../workflow/outbox/decide';
import { addKnownViolations } from '../../workflow/violation/known-violations';
import { newViolation, reportViolation } from '../../workflow/violation/report-violation';
import type { StoredViolation } from '../../domain/outbox/outbox-record';
import { isSettled } from '../../domain/outbox/outbox';
import { entryOf } from '../../domain/violation/stored-violation';
import { violationViewOf } from '../../workflow/tow/views';
import type { ApiServer } from '../api-server';
import type { OperatorTools } from '../tools';
import type { ViolationCommand } from '../../domain/violation/decide-violation';
import { linkViolation } from '../../workflow/violation/link-violation';
import type { Change } from '../idempotency';
import type { PathCall } from '../check-call';

/** Violations: report one by a form, list and read them. */
export function serveViolations(server: ApiServer, tools: OperatorTools): void {
  const { violations, spool } = tools;
  const reporting = { ...tools, api: tools.violationApi };
  server.form(ROUTES.reportViolation, ({ actor, body }, { images, upload }) => {
    const violation = newViolation({ form: body, images, actor }, reporting);
    return { effect: (idempotency) => reportViolation(tools, { violation, upload, actor, idempotency }) };
  });
  server.change(ROUTES.addKnownViolations, ({ actor, body: { violations: known } }) => ({
    effect: (idempotency) => addKnownViolations(reporting, { violations: known, actor, idempotency }),
  }));
  server.form(ROUTES.replaceViolationImages, ({ params, actor, body }, { images, upload }) => {
    const command = { action: 'correct', fields: body, images } as const;
    const request = { id: params('violation_id'), command, upload, actor };
    return { effect: (idempotency) => replaceImages(tools, { ...request, idempotency }) };
  });
  server.list(ROUTES.listViolations, async ({ query }) => {
    const page = await violations.list({
      state: query.state ?? null,
      search: query.q ?? null,
      cursor: query.cursor ?? null,
      limit: query.limit,
    });
    return { items: page.items.map(violationViewOf), next_cursor: page.nextCursor };
  });
  server.read(ROUTES.readViolation, async ({ params }) => {
    const record = await violations.read(params('violation_id'));
    return record && { ...violationViewOf(record), images_on_disk: await imagesOnDisk(record, spool) };
  });
  server.image(ROUTES.readViolationImage, async ({ params }) => {
    const record = await violations.read(params('violation_id'));
    const image = record?.violation.images[indexOf(params('image_number'))];
    if (!record || !image) return null;
    const source = await spool.sourceOf({ kind: 'violation', id: record.violation.id }, image);
    return source === null ? null : { ...image, source };
  });
  serveDecisions(server, tools);
}

/** None once it is settled, because then they leave the disk. A disk that does not tell counts as one without them. */
async function imagesOnDisk(record: StoredViolation, spool: OperatorTools['spool']): Promise<number[]> {
  if (isSettled(entryOf(record).state)) return [];
  const { id, images } = record.violation;
  const places = await Promise.all(
    images.map((image) => spool.pathOf({ kind: 'violation', id }, image).catch(() => null)),
  );
  return places.flatMap((place, index) => (place === null ? [] : [index + 1]));
}

/** The index of an image number, which counts from 1; -1 when it is not a number. */
function indexOf(imageNumber: string): number {
  return /^[1-9]\d{0,3}$/.test(imageNumber) ? Number(imageNumber) - 1 : -1;
}

/** Decisions about violations, and the links from tows to violations. */
function serveDecisions(server: ApiServer, tools: OperatorTools): void {
  const decision = (call: PathCall, command: ViolationCommand): Change => {
    const id = call.params('violation_id');
    return { effect: (idempotency) => decideViolation(tools, { id, command, actor: call.actor, idempotency }) };
  };
  server.change(ROUTES.retryViolation, (call) => decision(call, { action: 'retry' }));
  server.change(ROUTES.correctViolation, (call) => decision(call, { action: 'correct', fields: call.body }));
  server.change(ROUTES.waiveViolation, (call) => decision(call, { action: 'waive', reason: call.body.reason }));
  server.change(ROUTES.acceptViolation, (call) =>
    decision(call, {
      action: 'accept',
      reason: call.body.reason,
      reference: call.body.violation_reference_id ?? null,
    }),
  );

  server.change(ROUTES.linkViolation, (call) => {
    const ref = call.params('towing_reference_id');
    return {
      effect: (idempotency) =>
        linkViolation(tools, { ref, violationId: call.body.violation_id, actor: call.actor, idempotency }),
    };
  });
}
