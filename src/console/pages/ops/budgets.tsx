import type { SendingView } from '../../../contracts/operator';
import type { Viewer } from '../../viewer';

/** Above this share of its limit a budget is shown as nearly used up. */
const HIGH = 0.8;

/** How many of the calls that are allowed per minute were made, and how many wait for a place. */
export function Budgets({ viewer, budgets }: { viewer: Viewer; budgets: SendingView['budgets'] }) {
  const words = viewer.words.ops.sending;
  const { formats } = viewer;
  return (
    <>
      <h3>{words.budgets}</h3>
      <ul class="budgets">
        {budgets.map(({ name, per_minute: limit, used, waiting }) => (
          <li>
            <span id={`budget-${name}`}>{words.budgetNames[name]}</span>
            {limit > 0 ? (
              <meter
                min={0}
                max={limit}
                high={limit * HIGH}
                value={Math.min(used, limit)}
                aria-labelledby={`budget-${name}`}
              />
            ) : (
              <span />
            )}
            <span class="muted">
              {limit > 0
                ? words.used(formats.number(used), formats.number(limit))
                : words.unlimited(formats.number(used))}
              {waiting > 0 && ` · ${words.waiting(formats.number(waiting))}`}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}
