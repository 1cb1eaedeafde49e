import type { z } from 'zod';
import type { FieldRule } from '../domain/refusal';

/** Every failing field of a zod error with the rule it fails; array positions stay in the path (`items.0.name`). */
export function failedRules(error: z.core.$ZodError): FieldRule[] {
  return error.issues.flatMap((issue) => {
    const field = issue.path.map(String).join('.');
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({ field: field === '' ? key : `${field}.${key}`, rule: 'is not a known field' }));
    }
    return [{ field: field === '' ? 'body' : field, rule: ruleOf(issue) }];
  });
}

function ruleOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type') {
    return issue.input === undefined && issue.message.endsWith('received undefined')
      ? `is required (${issue.expected})`
      : `must be of type ${issue.expected}`;
  }
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.map(String).join(', ')}`;
  return issue.message;
}
