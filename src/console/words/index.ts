import { audit } from './audit';
import { deliveries } from './deliveries';
import { keys } from './keys';
import { ops } from './ops';
import { opsAlarms } from './ops-alarms';
import { opsCharts } from './ops-charts';
import { attempts } from './attempts';
import { board } from './board';
import { bulk } from './bulk';
import { common } from './common';
import { lookups } from './lookups';
import { refusals } from './refusals';
import { signIn } from './sign-in';
import { taskTypes } from './task-types';
import { tasks } from './tasks';
import { terms } from './terms';
import { timeline } from './timeline';
import { tow } from './tow';
import { towDispatch } from './tow-dispatch';
import { towFacts } from './tow-facts';
import { towReports } from './tow-reports';
import { violationForm } from './violation-form';
import { violations } from './violations';
import { why } from './why';

/**
 * Every word of the console, in both languages. Each part of it is a file that says the same things twice: the type of
 * the Arabic half is the English half, so that nothing can be left untranslated.
 */

export const LANGUAGES = ['en', 'ar'] as const;
export type Language = (typeof LANGUAGES)[number];

const PARTS = {
  audit,
  deliveries,
  keys,
  ops,
  opsAlarms,
  opsCharts,
  attempts,
  board,
  bulk,
  common,
  lookups,
  refusals,
  signIn,
  taskTypes,
  tasks,
  terms,
  timeline,
  tow,
  towDispatch,
  towFacts,
  towReports,
  violationForm,
  violations,
  why,
};

type Parts = typeof PARTS;
export type Words = { readonly [Part in keyof Parts]: Parts[Part]['en'] };

/** The words of one language, by part. */
export function wordsOf(language: Language): Words {
  return WORDS[language];
}

const inLanguage = (language: Language): Words => ({
  audit: audit[language],
  deliveries: deliveries[language],
  keys: keys[language],
  ops: ops[language],
  opsAlarms: opsAlarms[language],
  opsCharts: opsCharts[language],
  attempts: attempts[language],
  board: board[language],
  bulk: bulk[language],
  common: common[language],
  lookups: lookups[language],
  refusals: refusals[language],
  signIn: signIn[language],
  taskTypes: taskTypes[language],
  tasks: tasks[language],
  terms: terms[language],
  timeline: timeline[language],
  tow: tow[language],
  towDispatch: towDispatch[language],
  towFacts: towFacts[language],
  towReports: towReports[language],
  violationForm: violationForm[language],
  violations: violations[language],
  why: why[language],
});

const WORDS: Readonly<Record<Language, Words>> = { en: inLanguage('en'), ar: inLanguage('ar') };
