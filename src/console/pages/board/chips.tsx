import type { Child } from 'hono/jsx';
import { TOW_STATES } from '../../../domain/vocabulary';
import type { TowCounts } from '../../../contracts/operator';
import { Chip } from '../../parts/list';
import { UserText } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { addressOf, isNarrowed, OPEN_STATES, withChanges, withState, type BoardQuery } from './model';

interface ChipsProps {
  readonly viewer: Viewer;
  readonly query: BoardQuery;
  readonly counts: TowCounts;
}

/** The filters of the board as links, with the counts of all tows. Folded away on a phone. */
export function Chips({ viewer, query, counts }: ChipsProps) {
  const messages = viewer.messages.board;
  const { formats } = viewer;
  const { terms } = viewer.messages;
  const { states } = query;
  const sum = (names: readonly (typeof TOW_STATES)[number][]) =>
    names.reduce((total, state) => total + counts.by_state[state], 0);
  const flags = ['attention', 'unsent', 'overdue'] as const;
  return (
    <nav aria-label={viewer.messages.common.filters}>
      <details class="fold board-filters" id="board-filters">
        <summary class={isNarrowed(query) ? 'chip narrowed' : 'chip'}>{viewer.messages.common.filters}</summary>
        <div class="board-chips">
          <Group label={messages.states}>
            <Chip
              to={addressOf({ ...query, states: 'open' })}
              isOn={states === 'open'}
              count={formats.number(sum(OPEN_STATES))}
            >
              {messages.open}
            </Chip>
            {TOW_STATES.map((state) => (
              <Chip
                to={addressOf(withState(query, state))}
                isOn={typeof states !== 'string' && states.includes(state)}
                count={formats.number(counts.by_state[state])}
              >
                {terms.towStates[state]}
              </Chip>
            ))}
            <Chip
              to={addressOf({ ...query, states: 'all' })}
              isOn={states === 'all'}
              count={formats.number(sum(TOW_STATES))}
            >
              {viewer.messages.common.all}
            </Chip>
          </Group>
          <div class="chip-line">
            <Group label={messages.needs}>
              {flags.map((flag) => (
                <Chip
                  to={addressOf(withChanges(query, { [flag]: !query[flag] }))}
                  isOn={query[flag]}
                  count={formats.number(counts[flag])}
                  isAlarm={flag !== 'unsent' && counts[flag] > 0}
                >
                  {messages[flag]}
                </Chip>
              ))}
            </Group>
            <Group label={messages.crews}>
              <CrewChips viewer={viewer} query={query} counts={counts} />
            </Group>
            {isNarrowed(query) && (
              <a class="quiet" href={addressOf({ ...EVERYTHING_USUAL, order: query.order })}>
                {viewer.messages.common.clear}
              </a>
            )}
          </div>
        </div>
      </details>
    </nav>
  );
}

const EVERYTHING_USUAL: BoardQuery = {
  states: 'open',
  attention: false,
  unsent: false,
  overdue: false,
  crew: null,
  search: null,
  order: null,
  cursor: null,
};

function CrewChips({ viewer, query, counts: { crews } }: ChipsProps) {
  const messages = viewer.messages.board;
  const { crew } = query;
  const toCrew = (name: string) => addressOf({ ...query, crew: crew === name ? null : name });
  const own = viewer.actor !== null && crews.includes(viewer.actor.name) ? viewer.actor.name : null;
  const isOther = crew !== null && crew !== '' && crew !== own;
  return (
    <>
      {own !== null && (
        <Chip to={toCrew(own)} isOn={crew === own}>
          {messages.mine}
        </Chip>
      )}
      <Chip to={toCrew('')} isOn={crew === ''}>
        {messages.unassigned}
      </Chip>
      {isOther && (
        <Chip to={addressOf({ ...query, crew: null })} isOn>
          {viewer.messages.terms.crew}: <UserText>{crew}</UserText>
        </Chip>
      )}
      <li>
        <details class="menu" id="board-crews">
          <summary class="chip">
            {viewer.messages.terms.crew} <span aria-hidden="true">▾</span>
          </summary>
          <div class="menu-body crew-menu">
            {crews.length === 0 && <p class="muted">{messages.noCrews}</p>}
            {crews.map((name) => (
              <a
                class="quiet"
                href={addressOf({ ...query, crew: name })}
                aria-current={name === crew ? 'true' : undefined}
              >
                <UserText>{name}</UserText>
              </a>
            ))}
          </div>
        </details>
      </li>
    </>
  );
}

function Group({ label, children }: { label: string; children: Child }) {
  return (
    <ul class="chips" aria-label={label}>
      {children}
    </ul>
  );
}
