import type { AuditView } from '../../../contracts/audit';
import { Field } from '../../parts/form';
import { Empty, Moment, Written } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { actionText, Details, Subject } from './audit-words';
import { OpsPaging } from './paging';
import { Table } from './table';
import { Tabs } from './tabs';

interface AuditProps {
  readonly viewer: Viewer;
  readonly entries: readonly AuditView[];
  /** Empty: of whatever. */
  readonly tow: string;
  readonly cursor: string | null;
  readonly nextCursor: string | null;
}

/** Who did what, to what, when and why. */
export function AuditPage(props: AuditProps) {
  const { viewer, entries, tow, cursor, nextCursor } = props;
  const words = viewer.words.audit;
  return (
    <>
      <h1>{words.title}</h1>
      <Tabs viewer={viewer} here="/ops/audit" />
      <p>{words.intro}</p>
      <Filter viewer={viewer} tow={tow} />
      {entries.length === 0 ? (
        <Nothing viewer={viewer} isOfTow={tow !== ''} />
      ) : (
        <Entries viewer={viewer} entries={entries} />
      )}
      <OpsPaging
        viewer={viewer}
        path="/ops/audit"
        label={words.pages}
        query={tow === '' ? {} : { tow }}
        cursor={cursor}
        nextCursor={nextCursor}
      />
      <HowToVerify viewer={viewer} />
    </>
  );
}

function Filter({ viewer, tow }: Pick<AuditProps, 'viewer' | 'tow'>) {
  const { audit: words, common } = viewer.words;
  return (
    <search>
      <form method="get" action="/ops/audit" class="audit-filter">
        <Field
          viewer={viewer}
          form="audit"
          name="tow"
          label={words.filter}
          hint={words.filterHint}
          value={tow}
          type="search"
          maxLength={200}
          isLatin
          isRequired
        />
        <div class="row">
          <button>{common.show}</button>
          {tow !== '' && <a href="/ops/audit">{words.clear}</a>}
        </div>
      </form>
    </search>
  );
}

function Nothing({ viewer, isOfTow }: { viewer: Viewer; isOfTow: boolean }) {
  const words = viewer.words.audit;
  return isOfTow ? <Empty title={words.noneOfTow} hint={words.noneOfTowHint} /> : <Empty title={words.none} />;
}

function Entries({ viewer, entries }: Pick<AuditProps, 'viewer' | 'entries'>) {
  const words = viewer.words.audit;
  const { heads } = words;
  return (
    <Table
      caption={words.table}
      heads={[heads.at, heads.by, heads.action, heads.on, heads.why]}
      rows={entries.map((entry) => ({
        id: `entry-${entry.seq}`,
        cells: [
          <Moment viewer={viewer} at={entry.at} />,
          <>
            <Written>{entry.by}</Written> <span class="muted">({viewer.words.terms.roles[entry.role]})</span>
          </>,
          <>
            {actionText(viewer, entry.action)}
            <Details viewer={viewer} what={entry.what} />
          </>,
          <Subject viewer={viewer} on={entry.on} />,
          entry.why === null ? <span class="muted">{words.noWhy}</span> : <Written>{entry.why}</Written>,
        ],
      }))}
    />
  );
}

function HowToVerify({ viewer }: { viewer: Viewer }) {
  const words = viewer.words.audit;
  return (
    <details class="card verify">
      <summary>{words.verify}</summary>
      <p>{words.verifyHow}</p>
      <pre tabindex={0}>npm run audit -- verify</pre>
      <p>{words.verifyThen}</p>
      <pre tabindex={0}>{'npm run audit -- verify <seq>:<hash>'}</pre>
    </details>
  );
}
