import { ROUTES } from '../contracts/operator-routes';
import type { ViolationApi } from '../domain/vocabulary';
import type { Clock } from '../platform/clock';
import { newViolation, reportViolation, type ReportTools } from '../workflow/report-violation';
import type { Spool } from '../workflow/spool-port';
import type { ViolationStore } from '../workflow/violation-port';
import { violationViewOf } from '../workflow/violation-view';
import type { Server } from './serve';

export interface ViolationTools extends ReportTools {
  readonly violations: ViolationStore;
  readonly spool: Pick<Spool, 'pathOf'>;
  readonly api: ViolationApi;
  readonly clock: Clock;
}

/** Violations: reported as a form, and looked at. */
export function serveViolations(server: Server, tools: ViolationTools): void {
  const { violations, spool } = tools;
  server.takeForm(ROUTES.reportViolation, ({ actor, body }, { images, upload }) => {
    const violation = newViolation({ form: body, images, actor }, tools);
    return { effect: (remember) => reportViolation(tools, { violation, upload, actor, remember }) };
  });
  server.read(ROUTES.listViolations, async ({ query }) => {
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
    return record && violationViewOf(record);
  });
  server.giveImage(ROUTES.readViolationImage, async ({ params }) => {
    const record = await violations.read(params('violation_id'));
    const image = record?.violation.images[indexOf(params('image_number'))];
    if (!record || !image) return null;
    const path = await spool.pathOf({ kind: 'violation', id: record.violation.id }, image);
    return path === null ? null : { ...image, path };
  });
}

/** Images are counted from 1; what is no such number names none. */
function indexOf(imageNumber: string): number {
  return /^[1-9]\d{0,3}$/.test(imageNumber) ? Number(imageNumber) - 1 : -1;
}
