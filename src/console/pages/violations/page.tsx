import { elsewhere, missing, page, part, type Failure, type Shown } from '../../answers';
import type { Pages, Visit } from '../../serve';
import type { PageTools } from '../../tools';
import { Problem } from '../../parts/problem';
import { Decide, DECISIONS } from './decide';
import { Head } from './head';
import { Images } from './images';
import { isSettled, readModel, type ViolationModel } from './model';
import { Attempts, Service, Ticket, Tows, Warnings } from './outcome';
import { Reported } from './reported';
import { violationPath } from './rows';
import { takeDecisions } from './take-decisions';

/** The page, with what was refused. */
export type ShowViolation = (visit: Visit, failure?: Failure | null) => Promise<Shown>;

/** The page of one violation, and everything that can be decided there. */
export function serveViolation(pages: Pages, tools: PageTools): void {
  const show: ShowViolation = async (visit, failure = null) => {
    const model = await readModel(tools, visit, failure);
    if (!model) return missing;
    const content = <Violation model={model} />;
    if (visit.wantsPart) return part(content);
    const { record, view, viewer } = model;
    return page(viewer.words.violations.pageTitle(record.reference ?? view.id), content, {
      httpStatus: failure?.refusal.httpStatus ?? 200,
      assets: ['countdown.js', 'tow.js'],
    });
  };
  pages.get('/violations/:id', 'viewer', (visit) => show(visit));
  takeDecisions(pages, { ...tools, show });
  // After a refusal the address is that of the form: whoever opens it again means the violation.
  pages.get('/violations/:id/*form', 'viewer', async (visit) => elsewhere(violationPath(visit.params('id'))));
}

function Violation({ model }: { model: ViolationModel }) {
  const { viewer, view, path } = model;
  const { violations: words, terms } = viewer.words;
  return (
    <div
      id="violation"
      class="tow violation"
      data-watch={`violation:${view.id}`}
      hx-get={path}
      hx-trigger="changed"
      hx-swap="morph:outerHTML"
    >
      <Head model={model} />
      {/* One that was refused, because the answer came meanwhile, still says why. */}
      {isSettled(model) && DECISIONS.map((each) => <Problem viewer={viewer} failure={model.failure} form={each} />)}
      <div class="columns">
        <div class="stack">
          {!isSettled(model) && viewer.may('dispatcher') && <Decide model={model} />}
          <Reported model={model} />
          <Images model={model} />
          <Attempts model={model} />
        </div>
        <div class="stack">
          <Warnings model={model} />
          <Service model={model} />
          <Tows model={model} />
          <Ticket model={model} />
          {!isSettled(model) && !viewer.may('dispatcher') && (
            <p class="muted">{words.mayNot(terms.roles.dispatcher)}</p>
          )}
        </div>
      </div>
    </div>
  );
}
