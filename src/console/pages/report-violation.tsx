import { ROUTES } from '../../contracts/operator-routes';
import {
  page,
  part,
  redirect,
  type FormFailure,
  type PageResult,
  type Pages,
  type PageVisit,
  type PageTools,
  type ImageSettings,
} from '../page';
import type { Actor } from '../../domain/ops/audit';
import type { OperatorApi } from '../../workflow/operator-port';
import { uploadOf, fieldTime } from '../forms';
import { readRoute } from '../api-calls';
import {
  REPORT_FORM,
  REPORT_FORM as FORM,
  VEHICLE_FIELDS,
  ViolationField,
  type FormField,
} from '../parts/violation-fields';
import { PAGES, violationPath } from '../page-table';
import type { Child } from 'hono/jsx';
import { PERSON_FIELDS } from '../../domain/violation/violation';
import type { ViolationApi } from '../../domain/vocabulary';
import { fieldId, PostForm, UsePosition } from '../parts/form';
import { ImageFields, UploadState } from '../parts/image-fields';
import { Problem } from '../parts/problem';
import type { Viewer } from '../viewer';

/** So many violations tell which zones are being patrolled. */
const LATEST = '50';

/** Reporting a violation: the form, and what becomes of it. */
export function serveReportViolation(pages: Pages, tools: PageTools): void {
  const show = async ({ viewer, actor, wantsPart }: PageVisit, failure: FormFailure | null): Promise<PageResult> => {
    const { violationApi: api, images } = tools.settings;
    const props = { viewer, api, zones: await zonesOf(tools.api, actor), images, failure };
    const httpStatus = failure?.refusal.httpStatus ?? 200;
    if (wantsPart) return part(<ReportForm {...props} />, httpStatus);
    return page(viewer.messages.violations.report, <ReportPage {...props} />, {
      httpStatus,
      assets: ['report-violation.js'],
    });
  };

  pages.get(PAGES.reportViolation.path, PAGES.reportViolation.role, (visit) => show(visit, null));

  pages.upload('/violations/new', 'dispatcher', async (visit) => {
    const answer = await tools.api.form(ROUTES.reportViolation, uploadOf(visit));
    if (answer.ok) return redirect(violationPath(answer.value.id), 'reported');
    return show(visit, {
      form: REPORT_FORM,
      refusal: answer.refusal,
      entered: new URLSearchParams({ ...answer.fields }),
    });
  });
}

async function zonesOf(api: OperatorApi, actor: Actor): Promise<string[]> {
  const { items } = await readRoute(api, ROUTES.listViolations, { actor, query: { limit: LATEST } });
  return [...new Set(items.flatMap(({ form }) => form.zoneId ?? []))];
}

interface ReportProps {
  readonly viewer: Viewer;
  readonly api: ViolationApi;
  /** Zones that were reported lately, to choose from. */
  readonly zones: readonly string[];
  readonly images: ImageSettings;
  readonly failure: FormFailure | null;
}

/** The page on which a violation is reported. */
function ReportPage(props: ReportProps) {
  const { viewer, api } = props;
  const messages = viewer.messages.violationForm;
  return (
    <div class="report-page">
      <h1>{viewer.messages.violations.report}</h1>
      <p class="muted">{messages.intro}</p>
      {api === 'guide' && <p class="stale">{messages.guide}</p>}
      <ReportForm {...props} />
    </div>
  );
}

/**
 * The form, after a refusal with the reason and with what was entered. The images come last: of a form that is too large
 * everything else has been read by then.
 */
function ReportForm({ viewer, zones, images, failure }: ReportProps) {
  const { groups } = viewer.messages.violationForm;
  const shown = failure && withPartsAsWholes(failure);
  const field = (name: FormField, value?: string) => (
    <ViolationField
      viewer={viewer}
      form={FORM}
      name={name}
      failure={shown}
      zones={zones}
      {...(value === undefined ? {} : { value })}
    />
  );
  return (
    <div id="report" tabindex={-1}>
      <PostForm viewer={viewer} action="/violations/new" id="report-form" hasFiles>
        <Problem viewer={viewer} failure={failure} form={FORM} />
        <Group title={groups.vehicle}>
          <div class="fields wide">{VEHICLE_FIELDS.map((name) => field(name))}</div>
        </Group>
        <Group title={groups.place}>
          <div class="fields wide">
            {field('date', fieldTimeAt(viewer.nowMs))}
            {field('zoneId')}
          </div>
          <div class="fields" data-position>
            {field('latitude')}
            {field('longitude')}
            <UsePosition viewer={viewer} />
          </div>
          {field('location')}
        </Group>
        <FoldedGroup title={groups.person} failure={shown} names={PERSON_FIELDS}>
          <div class="fields">{PERSON_FIELDS.map((name) => field(name))}</div>
        </FoldedGroup>
        <FoldedGroup title={groups.metadata} failure={shown} names={['metadata']}>
          <MetadataAnchors failure={failure} />
          {field('metadata')}
        </FoldedGroup>
        <Group title={groups.images}>
          {field('imagesDescription')}
          <ImageFields viewer={viewer} form={FORM} images={images} failure={failure} />
        </Group>
        <UploadState viewer={viewer} form={FORM} />
        <p class="form-end">
          <button type="submit" class="main">
            {viewer.messages.violationForm.submit}
          </button>
        </p>
      </PostForm>
    </div>
  );
}

function Group({ title, children }: { title: string; children: Child }) {
  return (
    <fieldset class="card group">
      <legend>
        <h2>{title}</h2>
      </legend>
      {children}
    </fieldset>
  );
}

/** A group of which nothing is required: open once something of it was entered, or is wrong. */
function FoldedGroup(props: {
  title: string;
  failure: FormFailure | null;
  names: readonly FormField[];
  children: Child;
}) {
  const { title, failure, names, children } = props;
  const isWrong = (name: string) => failure?.refusal.details.some(({ field }) => field === name) ?? false;
  const isOpen = names.some((name) => isWrong(name) || (failure?.entered.get(name) ?? '') !== '');
  return (
    <details class="card group" open={isOpen}>
      <summary>
        <h2>{title}</h2>
      </summary>
      {children}
    </details>
  );
}

/** Where a refusal leads that names a part of the metadata, such as `metadata.id`. */
function MetadataAnchors({ failure }: { failure: FormFailure | null }) {
  const parts = failure?.refusal.details.filter(({ field }) => field.startsWith('metadata.')) ?? [];
  return (
    <>
      {parts.map(({ field }) => (
        <span id={fieldId(FORM, field)} />
      ))}
    </>
  );
}

/** The same with parts of fields named by their fields. */
function withPartsAsWholes(failure: FormFailure): FormFailure {
  const details = failure.refusal.details.map(({ field, rule }) => ({ field: field.split('.')[0] ?? field, rule }));
  return { ...failure, refusal: { ...failure.refusal, details } };
}

/**
 * Riyadh time to the minute, with its offset, because the form goes to the API as entered. With scripts a calendar
 * replaces the text field (report-violation.js).
 */
function fieldTimeAt(nowMs: number): string {
  return `${fieldTime(nowMs)}:00+03:00`;
}
