import { z } from 'zod';
import { VARIABLE_GROUPS } from '../src/platform/config/variables';
import { wrapped } from './wrap';

/** Writes docs/configuration.md from the list of environment variables. */

const INTRODUCTION = `# Configuration

Generated from \`src/platform/config/variables.ts\` and the files \`*-variables.ts\` beside it by \`npm run generate\`.
Change the lists there, not this page.

All settings are environment variables. A role reads them once, when it starts, and ignores white space around their
values. Files of webhook secrets and of data keys are read again when they change. An empty value counts as absent. A
value in quotes is refused, since \`docker run --env-file\` keeps them; a secret with quotes of its own is given in a
file. A wrong value stops the start with exit code 2, and the message names the variable and its rule, never the value.
A variable that has no effect, and whose name is nearly one of these or begins like them, is named in a warning of the
log (\`configuration.unknown_variables\`) and by \`towhook doctor\`. One that may be meant as \`SERVICE_MODE\`, by its name
or as \`…MODE=shadow\`, stops the start, since the default sends.
[operations/deployment.md](operations/deployment.md) describes which variables production needs.
`;

/** The text of docs/configuration.md. */
export function configurationPage(): string {
  const sections = Object.entries(VARIABLE_GROUPS).map(([title, group]) => {
    const files = Object.entries(group).flatMap(([name, { description }]) =>
      description === fileDescription(name) ? [name] : [],
    );
    const variables = Object.entries(group)
      .filter(([name]) => !files.includes(name))
      .map(([name, schema]) => entry(name, schema, files.includes(`${name}_FILE`)));
    return `## ${title}\n\n${variables.join('\n')}\n`;
  });
  return [INTRODUCTION, ...sections].join('\n');
}

/** Of a variable that names a file with the value of another one. */
function fileDescription(name: string): string {
  return `File with \`${name.replace(/_FILE$/, '')}\`, instead of the variable.`;
}

function entry(name: string, schema: z.ZodType, hasFile: boolean): string {
  const facts = [ruleText(schema), defaultText(schema)].filter((fact) => fact !== null);
  const head = facts.length === 0 ? `\`${name}\`:` : `\`${name}\` (${facts.join(', ')}):`;
  const file = hasFile ? ` \`${name}_FILE\`: a file with it, instead.` : '';
  return wrapped(`- ${head} ${schema.description ?? ''}${file}`, '  ');
}

const valueRule = z.looseObject({
  type: z.string().optional(),
  enum: z.array(z.string()).optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  default: z.union([z.string(), z.number()]).optional(),
});

/** The rule of the text in the environment, as a JSON schema. */
function ruleOf(schema: z.ZodType): z.output<typeof valueRule> {
  return valueRule.parse(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }));
}

/** Null for any text. */
function ruleText(schema: z.ZodType): string | null {
  const { type, enum: values, minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = ruleOf(schema);
  if (values !== undefined) return values.map((value) => `\`${value}\``).join(' | ');
  if (type !== 'integer' && type !== 'number') return null;
  const kind = type === 'integer' ? 'whole number' : 'number';
  return maximum === Number.MAX_SAFE_INTEGER ? `${kind} from ${minimum}` : `${kind} from ${minimum} to ${maximum}`;
}

/** Null for a variable without a default, or with an empty one. */
function defaultText(schema: z.ZodType): string | null {
  const value = ruleOf(schema).default ?? defaultList(schema);
  return value === undefined || value === '' ? null : `default \`${value}\``;
}

/** The default of a comma list, which a JSON schema of the text does not have. Undefined for any other variable. */
function defaultList(schema: z.ZodType): string | undefined {
  const { data } = z.array(z.string()).safeParse(schema.safeParse(undefined).data);
  return data?.join(',');
}
