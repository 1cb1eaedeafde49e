import type { TowView } from '../../../contracts/operator';
import { halalas } from '../../../domain/invoice';
import type { Json, JsonObject } from '../../../domain/vocabulary';
import { Moment, Ref } from '../../parts/text';
import type { Viewer } from '../../viewer';

/** An invoice as it was told at one time. */
export type Version = TowView['invoices'][number];

/** Both charges side by side, as told at one time. */
export function VersionTable({ viewer, version }: { viewer: Viewer; version: Version }) {
  const words = viewer.words.tow.invoice;
  const { towing_invoice: towing, delay_invoice: delay } = version;
  const amounts = [
    [words.tax, 'tax'],
    [words.total, 'total_amount'],
    [words.paid, 'paid_amount'],
  ] as const;
  const names = [
    [words.number, 'invoice_number'],
    [words.vat, 'vat_number'],
  ] as const;
  return (
    <div class="scroll" tabindex={0} role="group" aria-label={words.sources[version.source]}>
      <table class="charges">
        <caption>
          {words.sources[version.source]} · <Moment viewer={viewer} at={version.received_at} />
        </caption>
        <thead>
          <tr>
            <th scope="col">{words.charge}</th>
            <th scope="col">{words.towing}</th>
            <th scope="col">{words.delay}</th>
            <th scope="col">{words.sum}</th>
          </tr>
        </thead>
        <tbody>
          {names
            .filter(([, name]) => towing[name] !== undefined || delay?.[name] !== undefined)
            .map(([label, name]) => (
              <tr>
                <th scope="row">{label}</th>
                <td>{textIn(towing, name)}</td>
                <td>{textIn(delay, name)}</td>
                <td />
              </tr>
            ))}
          {amounts.map(([label, name]) => (
            <tr>
              <th scope="row">{label}</th>
              <td class="number">{moneyIn(viewer, towing[name])}</td>
              <td class="number">{moneyIn(viewer, delay?.[name])}</td>
              <td class="number">{sumOf(viewer, towing[name], delay?.[name])}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function textIn(charge: JsonObject | null, name: string) {
  const value = charge?.[name];
  return typeof value === 'string' || typeof value === 'number' ? <Ref>{String(value)}</Ref> : '–';
}

/** An amount as it was told, where it is none that can be read. */
function moneyIn(viewer: Viewer, amount: Json | undefined): string {
  const value = halalas(amount);
  if (value !== null) return viewer.formats.money(value / 100);
  return typeof amount === 'string' ? amount : '–';
}

/** A charge that is not there adds nothing; one that cannot be read leaves no sum. */
function sumOf(viewer: Viewer, ...amounts: readonly (Json | undefined)[]): string {
  const told = amounts.filter((amount) => amount !== undefined && amount !== null).map(halalas);
  if (told.length === 0 || told.includes(null)) return '–';
  return viewer.formats.money(told.reduce<number>((sum, value) => sum + (value ?? 0), 0) / 100);
}
