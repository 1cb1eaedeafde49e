import type { CallWaiting } from '../../../domain/waiting';
import type { TowRecord } from '../../../contracts/records';
import type { TowRules } from '../../../domain/fact-command';
import { LastWords, waitingOfTow } from '../../parts/why';
import type { Viewer } from '../../viewer';

/** What a tow waits for in a few words; the page of the tow has the whole sentence. Nothing of one that is over. */
export function Waits({ viewer, record, rules }: { viewer: Viewer; record: TowRecord; rules: TowRules }) {
  const { terms, board } = viewer.words;
  const { waits } = board;
  const waiting = waitingOfTow(record, rules);
  if (waiting.kind === 'over') return null;
  if (waiting.kind === 'people') {
    const facts = waiting.facts.map((fact) => terms.facts[fact]);
    const next = facts.length > 0 ? waits.next(facts) : waits.tasksOnly;
    return <p class="waits">{[...waiting.blockers.map((blocker) => waits.blockers[blocker]), next].join(' · ')}</p>;
  }
  const because = waiting.kind === 'decision' || waiting.kind === 'next_try' ? waiting.because : null;
  return (
    <p class={waiting.kind === 'decision' ? 'waits decide' : 'waits'}>
      {wordsOf(viewer, waiting, terms.facts[waiting.reportKind])}
      {because !== null && (
        <>
          {' · '}
          <LastWords error={{ ...because, message: shortened(because.message) }} />
        </>
      )}
    </p>
  );
}

function wordsOf({ words }: Viewer, waiting: CallWaiting, report: string): string {
  const { waits } = words.board;
  switch (waiting.kind) {
    case 'on_its_way':
      return waits.sending(report);
    case 'turn':
      return waits.turn(report);
    case 'next_try':
      return waiting.attempts === 0 ? waits.first(report) : waits.again(report);
    case 'proof':
      return waits.proof(report);
    case 'gate':
      // An operation that is paused and holds a report is of the report's own kind.
      return waiting.gate.kind === 'paused' ? waits.paused(report) : waits[waiting.gate.kind];
    case 'decision':
      return waits[waiting.why](report);
  }
}

/** The service may say a lot; two lines of it are shown here. */
const WORDS_MAX = 120;

function shortened(words: string): string {
  return words.length > WORDS_MAX ? `${words.slice(0, WORDS_MAX)}…` : words;
}
