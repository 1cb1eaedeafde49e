import type { z } from 'zod';
import type { FieldRule } from '../domain/refusal';

/** Lists every failing field of a zod error with its rule; array positions stay in the path (`items.0.name`). */
export function failedRules(error: z.core.$ZodError): FieldRule[] {
  return error.issues.flatMap((issue) => {
    const field = issue.path.map(String).join('.');
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({ field: field === '' ? key : `${field}.${key}`, rule: 'is not a known field' }));
    }
    return [{ field: field === '' ? 'body' : field, rule: ruleOf(issue) }];
  });
}

/** The validator's type names in plain words. */
const TYPE_WORDS: Readonly<Record<string, string>> = {
  int: 'a whole number',
  record: 'an object',
  object: 'an object',
  array: 'a list',
};

const UNITS: Readonly<Record<string, string>> = { string: ' characters', array: ' items' };

function ruleOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_type' && issue.message.startsWith('Invalid input')) {
    return issue.input === undefined && issue.message.endsWith('received undefined')
      ? `is required (${issue.expected})`
      : `must be ${TYPE_WORDS[issue.expected] ?? `of type ${issue.expected}`}`;
  }
  if (issue.code === 'too_small' && issue.message.startsWith('Too small')) {
    return `must be at least ${issue.minimum}${UNITS[issue.origin] ?? ''}`;
  }
  if (issue.code === 'too_big' && issue.message.startsWith('Too big')) {
    return `must be at most ${issue.maximum}${UNITS[issue.origin] ?? ''}`;
  }
  if (issue.code === 'invalid_key') return issue.issues.map(ruleOf).join(', ');
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.map(String).join(', ')}`;
  return issue.message;
}
