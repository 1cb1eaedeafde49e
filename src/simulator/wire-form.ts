import type { ServiceProfile } from './profile';
import type { WireObject } from './world';

type WireValue = WireObject[string];

/** What the forms of values depend on. */
export type WireForm = Pick<
  ServiceProfile,
  'references' | 'amounts' | 'metadata' | 'delay_invoice' | 'extra_fields'
> & {
  /** Names of fields to leave out, at any depth. */
  readonly missing: readonly string[];
};

const AMOUNTS: ReadonlySet<string> = new Set(['total_amount', 'paid_amount', 'tax']);
const REFERENCE = /^(?:\w+_reference_id|id)$/;
/** At most 15 digits, so that the number is exact; no leading zero, so that its text is the same. */
const WHOLE_NUMBER = /^[1-9]\d{0,14}$/;
const EXTRA_FIELDS = { server_node: 'node-2', revision: 7, trace: { span: null, tags: ['a', 'b'] } };

/** Rewrites a message of the document's form in another form. */
export function rewritten(message: WireObject, form: WireForm): WireObject {
  const fields = Object.entries(message).flatMap(([name, value]): [string, WireValue][] => {
    if (form.missing.includes(name)) return [];
    if (name === 'metadata') return metadataField(value, form);
    if (name === 'delay_invoice' && form.delay_invoice !== 'object') {
      return form.delay_invoice === 'null' ? [[name, null]] : [];
    }
    if (isWireObject(value)) return [[name, rewritten(value, form)]];
    return [[name, rewrittenValue(name, value, form)]];
  });
  return { ...Object.fromEntries(fields), ...(form.extra_fields ? EXTRA_FIELDS : {}) };
}

/** The metadata is the operator's: only its id may change its form. */
function metadataField(value: WireValue, form: WireForm): [string, WireValue][] {
  if (form.metadata === 'absent') return [];
  if (form.metadata === 'null' || !isWireObject(value)) return [['metadata', null]];
  const { id, ...others } = value;
  const echoed = id === undefined ? others : { id: rewrittenValue('id', id, form), ...others };
  if (form.metadata === 'list') return [['metadata', [echoed]]];
  return [['metadata', form.metadata === 'json_text' ? JSON.stringify(echoed) : echoed]];
}

function rewrittenValue(name: string, value: WireValue, { references, amounts }: WireForm): WireValue {
  if (references === 'number' && REFERENCE.test(name) && typeof value === 'string' && WHOLE_NUMBER.test(value)) {
    return Number(value);
  }
  return AMOUNTS.has(name) && typeof value === 'number' ? amountIn(amounts, value) : value;
}

function amountIn(form: ServiceProfile['amounts'], value: number): WireValue {
  const digits = { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  switch (form) {
    case 'number':
      return value;
    case 'text':
      return value.toFixed(2);
    case 'text_with_separators':
      return value.toLocaleString('en', digits);
    case 'arabic_digits':
      return value.toLocaleString('ar-SA', digits);
  }
}

function isWireObject(value: WireValue): value is WireObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
