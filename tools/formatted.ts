import { format } from 'oxfmt';
import { printWidth, singleQuote } from '../.oxfmtrc.json';

/** A generated file as `npm run format` would write it. Rejects for text that cannot be parsed. */
export async function formatted(fileName: string, text: string): Promise<string> {
  const { code, errors } = await format(fileName, text, { printWidth, singleQuote });
  const [fault] = errors;
  if (fault !== undefined) throw new Error(`${fileName} cannot be formatted: ${fault.message}`);
  return code;
}
